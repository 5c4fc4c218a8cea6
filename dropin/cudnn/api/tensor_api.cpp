// Descriptors of tensors, filters and transformations.
#include "dropin/cudnn/descriptors/descriptors.h"
#include "dropin/cudnn/engine/layout/vectors.h"

namespace km::cudnn {
namespace {

cudnnStatus_t set_tensor(cudnnTensorDescriptor_t descriptor, const Shape& shape) {
  return Tensors::update(descriptor, [&](TensorValue& value) { value.shape = shape; });
}
cudnnStatus_t check_type(cudnnDataType_t type) {
  if (type < CUDNN_DATA_FLOAT || type > CUDNN_DATA_FP8_E5M3)
    return invalid("the data type %d", type);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t check_rank(int rank) {
  if (rank < 3 || rank > kMostDims) return unsupported("a tensor of %d dimensions", rank);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t set_laid_out(cudnnTensorDescriptor_t descriptor, cudnnTensorFormat_t format,
                           cudnnDataType_t type, int rank, const int* dims) {
  LIB_TRY(check_type(type));
  Shape shape;
  LIB_TRY(lay_out(format, type, rank, dims, &shape));
  return set_tensor(descriptor, shape);
}
cudnnStatus_t set_strided(cudnnTensorDescriptor_t descriptor, cudnnDataType_t type, int rank,
                          const int* dims, const int* strides) {
  LIB_TRY(check_type(type));
  Shape shape;
  shape.type = type;
  shape.rank = rank;
  for (int i = 0; i < rank; ++i) {
    if (dims[i] < 1 || strides[i] < 0) {
      return invalid("extent %d is %d with the stride %d", i, dims[i], strides[i]);
    }
    shape.dims[i] = dims[i];
    shape.strides[i] = strides[i];
  }
  LIB_TRY(use_vectors(type, &shape));
  return set_tensor(descriptor, shape);
}
cudnnStatus_t get_shape(cudnnTensorDescriptor_t descriptor, Shape* out) {
  TensorValue value;
  LIB_TRY(Tensors::read(descriptor, &value));
  if (value.shape.rank == 0) return invalid("the descriptor has not been set");
  *out = value.shape;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t set_filter(cudnnFilterDescriptor_t descriptor, cudnnDataType_t type,
                         cudnnTensorFormat_t format, int rank, const int* dims) {
  LIB_TRY(check_type(type));
  FilterValue value;
  LIB_TRY(lay_out(format, type, rank, dims, &value.shape));
  value.format = format;
  return Filters::update(descriptor, [&](FilterValue& to) { to = value; });
}
cudnnStatus_t get_filter(cudnnFilterDescriptor_t descriptor, FilterValue* out) {
  LIB_TRY(Filters::read(descriptor, out));
  if (out->shape.rank == 0) return invalid("the descriptor has not been set");
  return CUDNN_STATUS_SUCCESS;
}
/// The distance between elements of a dimension: vectors are elements.
int stride_of(const Shape& shape, int i) {
  return static_cast<int>(shape.strides[i] / shape.vector);
}
void narrow(const Extents& values, int count, int* out) {
  for (int i = 0; i < count; ++i) out[i] = static_cast<int>(values[i]);
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* tensorDesc) {
  return call([&] { return Tensors::create(tensorDesc); });
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensorDesc) {
  return call([&] { return Tensors::destroy(tensorDesc); });
}
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensorDesc,
                                         cudnnTensorFormat_t format, cudnnDataType_t dataType,
                                         int n, int c, int h, int w) {
  const int dims[] = {n, c, h, w};
  return call([&] { return set_laid_out(tensorDesc, format, dataType, 4, dims); });
}
cudnnStatus_t cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t tensorDesc,
                                           cudnnDataType_t dataType, int n, int c, int h, int w,
                                           int nStride, int cStride, int hStride, int wStride) {
  const int dims[] = {n, c, h, w}, strides[] = {nStride, cStride, hStride, wStride};
  return call([&] { return set_strided(tensorDesc, dataType, 4, dims, strides); });
}
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensorDesc,
                                         cudnnDataType_t dataType, int nbDims, const int* dimA,
                                         const int* strideA) {
  return call([&]() -> cudnnStatus_t {
    LIB_TRY(check_rank(nbDims));
    int dims[kMostDims], strides[kMostDims];
    LIB_TRY(take(dimA, static_cast<size_t>(nbDims), dims, "dimA"));
    LIB_TRY(take(strideA, static_cast<size_t>(nbDims), strides, "strideA"));
    return set_strided(tensorDesc, dataType, nbDims, dims, strides);
  });
}
cudnnStatus_t cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t tensorDesc,
                                           cudnnTensorFormat_t format, cudnnDataType_t dataType,
                                           int nbDims, const int* dimA) {
  return call([&]() -> cudnnStatus_t {
    LIB_TRY(check_rank(nbDims));
    int dims[kMostDims];
    LIB_TRY(take(dimA, static_cast<size_t>(nbDims), dims, "dimA"));
    return set_laid_out(tensorDesc, format, dataType, nbDims, dims);
  });
}
cudnnStatus_t cudnnGetTensor4dDescriptor(const cudnnTensorDescriptor_t tensorDesc,
                                         cudnnDataType_t* dataType, int* n, int* c, int* h, int* w,
                                         int* nStride, int* cStride, int* hStride, int* wStride) {
  return call([&]() -> cudnnStatus_t {
    Shape shape;
    LIB_TRY(get_shape(tensorDesc, &shape));
    if (shape.rank != 4) return invalid("a tensor of %d dimensions", shape.rank);
    LIB_TRY(give(dataType, named_type(shape)));
    int* const dims[] = {n, c, h, w};
    int* const strides[] = {nStride, cStride, hStride, wStride};
    for (int i = 0; i < 4; ++i) {
      LIB_TRY(give(dims[i], static_cast<int>(shape.dims[i])));
      LIB_TRY(give(strides[i], stride_of(shape, i)));
    }
    return CUDNN_STATUS_SUCCESS;
  });
}
cudnnStatus_t cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t tensorDesc,
                                         int nbDimsRequested, cudnnDataType_t* dataType,
                                         int* nbDims, int* dimA, int* strideA) {
  return call([&]() -> cudnnStatus_t {
    Shape shape;
    LIB_TRY(get_shape(tensorDesc, &shape));
    if (nbDimsRequested < 0) return invalid("%d dimensions", nbDimsRequested);
    LIB_TRY(give(dataType, named_type(shape)));
    LIB_TRY(give(nbDims, static_cast<int>(shape.rank)));
    int dims[kMostDims], strides[kMostDims];
    narrow(shape.dims, shape.rank, dims);
    for (int i = 0; i < shape.rank; ++i) strides[i] = stride_of(shape, i);
    const auto count = static_cast<size_t>(std::min(nbDimsRequested, shape.rank));
    LIB_TRY(give_array(dimA, dims, count));
    return give_array(strideA, strides, count);
  });
}
cudnnStatus_t cudnnGetTensorSizeInBytes(const cudnnTensorDescriptor_t tensorDesc, size_t* size) {
  return call([&]() -> cudnnStatus_t {
    Shape shape;
    LIB_TRY(get_shape(tensorDesc, &shape));
    return give(size, static_cast<size_t>(shape.span_bytes()));
  });
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* filterDesc) {
  return call([&] { return Filters::create(filterDesc); });
}
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filterDesc) {
  return call([&] { return Filters::destroy(filterDesc); });
}
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filterDesc,
                                         cudnnDataType_t dataType, cudnnTensorFormat_t format,
                                         int k, int c, int h, int w) {
  const int dims[] = {k, c, h, w};
  return call([&] { return set_filter(filterDesc, dataType, format, 4, dims); });
}
cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filterDesc,
                                         cudnnDataType_t dataType, cudnnTensorFormat_t format,
                                         int nbDims, const int* filterDimA) {
  return call([&]() -> cudnnStatus_t {
    LIB_TRY(check_rank(nbDims));
    int dims[kMostDims];
    LIB_TRY(take(filterDimA, static_cast<size_t>(nbDims), dims, "filterDimA"));
    return set_filter(filterDesc, dataType, format, nbDims, dims);
  });
}
cudnnStatus_t cudnnGetFilter4dDescriptor(const cudnnFilterDescriptor_t filterDesc,
                                         cudnnDataType_t* dataType, cudnnTensorFormat_t* format,
                                         int* k, int* c, int* h, int* w) {
  return call([&]() -> cudnnStatus_t {
    FilterValue value;
    LIB_TRY(get_filter(filterDesc, &value));
    if (value.shape.rank != 4) return invalid("a filter of %d dimensions", value.shape.rank);
    LIB_TRY(give(dataType, named_type(value.shape)));
    LIB_TRY(give(format, value.format));
    int* const dims[] = {k, c, h, w};
    for (int i = 0; i < 4; ++i) LIB_TRY(give(dims[i], static_cast<int>(value.shape.dims[i])));
    return CUDNN_STATUS_SUCCESS;
  });
}
cudnnStatus_t cudnnGetFilterNdDescriptor(const cudnnFilterDescriptor_t filterDesc,
                                         int nbDimsRequested, cudnnDataType_t* dataType,
                                         cudnnTensorFormat_t* format, int* nbDims,
                                         int* filterDimA) {
  return call([&]() -> cudnnStatus_t {
    FilterValue value;
    LIB_TRY(get_filter(filterDesc, &value));
    if (nbDimsRequested < 0) return invalid("%d dimensions", nbDimsRequested);
    LIB_TRY(give(dataType, named_type(value.shape)));
    LIB_TRY(give(format, value.format));
    LIB_TRY(give(nbDims, static_cast<int>(value.shape.rank)));
    int dims[kMostDims];
    narrow(value.shape.dims, value.shape.rank, dims);
    return give_array(filterDimA, dims,
                      static_cast<size_t>(std::min(nbDimsRequested, value.shape.rank)));
  });
}
cudnnStatus_t cudnnGetFilterSizeInBytes(const cudnnFilterDescriptor_t filterDesc, size_t* size) {
  return call([&]() -> cudnnStatus_t {
    FilterValue value;
    LIB_TRY(get_filter(filterDesc, &value));
    return give(size, static_cast<size_t>(value.shape.span_bytes()));
  });
}

cudnnStatus_t cudnnCreateTensorTransformDescriptor(
    cudnnTensorTransformDescriptor_t* transformDesc) {
  return call([&] { return Transforms::create(transformDesc); });
}
cudnnStatus_t cudnnDestroyTensorTransformDescriptor(
    cudnnTensorTransformDescriptor_t transformDesc) {
  return call([&] { return Transforms::destroy(transformDesc); });
}
cudnnStatus_t cudnnSetTensorTransformDescriptor(cudnnTensorTransformDescriptor_t transformDesc,
                                                const uint32_t nbDims,
                                                const cudnnTensorFormat_t destFormat,
                                                const int32_t* padBeforeA, const int32_t* padAfterA,
                                                const uint32_t* foldA,
                                                const cudnnFoldingDirection_t direction) {
  return call([&]() -> cudnnStatus_t {
    TransformValue value;
    LIB_TRY(check_rank(static_cast<int>(std::min<uint32_t>(nbDims, 99))));
    value.rank = nbDims;
    value.format = destFormat;
    value.direction = direction;
    if (direction != CUDNN_TRANSFORM_FOLD && direction != CUDNN_TRANSFORM_UNFOLD) {
      return invalid("the direction %d", direction);
    }
    if (padBeforeA != nullptr) LIB_TRY(take(padBeforeA, nbDims, value.before, "padBeforeA"));
    if (padAfterA != nullptr) LIB_TRY(take(padAfterA, nbDims, value.after, "padAfterA"));
    std::fill_n(value.fold, kMostDims, 1U);
    if (foldA != nullptr) LIB_TRY(take(foldA, nbDims - 2, value.fold, "foldA"));
    return Transforms::update(transformDesc, [&](TransformValue& to) { to = value; });
  });
}
cudnnStatus_t cudnnGetTensorTransformDescriptor(cudnnTensorTransformDescriptor_t transformDesc,
                                                uint32_t nbDimsRequested,
                                                cudnnTensorFormat_t* destFormat,
                                                int32_t* padBeforeA, int32_t* padAfterA,
                                                uint32_t* foldA,
                                                cudnnFoldingDirection_t* direction) {
  return call([&]() -> cudnnStatus_t {
    TransformValue value;
    LIB_TRY(Transforms::read(transformDesc, &value));
    const uint32_t count = std::min(nbDimsRequested, value.rank);
    LIB_TRY(give_if_asked(destFormat, value.format));
    LIB_TRY(give_if_asked(direction, value.direction));
    if (padBeforeA != nullptr) LIB_TRY(give_array(padBeforeA, value.before, count));
    if (padAfterA != nullptr) LIB_TRY(give_array(padAfterA, value.after, count));
    if (foldA == nullptr || count <= 2) return CUDNN_STATUS_SUCCESS;
    return give_array(foldA, value.fold, count - 2);
  });
}

}  // extern "C"
}  // namespace km::cudnn
