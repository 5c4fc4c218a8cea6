#include "dropin/cudnn/engine/reduction.h"

#include <cmath>
#include <cstring>

#include "dropin/cudnn/engine/space.h"

namespace km::cudnn {
namespace {

/// The value of one reduction while elements come in.
struct Accumulator {
  explicit Accumulator(cudnnReduceTensorOp_t kind) : operation(kind) {
    value = kind == CUDNN_REDUCE_TENSOR_MUL || kind == CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS ? 1 : 0;
  }

  void add(double x, int64_t position) {
    if (operation == kSumOfSquares) {
      value += x * x;
      return;
    }
    switch (operation) {
      case CUDNN_REDUCE_TENSOR_MUL:
        value *= x;
        break;
      case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS:
        if (x != 0) value *= x;
        break;
      case CUDNN_REDUCE_TENSOR_MIN:
        keep(x, x < value || x != x, position);
        break;
      case CUDNN_REDUCE_TENSOR_MAX:
        keep(x, x > value || x != x, position);
        break;
      case CUDNN_REDUCE_TENSOR_AMAX:
        keep(std::fabs(x), std::fabs(x) > value || x != x, position);
        break;
      case CUDNN_REDUCE_TENSOR_NORM1:
        value += std::fabs(x);
        break;
      case CUDNN_REDUCE_TENSOR_NORM2:
        value += x * x;
        break;
      default:
        value += x;
    }
  }
  double result(int64_t count) const {
    if (operation == CUDNN_REDUCE_TENSOR_AVG) return value / static_cast<double>(count);
    return operation == CUDNN_REDUCE_TENSOR_NORM2 ? std::sqrt(value) : value;
  }

  cudnnReduceTensorOp_t operation;
  double value;
  int64_t found = -1;

 private:
  /// The first NaN stays.
  void keep(double x, bool is_better, int64_t position) {
    if (found >= 0 && (!is_better || value != value)) return;
    value = x;
    found = position;
  }
};

struct Reduction {
  cudnnReduceTensorOp_t operation;
  double alpha, beta;
  View a, c;
  Shape kept;     // a's strides over c's extents
  Shape reduced;  // a's strides and extents of the reduced dimensions
  void* indices;
  cudnnIndicesType_t index_type;
  Space<2> outer;  // c and a
  Space<1> inner;  // elements of a reduction, in the order of memory
  int64_t inner_count;

  /// Elements come in the order of the dimensions, because their positions are asked for.
  void add_in_order(Accumulator* to, int64_t base) const {
    for (int64_t i = 0; i < inner_count; ++i) {
      int64_t rest = i, at = base;
      for (int d = reduced.rank - 1; d >= 0; --d) {
        at += rest % reduced.dims[d] * reduced.strides[d];
        rest /= reduced.dims[d];
      }
      to->add(read_one(a, at), i);
    }
  }
  void add_rows(Accumulator* to, int64_t base) const {
    double row[kRow];
    std::array<int64_t, 1> at{};
    for (int64_t i = 0; i < inner.chunks(); ++i) {
      const int64_t count = inner.chunk(i, &at);
      read_row(a, base + at[0], inner.step(0), count, row);
      for (int64_t j = 0; j < count; ++j) to->add(row[j], 0);
    }
  }
  void write_index(int64_t position, int64_t found) const {
    const size_t bytes = index_type == CUDNN_32BIT_INDICES   ? 4
                         : index_type == CUDNN_64BIT_INDICES ? 8
                         : index_type == CUDNN_16BIT_INDICES ? 2
                                                             : 1;
    std::memcpy(static_cast<char*>(indices) + static_cast<size_t>(position) * bytes, &found, bytes);
  }
  void run(const Part& part) const {
    std::array<int64_t, 2> at{};
    for (int64_t i = part.begin; i < part.end; ++i) {
      const int64_t count = outer.chunk(i, &at);
      for (int64_t j = 0; j < count; ++j) {
        const int64_t to = at[0] + j * outer.step(0), from = at[1] + j * outer.step(1);
        Accumulator total(operation);
        indices != nullptr ? add_in_order(&total, from) : add_rows(&total, from);
        double value = alpha * total.result(inner_count);
        if (beta != 0) value += beta * read_one(c, to);
        write_one(c, to, value);
        if (indices != nullptr) write_index(to, total.found);
      }
    }
  }
};

}  // namespace

cudnnStatus_t reduce(cu::CUstream stream, cudnnReduceTensorOp_t operation, double alpha,
                     const View& a, double beta, const View& c, void* indices,
                     cudnnIndicesType_t index_type) {
  if (a.rank != c.rank) return invalid("tensors of rank %d and %d", a.rank, c.rank);
  if (type_bits(a.type) == 0 || type_bits(c.type) == 0) return unsupported("data types");
  Reduction work{operation, alpha, beta, a, c, a, {}, indices, index_type, {}, {}, 1};
  for (int i = 0; i < a.rank; ++i) {
    if (c.dims[i] != 1 && c.dims[i] != a.dims[i]) {
      return invalid("dimension %d has the extents %lld and %lld", i,
                     static_cast<long long>(a.dims[i]), static_cast<long long>(c.dims[i]));
    }
    if (c.dims[i] != 1 || a.dims[i] == 1) continue;
    work.kept.dims[i] = 1;
    work.reduced.dims[work.reduced.rank] = a.dims[i];
    work.reduced.strides[work.reduced.rank++] = a.strides[i];
    work.inner_count *= a.dims[i];
  }
  const bool finds = operation == CUDNN_REDUCE_TENSOR_MIN || operation == CUDNN_REDUCE_TENSOR_MAX ||
                     operation == CUDNN_REDUCE_TENSOR_AMAX;
  if (!finds) work.indices = nullptr;
  if (!work.outer.init(c, {&c, &work.kept}) || !work.inner.init(work.reduced, {&work.reduced})) {
    return invalid("the extents of a reduction do not match");
  }
  Arrays arrays;
  arrays.reads("a", a).writes("c", c);
  const int64_t chunks = work.outer.chunks();
  const double chunk_ns =
      static_cast<double>(a.count()) / static_cast<double>(std::max<int64_t>(chunks, 1));
  return submit_step(stream, "cudnn reduction", arrays, chunks, chunk_ns,
                     [work = std::move(work), chunks](uint64_t piece, uint64_t pieces) {
                       work.run(Part(chunks, piece, pieces));
                     });
}

}  // namespace km::cudnn
