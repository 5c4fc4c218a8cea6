// Tasks of km_sparse calls.
#include <cstring>
#include <new>

#include "backends/cpu/library/library.h"
#include "math/sparse/solver.h"

namespace km::cpu {
namespace {

using sparse::Number;

Number number_of(km_data_type type) {
  switch (type) {
    case KM_DATA_TYPE_F64:
      return Number::kF64;
    case KM_DATA_TYPE_C32:
      return Number::kC32;
    case KM_DATA_TYPE_C64:
      return Number::kC64;
    default:
      return Number::kF32;
  }
}

sparse::Format format_of(km_sparse_format format) {
  if (format == KM_SPARSE_FORMAT_CSC) return sparse::Format::kCsc;
  return format == KM_SPARSE_FORMAT_COO ? sparse::Format::kCoo : sparse::Format::kCsr;
}

template <class T = const void>
T* pointer(uint64_t address) {
  return reinterpret_cast<T*>(address);
}

sparse::Matrix matrix_of(const kmb_sparse_call& call) {
  sparse::Matrix m;
  m.format = format_of(call.format);
  m.type = number_of(call.type);
  m.has_wide_offsets = m.has_wide_indices = call.index_size_bytes == 8;
  m.base = call.index_base;
  m.rows = static_cast<int64_t>(call.rows), m.cols = static_cast<int64_t>(call.columns);
  m.nnz = static_cast<int64_t>(call.nonzeros);
  m.offsets = pointer(call.offsets), m.indices = pointer(call.indices);
  m.values = pointer(call.values);
  return m;
}

/// A dense operand: `step` of a vector is its increment, of a matrix its leading dimension.
sparse::Operand operand_of(const kmb_sparse_call& call, const kmb_blas_array& array,
                           km_blas_operation operation) {
  const bool is_vector = call.routine == KMB_SPARSE_MV || call.routine == KMB_SPARSE_SV;
  const bool is_plain = operation != KM_BLAS_OPERATION_TRANSPOSE &&
                        operation != KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE;
  sparse::Operand made;
  made.values = pointer<void>(array.address);
  made.type = number_of(call.type);
  const bool steps_rows = is_vector || (call.layout == KM_BLAS_LAYOUT_ROWS) == is_plain;
  made.row_stride = steps_rows ? array.step : 1;
  made.col_stride = steps_rows ? 1 : array.step;
  made.is_conjugate = operation == KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE;
  return made;
}

/// A factor in the call's type.
class Factor {
 public:
  Factor(const double (&parts)[2], km_data_type type) {
    with_compute(number_of(type), 0, [&](auto tag) {
      using T = typename decltype(tag)::Type;
      T value(static_cast<sparse::Real<T>>(parts[0]));
      if constexpr (sparse::kIsComplex<T>) value.im = static_cast<sparse::Real<T>>(parts[1]);
      std::memcpy(bytes_, &value, sizeof value);
      return 0;
    });
  }
  const void* address() const { return bytes_; }

 private:
  alignas(16) std::byte bytes_[16] = {};
};

bool is_transposed(const kmb_sparse_call& call) {
  return call.operation_a != KM_BLAS_OPERATION_NONE;
}
bool is_conjugate(const kmb_sparse_call& call) {
  return call.operation_a == KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE;
}

/// A task that names itself, and that reports a lack of memory and its failures with its name.
class SparseTask : public Task {
 public:
  explicit SparseTask(const char* name) : name_(name) {}
  const char* name() const final { return name_; }
  Status run(uint64_t piece) const final {
    try {
      const Status done = run_loops(piece);
      if (done) return {};
      return make_error(done.error().status, "%s: %s", name_, done.error().message.c_str());
    } catch (const std::bad_alloc&) {
      return make_error(KM_ERROR_OUT_OF_HOST_MEMORY, "%s: the host is out of memory", name_);
    }
  }

 private:
  virtual Status run_loops(uint64_t piece) const = 0;

  const char* const name_;
};

class ProductTask final : public SparseTask {
 public:
  ProductTask(const char* name, const kmb_sparse_call& call, uint32_t threads)
      : SparseTask(name),
        alpha_(call.alpha, call.type),
        beta_(call.beta, call.type),
        product_(product_of(call)),
        division_(divide(product_, threads)) {}
  uint64_t pieces() const override { return division_.pieces(); }
  float estimated_ns() const override {
    constexpr float kStepsPerNs = 2;
    return static_cast<float>(steps_of(product_)) / kStepsPerNs;
  }
  uint64_t operations() const override { return 2 * static_cast<uint64_t>(steps_of(product_)); }

 private:
  Status run_loops(uint64_t piece) const override {
    return run_product(product_, division_, piece);
  }
  sparse::Product product_of(const kmb_sparse_call& call) const {
    sparse::Product p;
    set_sparse(p, matrix_of(call), is_transposed(call), is_conjugate(call));
    p.b = operand_of(call, call.b, call.operation_b);
    p.c = p.d = operand_of(call, call.c, KM_BLAS_OPERATION_NONE);
    p.rows = static_cast<int64_t>(is_transposed(call) ? call.columns : call.rows);
    p.cols = static_cast<int64_t>(call.k);
    p.compute = number_of(call.type);
    p.alpha = alpha_.address(), p.beta = beta_.address();
    return p;
  }

  const Factor alpha_, beta_;
  const sparse::Product product_;  // refers to the factors
  const sparse::Division division_;
};

class SolveTask final : public SparseTask {
 public:
  SolveTask(const char* name, const kmb_sparse_call& call, uint32_t threads)
      : SparseTask(name),
        alpha_(call.alpha, call.type),
        columns_(static_cast<int64_t>(call.k)),
        system_(system_of(call)),
        // Each piece sorts the entries by row once more.
        pieces_(std::clamp<uint64_t>(call.k / kLeastColumns, 1, threads)) {}
  uint64_t pieces() const override { return pieces_; }
  float estimated_ns() const override {
    return static_cast<float>(time_ns_of(system_, columns_ + 2));
  }

 private:
  static constexpr uint64_t kLeastColumns = 16;

  Status run_loops(uint64_t piece) const override {
    sparse::RowLists lists;
    KM_TRY(make_row_lists(system_.a, system_.is_transposed, &lists));
    return run_solve(system_, lists, sparse::first_of_piece(columns_, piece, pieces_),
                     sparse::first_of_piece(columns_, piece + 1, pieces_));
  }
  sparse::TriangularSystem system_of(const kmb_sparse_call& call) const {
    sparse::TriangularSystem s;
    s.a = matrix_of(call);
    s.is_transposed = is_transposed(call), s.is_conjugate = is_conjugate(call);
    s.is_lower = call.triangle == KM_BLAS_TRIANGLE_LOWER;
    s.is_unit = call.diagonal == KM_BLAS_DIAGONAL_UNIT;
    s.b = operand_of(call, call.b, KM_BLAS_OPERATION_NONE);
    s.c = operand_of(call, call.c, KM_BLAS_OPERATION_NONE);
    s.alpha = alpha_.address();
    return s;
  }

  const Factor alpha_;
  const int64_t columns_;
  const sparse::TriangularSystem system_;  // refers to the factor
  const uint64_t pieces_;
};

}  // namespace

Result<std::shared_ptr<const Task>> make_sparse_task(const char* name, const kmb_sparse_call& call,
                                                     uint32_t threads) {
  if (call.routine == KMB_SPARSE_SV || call.routine == KMB_SPARSE_SM) {
    return std::shared_ptr<const Task>(std::make_shared<SolveTask>(name, call, threads));
  }
  return std::shared_ptr<const Task>(std::make_shared<ProductTask>(name, call, threads));
}

}  // namespace km::cpu
