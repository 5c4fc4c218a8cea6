// Local response normalization, dropout and spatial transformers.
#include <cmath>
#include <cstring>

#include "dropin/cudnn/descriptors/descriptors.h"
#include "dropin/cudnn/engine/layers/lrn.h"
#include "dropin/cudnn/engine/random.h"
#include "dropin/cudnn/engine/space.h"

namespace km::cudnn {
namespace {

cudnnStatus_t lrn_settings(cudnnLRNDescriptor_t descriptor, cudnnDataType_t type, const void* alpha,
                           const void* beta, LrnSettings* out) {
  LrnValue value;
  LIB_TRY(Lrns::read(descriptor, &value));
  out->size = static_cast<int64_t>(value.size);
  out->lrn_alpha = value.alpha;
  out->lrn_beta = value.beta;
  out->k = value.k;
  LIB_TRY(take_scalar(type, alpha, &out->alpha));
  return take_scalar(type, beta, &out->beta);
}

/// The memory of a dropout's states: the seed, and the position of the next number.
struct DropoutStates {
  uint64_t seed, position;
};

/// Bits of a mask for a tensor: a byte for each eight elements.
size_t mask_bytes(const Shape& x) { return static_cast<size_t>((x.count() + 7) / 8); }

int64_t offset_of(const Shape& shape, int64_t index) {
  int64_t found = 0;
  for (int d = shape.rank - 1; d >= 0; --d) {
    found += index % shape.dims[d] * shape.strides[d];
    index /= shape.dims[d];
  }
  return found;
}

/// Writes the mask of a forward call, and takes its numbers from the states.
cudnnStatus_t make_mask(cu::CUstream stream, const DropoutValue& dropout, int64_t count,
                        uint8_t* mask, size_t size) {
  Arrays arrays;
  arrays.memory("states", dropout.states, sizeof(DropoutStates), true);
  arrays.memory("reserve space", mask, size, true);
  return submit_step(stream, "cudnnDropoutForward", arrays, 1, static_cast<double>(count) * 5,
                     [=](uint64_t, uint64_t) {
                       DropoutStates states;
                       std::memcpy(&states, dropout.states, sizeof states);
                       for (int64_t i = 0; i < count; i += 8) {
                         uint8_t bits = 0;
                         for (int64_t j = 0; j < 8 && i + j < count; ++j) {
                           const double number =
                               uniform(states.seed, states.position + static_cast<uint64_t>(i + j));
                           if (number >= static_cast<double>(dropout.probability)) {
                             bits = static_cast<uint8_t>(bits | 1U << j);
                           }
                         }
                         mask[i / 8] = bits;
                       }
                       states.position += static_cast<uint64_t>(count);
                       std::memcpy(dropout.states, &states, sizeof states);
                     });
}

/// y = x / (1 - p) where the mask has a bit.
cudnnStatus_t apply_mask(cu::CUstream stream, double probability, const View& x, const View& y,
                         const uint8_t* mask, size_t size) {
  if (!x.has_dims(y)) return invalid("the extents of the tensors differ");
  const double scale = probability < 1 ? 1 / (1 - probability) : 0;
  Arrays arrays;
  arrays.reads("x", x).memory("reserve space", mask, size, false).writes("y", y);
  return submit_step(stream, "cudnn dropout", arrays, x.count(), 5.0,
                     [=](uint64_t piece, uint64_t pieces) {
                       const Part part(x.count(), piece, pieces);
                       for (int64_t i = part.begin; i < part.end; ++i) {
                         const bool stays = (mask[i / 8] >> (i % 8) & 1) != 0;
                         const double value = stays ? scale * read_one(x, offset_of(x, i)) : 0;
                         write_one(y, offset_of(y, i), value);
                       }
                     });
}

cudnnStatus_t set_dropout(cudnnDropoutDescriptor_t descriptor, Handle& h, float probability,
                          void* states, size_t size, uint64_t seed, bool is_restored) {
  if (!(probability >= 0 && probability <= 1)) {
    return invalid("a probability of %g", static_cast<double>(probability));
  }
  if (states != nullptr && size < sizeof(DropoutStates)) {
    return invalid("%zu bytes for states, %zu are needed", size, sizeof(DropoutStates));
  }
  if (states != nullptr && !is_restored) {
    Arrays arrays;
    arrays.memory("states", states, sizeof(DropoutStates), true);
    LIB_TRY(submit_step(h.stream, "cudnnSetDropoutDescriptor", arrays, 1, 10.0,
                        [=](uint64_t, uint64_t) {
                          const DropoutStates first = {seed, 0};
                          std::memcpy(states, &first, sizeof first);
                        }));
  }
  return Dropouts::update(descriptor,
                          [&](DropoutValue& value) { value = {probability, 1, states, seed}; });
}

cudnnStatus_t take_dropout(cudnnDropoutDescriptor_t descriptor, const Shape& x, const void* reserve,
                           size_t size, DropoutValue* out) {
  LIB_TRY(Dropouts::read(descriptor, out));
  if (out->is_set == 0) return invalid("the dropout has not been set");
  if (reserve == nullptr || size < mask_bytes(x)) {
    return invalid("%zu bytes of reserve space, %zu are needed", size, mask_bytes(x));
  }
  return CUDNN_STATUS_SUCCESS;
}

/// The grid of a spatial transformer: N x H x W x 2 coordinates in [-1, 1].
struct Grid {
  cudnnStatus_t take(cudnnSpatialTransformerDescriptor_t descriptor) {
    LIB_TRY(SpatialTransformers::read(descriptor, &value));
    if (value.rank != 4) return invalid("a spatial transformer of %d dimensions", value.rank);
    const int64_t dims[] = {value.dims[0], value.dims[2], value.dims[3], 2};
    shape = dense_shape(value.type, 4, dims);
    const int64_t matrices[] = {value.dims[0], 2, 3};
    theta = dense_shape(value.type, 3, matrices);
    return CUDNN_STATUS_SUCCESS;
  }
  /// The coordinate of position `at` of `count`.
  static double coordinate(int64_t at, int64_t count) {
    return count > 1 ? 2.0 * static_cast<double>(at) / static_cast<double>(count - 1) - 1 : 0;
  }
  SpatialTransformerValue value;
  Shape shape, theta;
};

/// The four elements around a point of an input plane, and their weights.
struct Sample {
  Sample(double gx, double gy, int64_t height, int64_t width)
      : x((gx + 1) * static_cast<double>(width - 1) / 2),
        y((gy + 1) * static_cast<double>(height - 1) / 2) {
    const double left = std::floor(x), top = std::floor(y);
    const double u = x - left, v = y - top;
    for (int i = 0; i < 4; ++i) {
      column[i] = left + i % 2;
      row[i] = top + i / 2;
      weight[i] = (i % 2 != 0 ? u : 1 - u) * (i / 2 != 0 ? v : 1 - v);
      dx[i] = (i % 2 != 0 ? 1 : -1) * (i / 2 != 0 ? v : 1 - v) * static_cast<double>(width - 1) / 2;
      dy[i] =
          (i / 2 != 0 ? 1 : -1) * (i % 2 != 0 ? u : 1 - u) * static_cast<double>(height - 1) / 2;
      is_inside[i] = row[i] >= 0 && row[i] < static_cast<double>(height) && column[i] >= 0 &&
                     column[i] < static_cast<double>(width);
    }
  }
  int64_t offset(const Shape& shape, int i) const {
    return static_cast<int64_t>(row[i]) * shape.strides[2] +
           static_cast<int64_t>(column[i]) * shape.strides[3];
  }
  double x, y;
  double row[4], column[4], weight[4], dx[4], dy[4];
  bool is_inside[4];
};

/// Calls `body(i, j, sample)` for each point of an image's grid.
template <class Body>
void each_sample(const View& grid, int64_t image, int64_t height, int64_t width, Body&& body) {
  for (int64_t i = 0; i < grid.dims[1]; ++i) {
    for (int64_t j = 0; j < grid.dims[2]; ++j) {
      const int64_t at = image * grid.strides[0] + i * grid.strides[1] + j * grid.strides[2];
      body(i, j, Sample(read_one(grid, at), read_one(grid, at + 1), height, width));
    }
  }
}

cudnnStatus_t check_sampler(const View& x, const View& y, const View& grid) {
  if (x.rank != 4 || y.rank != 4 || x.dims[0] != y.dims[0] || x.dims[1] != y.dims[1] ||
      y.dims[0] != grid.dims[0] || y.dims[2] != grid.dims[1] || y.dims[3] != grid.dims[2]) {
    return invalid("the extents of a spatial transformer's tensors do not match");
  }
  return CUDNN_STATUS_SUCCESS;
}

void sample(const View& x, const View& y, const View& grid, double alpha, double beta,
            int64_t image) {
  each_sample(grid, image, x.dims[2], x.dims[3], [&](int64_t i, int64_t j, const Sample& at) {
    for (int64_t c = 0; c < x.dims[1]; ++c) {
      double sum = 0;
      for (int k = 0; k < 4; ++k) {
        if (!at.is_inside[k]) continue;
        sum +=
            at.weight[k] * read_one(x, image * x.strides[0] + c * x.strides[1] + at.offset(x, k));
      }
      const int64_t to =
          image * y.strides[0] + c * y.strides[1] + i * y.strides[2] + j * y.strides[3];
      write_one(y, to, alpha * sum + (beta != 0 ? beta * read_one(y, to) : 0));
    }
  });
}

/// The gradients of sample() for one image.
struct SamplerGradient {
  View x, dx, dy, grid, dgrid;
  double alpha, beta, alpha_grid, beta_grid;

  void run(int64_t image) const {
    std::vector<double> sums(static_cast<size_t>(x.dims[1] * x.dims[2] * x.dims[3]));
    each_sample(grid, image, x.dims[2], x.dims[3], [&](int64_t i, int64_t j, const Sample& at) {
      double gx = 0, gy = 0;
      for (int64_t c = 0; c < x.dims[1]; ++c) {
        const double gradient = read_one(
            dy, image * dy.strides[0] + c * dy.strides[1] + i * dy.strides[2] + j * dy.strides[3]);
        for (int k = 0; k < 4; ++k) {
          if (!at.is_inside[k]) continue;
          const double value =
              read_one(x, image * x.strides[0] + c * x.strides[1] + at.offset(x, k));
          gx += gradient * at.dx[k] * value;
          gy += gradient * at.dy[k] * value;
          const int64_t place = (c * x.dims[2] + static_cast<int64_t>(at.row[k])) * x.dims[3] +
                                static_cast<int64_t>(at.column[k]);
          sums[static_cast<size_t>(place)] += gradient * at.weight[k];
        }
      }
      const int64_t to = image * dgrid.strides[0] + i * dgrid.strides[1] + j * dgrid.strides[2];
      put(dgrid, to, alpha_grid, beta_grid, gx);
      put(dgrid, to + 1, alpha_grid, beta_grid, gy);
    });
    Shape plane = dx;
    plane.dims[0] = 1;
    for (int64_t i = 0; i < plane.count(); ++i) {
      put(dx, image * dx.strides[0] + offset_of(plane, i), alpha, beta,
          sums[static_cast<size_t>(i)]);
    }
  }
  static void put(const View& to, int64_t at, double alpha, double beta, double value) {
    write_one(to, at, alpha * value + (beta != 0 ? beta * read_one(to, at) : 0));
  }
};

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreateLRNDescriptor(cudnnLRNDescriptor_t* normDesc) {
  return call([&] { return Lrns::create(normDesc); });
}
cudnnStatus_t cudnnDestroyLRNDescriptor(cudnnLRNDescriptor_t lrnDesc) {
  return call([&] { return Lrns::destroy(lrnDesc); });
}
cudnnStatus_t cudnnSetLRNDescriptor(cudnnLRNDescriptor_t normDesc, unsigned lrnN, double lrnAlpha,
                                    double lrnBeta, double lrnK) {
  return call([&]() -> cudnnStatus_t {
    if (lrnN < 1 || lrnN > 16 || lrnK < 1e-5 || lrnBeta < 0.01) {
      return invalid("a window of %u, beta %g, K %g", lrnN, lrnBeta, lrnK);
    }
    return Lrns::update(normDesc,
                        [&](LrnValue& value) { value = {lrnN, lrnAlpha, lrnBeta, lrnK}; });
  });
}
cudnnStatus_t cudnnGetLRNDescriptor(cudnnLRNDescriptor_t normDesc, unsigned* lrnN, double* lrnAlpha,
                                    double* lrnBeta, double* lrnK) {
  return call([&]() -> cudnnStatus_t {
    LrnValue value;
    LIB_TRY(Lrns::read(normDesc, &value));
    LIB_TRY(give(lrnN, static_cast<unsigned>(value.size)));
    LIB_TRY(give(lrnAlpha, value.alpha));
    LIB_TRY(give(lrnBeta, value.beta));
    return give(lrnK, value.k);
  });
}
cudnnStatus_t cudnnLRNCrossChannelForward(cudnnHandle_t handle, cudnnLRNDescriptor_t normDesc,
                                          cudnnLRNMode_t lrnMode, const void* alpha,
                                          const cudnnTensorDescriptor_t xDesc, const void* x,
                                          const void* beta, const cudnnTensorDescriptor_t yDesc,
                                          void* y) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    View from, to;
    LrnSettings settings;
    if (lrnMode != CUDNN_LRN_CROSS_CHANNEL_DIM1) return invalid("the mode %d", lrnMode);
    LIB_TRY(view_of(xDesc, x, &from));
    LIB_TRY(view_of(yDesc, y, &to));
    LIB_TRY(lrn_settings(normDesc, to.type, alpha, beta, &settings));
    return normalize_locally(h.stream, settings, from, to);
  });
}
cudnnStatus_t cudnnLRNCrossChannelBackward(cudnnHandle_t handle, cudnnLRNDescriptor_t normDesc,
                                           cudnnLRNMode_t lrnMode, const void* alpha,
                                           const cudnnTensorDescriptor_t yDesc, const void* y,
                                           const cudnnTensorDescriptor_t dyDesc, const void* dy,
                                           const cudnnTensorDescriptor_t xDesc, const void* x,
                                           const void* beta, const cudnnTensorDescriptor_t dxDesc,
                                           void* dx) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    View in, out, gradient, to;
    LrnSettings settings;
    if (lrnMode != CUDNN_LRN_CROSS_CHANNEL_DIM1) return invalid("the mode %d", lrnMode);
    LIB_TRY(view_of(xDesc, x, &in));
    LIB_TRY(view_of(yDesc, y, &out));
    LIB_TRY(view_of(dyDesc, dy, &gradient));
    LIB_TRY(view_of(dxDesc, dx, &to));
    LIB_TRY(lrn_settings(normDesc, to.type, alpha, beta, &settings));
    return normalize_locally_backward(h.stream, settings, in, gradient, to);
  });
}
cudnnStatus_t cudnnDivisiveNormalizationForward(cudnnHandle_t handle, cudnnLRNDescriptor_t normDesc,
                                                cudnnDivNormMode_t mode, const void* alpha,
                                                const cudnnTensorDescriptor_t xDesc, const void* x,
                                                const void* means, void*, void*, const void* beta,
                                                const cudnnTensorDescriptor_t yDesc, void* y) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    View from, to;
    LrnSettings settings;
    if (mode != CUDNN_DIVNORM_PRECOMPUTED_MEANS) return invalid("the mode %d", mode);
    LIB_TRY(view_of(xDesc, x, &from));
    LIB_TRY(view_of(yDesc, y, &to));
    LIB_TRY(lrn_settings(normDesc, to.type, alpha, beta, &settings));
    return normalize_by_division(h.stream, settings, from, View(from, means), to);
  });
}

cudnnStatus_t cudnnDivisiveNormalizationBackward(
    cudnnHandle_t handle, cudnnLRNDescriptor_t normDesc, cudnnDivNormMode_t mode, const void* alpha,
    const cudnnTensorDescriptor_t xDesc, const void* x, const void* means, const void* dy, void*,
    void*, const void* beta, const cudnnTensorDescriptor_t dXdMeansDesc, void* dx, void* dMeans) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    DivisionGradient work;
    LrnSettings settings;
    if (mode != CUDNN_DIVNORM_PRECOMPUTED_MEANS) return invalid("the mode %d", mode);
    LIB_TRY(view_of(xDesc, x, &work.x));
    LIB_TRY(view_of(xDesc, dy, &work.dy));
    LIB_TRY(view_of(dXdMeansDesc, dx, &work.dx));
    LIB_TRY(lrn_settings(normDesc, work.dx.type, alpha, beta, &settings));
    work.means = View(work.x, means);
    work.dmeans = View(work.dx, dMeans);
    return normalize_by_division_backward(h.stream, settings, work);
  });
}

cudnnStatus_t cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t* dropoutDesc) {
  return call([&] { return Dropouts::create(dropoutDesc); });
}
cudnnStatus_t cudnnDestroyDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc) {
  return call([&] { return Dropouts::destroy(dropoutDesc); });
}
cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t handle, size_t* sizeInBytes) {
  return call(handle, [&](Handle&) { return give(sizeInBytes, sizeof(DropoutStates)); });
}
cudnnStatus_t cudnnDropoutGetReserveSpaceSize(cudnnTensorDescriptor_t xdesc, size_t* sizeInBytes) {
  return call([&]() -> cudnnStatus_t {
    TensorValue value;
    LIB_TRY(Tensors::read(xdesc, &value));
    return give(sizeInBytes, mask_bytes(value.shape));
  });
}
cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc, cudnnHandle_t handle,
                                        float dropout, void* states, size_t stateSizeInBytes,
                                        unsigned long long seed) {
  return call(handle, [&](Handle& h) {
    return set_dropout(dropoutDesc, h, dropout, states, stateSizeInBytes, seed, false);
  });
}
cudnnStatus_t cudnnRestoreDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc,
                                            cudnnHandle_t handle, float dropout, void* states,
                                            size_t stateSizeInBytes, unsigned long long seed) {
  return call(handle, [&](Handle& h) {
    return set_dropout(dropoutDesc, h, dropout, states, stateSizeInBytes, seed, true);
  });
}
cudnnStatus_t cudnnGetDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc, cudnnHandle_t handle,
                                        float* dropout, void** states, unsigned long long* seed) {
  return call(handle, [&](Handle&) -> cudnnStatus_t {
    DropoutValue value;
    LIB_TRY(Dropouts::read(dropoutDesc, &value));
    LIB_TRY(give(dropout, value.probability));
    LIB_TRY(give(states, value.states));
    return give(seed, static_cast<unsigned long long>(value.seed));
  });
}
cudnnStatus_t cudnnDropoutForward(cudnnHandle_t handle, const cudnnDropoutDescriptor_t dropoutDesc,
                                  const cudnnTensorDescriptor_t xdesc, const void* x,
                                  const cudnnTensorDescriptor_t ydesc, void* y, void* reserveSpace,
                                  size_t reserveSpaceSizeInBytes) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    View from, to;
    DropoutValue value;
    LIB_TRY(view_of(xdesc, x, &from));
    LIB_TRY(view_of(ydesc, y, &to));
    LIB_TRY(take_dropout(dropoutDesc, from, reserveSpace, reserveSpaceSizeInBytes, &value));
    if (value.states == nullptr) return invalid("the dropout has no states");
    auto* const mask = static_cast<uint8_t*>(reserveSpace);
    LIB_TRY(make_mask(h.stream, value, from.count(), mask, mask_bytes(from)));
    return apply_mask(h.stream, static_cast<double>(value.probability), from, to, mask,
                      mask_bytes(from));
  });
}
cudnnStatus_t cudnnDropoutBackward(cudnnHandle_t handle, const cudnnDropoutDescriptor_t dropoutDesc,
                                   const cudnnTensorDescriptor_t dydesc, const void* dy,
                                   const cudnnTensorDescriptor_t dxdesc, void* dx,
                                   void* reserveSpace, size_t reserveSpaceSizeInBytes) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    View from, to;
    DropoutValue value;
    LIB_TRY(view_of(dydesc, dy, &from));
    LIB_TRY(view_of(dxdesc, dx, &to));
    LIB_TRY(take_dropout(dropoutDesc, from, reserveSpace, reserveSpaceSizeInBytes, &value));
    return apply_mask(h.stream, static_cast<double>(value.probability), from, to,
                      static_cast<uint8_t*>(reserveSpace), mask_bytes(from));
  });
}

cudnnStatus_t cudnnCreateSpatialTransformerDescriptor(cudnnSpatialTransformerDescriptor_t* stDesc) {
  return call([&] { return SpatialTransformers::create(stDesc); });
}
cudnnStatus_t cudnnDestroySpatialTransformerDescriptor(cudnnSpatialTransformerDescriptor_t stDesc) {
  return call([&] { return SpatialTransformers::destroy(stDesc); });
}
cudnnStatus_t cudnnSetSpatialTransformerNdDescriptor(cudnnSpatialTransformerDescriptor_t stDesc,
                                                     cudnnSamplerType_t samplerType,
                                                     cudnnDataType_t dataType, const int nbDims,
                                                     const int* dimA) {
  return call([&]() -> cudnnStatus_t {
    if (samplerType != CUDNN_SAMPLER_BILINEAR) return invalid("the sampler %d", samplerType);
    if (nbDims != 4) return unsupported("a spatial transformer of %d dimensions", nbDims);
    SpatialTransformerValue value;
    value.type = dataType;
    value.rank = nbDims;
    LIB_TRY(take(dimA, static_cast<size_t>(nbDims), value.dims, "dimA"));
    for (int i = 0; i < nbDims; ++i) {
      if (value.dims[i] < 1) return invalid("extent %d is %d", i, value.dims[i]);
    }
    if (type_bits(dataType) < 16) return unsupported("data type %d", dataType);
    return SpatialTransformers::update(stDesc, [&](SpatialTransformerValue& to) { to = value; });
  });
}
cudnnStatus_t cudnnSpatialTfGridGeneratorForward(cudnnHandle_t handle,
                                                 const cudnnSpatialTransformerDescriptor_t stDesc,
                                                 const void* theta, void* grid) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    Grid shapes;
    LIB_TRY(shapes.take(stDesc));
    LIB_REQUIRE(theta);
    LIB_REQUIRE(grid);
    const View from(shapes.theta, theta), to(shapes.shape, grid);
    Arrays arrays;
    arrays.reads("theta", from).writes("grid", to);
    return submit_step(h.stream, "cudnnSpatialTfGridGeneratorForward", arrays, to.count() / 2, 50.0,
                       [=](uint64_t piece, uint64_t pieces) {
                         const Part part(to.count() / 2, piece, pieces);
                         for (int64_t i = part.begin; i < part.end; ++i) {
                           const double x = Grid::coordinate(i % to.dims[2], to.dims[2]);
                           const double y =
                               Grid::coordinate(i / to.dims[2] % to.dims[1], to.dims[1]);
                           const int64_t image = i / (to.dims[1] * to.dims[2]);
                           for (int64_t row = 0; row < 2; ++row) {
                             const int64_t at = image * 6 + row * 3;
                             write_one(to, 2 * i + row,
                                       read_one(from, at) * x + read_one(from, at + 1) * y +
                                           read_one(from, at + 2));
                           }
                         }
                       });
  });
}
cudnnStatus_t cudnnSpatialTfGridGeneratorBackward(cudnnHandle_t handle,
                                                  const cudnnSpatialTransformerDescriptor_t stDesc,
                                                  const void* dgrid, void* dtheta) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    Grid shapes;
    LIB_TRY(shapes.take(stDesc));
    LIB_REQUIRE(dgrid);
    LIB_REQUIRE(dtheta);
    const View from(shapes.shape, dgrid), to(shapes.theta, dtheta);
    Arrays arrays;
    arrays.reads("dgrid", from).writes("dtheta", to);
    const int64_t points = from.dims[1] * from.dims[2];
    return submit_step(h.stream, "cudnnSpatialTfGridGeneratorBackward", arrays, to.dims[0] * 2,
                       static_cast<double>(points) * 20, [=](uint64_t piece, uint64_t pieces) {
                         const Part part(to.dims[0] * 2, piece, pieces);
                         for (int64_t i = part.begin; i < part.end; ++i) {
                           double sums[3] = {};
                           for (int64_t p = 0; p < points; ++p) {
                             const double gradient =
                                 read_one(from, (i / 2 * points + p) * 2 + i % 2);
                             sums[0] += gradient * Grid::coordinate(p % from.dims[2], from.dims[2]);
                             sums[1] += gradient * Grid::coordinate(p / from.dims[2], from.dims[1]);
                             sums[2] += gradient;
                           }
                           write_row(to, i * 3, 1, 3, sums);
                         }
                       });
  });
}
cudnnStatus_t cudnnSpatialTfSamplerForward(cudnnHandle_t handle,
                                           cudnnSpatialTransformerDescriptor_t stDesc,
                                           const void* alpha, const cudnnTensorDescriptor_t xDesc,
                                           const void* x, const void* grid, const void* beta,
                                           cudnnTensorDescriptor_t yDesc, void* y) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    Grid shapes;
    View from, to;
    double scale = 1, keep = 0;
    LIB_TRY(shapes.take(stDesc));
    LIB_TRY(view_of(xDesc, x, &from));
    LIB_TRY(view_of(yDesc, y, &to));
    LIB_REQUIRE(grid);
    LIB_TRY(take_scalar(to.type, alpha, &scale));
    LIB_TRY(take_scalar(to.type, beta, &keep));
    const View points(shapes.shape, grid);
    LIB_TRY(check_sampler(from, to, points));
    Arrays arrays;
    arrays.reads("x", from).reads("grid", points).writes("y", to);
    return submit_step(h.stream, "cudnnSpatialTfSamplerForward", arrays, to.dims[0],
                       static_cast<double>(to.strides[0]) * 40,
                       [=](uint64_t piece, uint64_t pieces) {
                         const Part part(to.dims[0], piece, pieces);
                         for (int64_t i = part.begin; i < part.end; ++i) {
                           sample(from, to, points, scale, keep, i);
                         }
                       });
  });
}
cudnnStatus_t cudnnSpatialTfSamplerBackward(cudnnHandle_t handle,
                                            cudnnSpatialTransformerDescriptor_t stDesc,
                                            const void* alpha, const cudnnTensorDescriptor_t xDesc,
                                            const void* x, const void* beta,
                                            const cudnnTensorDescriptor_t dxDesc, void* dx,
                                            const void* alphaDgrid,
                                            const cudnnTensorDescriptor_t dyDesc, const void* dy,
                                            const void* grid, const void* betaDgrid, void* dgrid) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    Grid shapes;
    SamplerGradient work{};
    LIB_TRY(shapes.take(stDesc));
    LIB_TRY(view_of(xDesc, x, &work.x));
    LIB_TRY(view_of(dxDesc, dx, &work.dx));
    LIB_TRY(view_of(dyDesc, dy, &work.dy));
    LIB_REQUIRE(grid);
    LIB_REQUIRE(dgrid);
    LIB_TRY(take_scalar(work.dx.type, alpha, &work.alpha));
    LIB_TRY(take_scalar(work.dx.type, beta, &work.beta));
    LIB_TRY(take_scalar(work.dx.type, alphaDgrid, &work.alpha_grid));
    LIB_TRY(take_scalar(work.dx.type, betaDgrid, &work.beta_grid));
    work.grid = View(shapes.shape, grid);
    work.dgrid = View(shapes.shape, dgrid);
    LIB_TRY(check_sampler(work.x, work.dy, work.grid));
    if (!work.x.has_dims(work.dx)) return invalid("dx has other extents than x");
    Arrays arrays;
    arrays.reads("x", work.x).reads("dy", work.dy).reads("grid", work.grid);
    arrays.writes("dx", work.dx).writes("dgrid", work.dgrid);
    const int64_t images = work.x.dims[0];
    return submit_step(h.stream, "cudnnSpatialTfSamplerBackward", arrays, images,
                       static_cast<double>(work.dy.strides[0]) * 80,
                       [work, images](uint64_t piece, uint64_t pieces) {
                         const Part part(images, piece, pieces);
                         for (int64_t i = part.begin; i < part.end; ++i) work.run(i);
                       });
  });
}

}  // extern "C"
}  // namespace km::cudnn
