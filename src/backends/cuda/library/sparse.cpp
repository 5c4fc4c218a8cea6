// Calls of sparse products and solvers, by cuSPARSE.
#include <cstring>

#include "backend/blas_numbers.h"
#include "backends/cuda/driver/cusparse.h"
#include "backends/cuda/library/library.h"
#include "base/log.h"

namespace km::cuda {
namespace {

namespace cs = cusparse_library;

cs::DataType native_type(km_data_type type) {
  switch (type) {
    case KM_DATA_TYPE_F64:
      return cs::kRealF64;
    case KM_DATA_TYPE_C32:
      return cs::kComplexF32;
    case KM_DATA_TYPE_C64:
      return cs::kComplexF64;
    default:
      return cs::kRealF32;
  }
}

/// Members of calls begin at 1, those of cuSPARSE at 0; 0 stands for the plain operation.
cs::Operation native_operation(km_blas_operation operation) {
  return operation == KM_BLAS_OPERATION_INVALID ? cs::kPlain : cs::Operation(operation - 1);
}

/// A factor in the call's type, in host memory.
class Factor {
 public:
  Factor(const double (&parts)[2], km_data_type type) {
    const float narrow[2] = {static_cast<float>(parts[0]), static_cast<float>(parts[1])};
    std::memcpy(bytes_, is_double(type) ? static_cast<const void*>(parts) : narrow,
                is_double(type) ? sizeof parts : sizeof narrow);
  }
  const void* address() const { return bytes_; }

 private:
  alignas(16) std::byte bytes_[16] = {};
};

/// A call in the stream of the target.
class SparseCall {
 public:
  SparseCall(const LibraryTarget& target, const Cusparse& library, const kmb_sparse_call& call)
      : target_(target),
        library_(library),
        call_(call),
        type_(native_type(call.type)),
        alpha_(call.alpha, call.type),
        beta_(call.beta, call.type) {}
  ~SparseCall();
  SparseCall(const SparseCall&) = delete;
  SparseCall& operator=(const SparseCall&) = delete;

  /// Queues the call by a handle that is set to the stream.
  Status queue(cs::Handle handle);

 private:
  Status check(const char* function, cs::Status status) const {
    if (status == cs::kSuccess) [[likely]]
      return {};
    return library_error(target_.epoch, sparse_error(function, status));
  }
  bool is_vector() const {
    return call_.routine == KMB_SPARSE_MV || call_.routine == KMB_SPARSE_SV;
  }
  bool is_solve() const { return call_.routine == KMB_SPARSE_SV || call_.routine == KMB_SPARSE_SM; }
  /// cuSPARSE's vectors are dense: others are matrices of one column.
  bool has_vectors() const { return is_vector() && call_.b.step == 1 && call_.c.step == 1; }
  Status describe_matrix();
  Status describe_triangle();
  Status describe_dense(const kmb_blas_array& array, uint64_t rows, uint64_t columns,
                        cs::Descriptor* out);
  Status describe_operands();
  Result<cs::Data> buffer(cs::Size bytes);
  Status multiply_vector(cs::Handle handle);
  Status multiply_matrix(cs::Handle handle);
  Status solve_vector(cs::Handle handle);
  Status solve_matrix(cs::Handle handle);

  const LibraryTarget& target_;
  const Cusparse& library_;
  const kmb_sparse_call& call_;
  const cs::DataType type_;
  const Factor alpha_, beta_;
  cs::Operation operation_ = cs::kPlain;
  cs::Descriptor matrix_ = nullptr, b_ = nullptr, c_ = nullptr;
  cs::Descriptor vector_solve_ = nullptr, matrix_solve_ = nullptr;
};

SparseCall::~SparseCall() {
  const auto end = [](cs::Status (*destroy)(cs::Descriptor), cs::Descriptor descriptor) {
    if (descriptor == nullptr || destroy(descriptor) == cs::kSuccess) return;
    log(LogLevel::kWarn, "cuda", "cuSPARSE does not destroy a descriptor that it made");
  };
  end(library_.cusparseDestroySpMat, matrix_);
  for (const cs::Descriptor dense : {b_, c_}) {
    end(has_vectors() ? library_.cusparseDestroyDnVec : library_.cusparseDestroyDnMat, dense);
  }
  end(library_.cusparseSpSV_destroyDescr, vector_solve_);
  end(library_.cusparseSpSM_destroyDescr, matrix_solve_);
}

cs::Data data(uint64_t address) { return reinterpret_cast<cs::Data>(address); }

/// Solvers have no CSC, whose arrays are the CSR of the transposed matrix.
Status SparseCall::describe_matrix() {
  const auto rows = static_cast<long>(call_.rows), columns = static_cast<long>(call_.columns);
  const auto nonzeros = static_cast<long>(call_.nonzeros);
  const cs::IndexType index = call_.index_size_bytes == 8 ? cs::kIndex64 : cs::kIndex32;
  const auto base = static_cast<cs::IndexBase>(call_.index_base);
  const cs::Data offsets = data(call_.offsets), indices = data(call_.indices),
                 values = data(call_.values);
  operation_ = native_operation(call_.operation_a);
  if (call_.format == KM_SPARSE_FORMAT_COO) {
    return check("cusparseCreateCoo",
                 library_.cusparseCreateCoo(&matrix_, rows, columns, nonzeros, offsets, indices,
                                            values, index, base, type_));
  }
  const bool is_csc = call_.format == KM_SPARSE_FORMAT_CSC;
  if (is_csc && !is_solve()) {
    return check("cusparseCreateCsc",
                 library_.cusparseCreateCsc(&matrix_, rows, columns, nonzeros, offsets, indices,
                                            values, index, index, base, type_));
  }
  if (is_csc && operation_ == cs::kConjugateTranspose && is_complex(call_.type)) {
    return make_error(KM_ERROR_NOT_SUPPORTED,
                      "cuSPARSE has no solver for the conjugate transpose of a complex matrix in "
                      "CSC; store it in CSR or COO");
  }
  if (is_csc) operation_ = operation_ == cs::kPlain ? cs::kTranspose : cs::kPlain;
  return check("cusparseCreateCsr",
               library_.cusparseCreateCsr(&matrix_, rows, columns, nonzeros, offsets, indices,
                                          values, index, index, base, type_));
}

Status SparseCall::describe_triangle() {
  const bool is_lower = call_.triangle == KM_BLAS_TRIANGLE_LOWER;
  const bool is_transposed = call_.format == KM_SPARSE_FORMAT_CSC;  // as describe_matrix() has it
  const cs::Fill fill = is_lower != is_transposed ? cs::kLower : cs::kUpper;
  const cs::Diagonal diagonal = call_.diagonal == KM_BLAS_DIAGONAL_UNIT ? cs::kUnit : cs::kNonUnit;
  KM_TRY(check("cusparseSpMatSetAttribute",
               library_.cusparseSpMatSetAttribute(matrix_, cs::kFillMode, &fill, sizeof fill)));
  return check(
      "cusparseSpMatSetAttribute",
      library_.cusparseSpMatSetAttribute(matrix_, cs::kDiagonalType, &diagonal, sizeof diagonal));
}

Status SparseCall::describe_dense(const kmb_blas_array& array, uint64_t rows, uint64_t columns,
                                  cs::Descriptor* out) {
  if (has_vectors()) {
    return check("cusparseCreateDnVec", library_.cusparseCreateDnVec(out, static_cast<long>(rows),
                                                                     data(array.address), type_));
  }
  const bool by_rows = is_vector() || call_.layout == KM_BLAS_LAYOUT_ROWS;
  return check("cusparseCreateDnMat",
               library_.cusparseCreateDnMat(
                   out, static_cast<long>(rows), static_cast<long>(columns), array.step,
                   data(array.address), type_, by_rows ? cs::kRows : cs::kColumns));
}

Status SparseCall::describe_operands() {
  const bool is_plain = call_.operation_a == KM_BLAS_OPERATION_NONE;
  const uint64_t rows = is_plain ? call_.rows : call_.columns;
  const uint64_t inner = is_plain ? call_.columns : call_.rows;
  const bool is_plain_b = native_operation(call_.operation_b) == cs::kPlain;
  KM_TRY(describe_dense(call_.b, is_plain_b ? inner : call_.k, is_plain_b ? call_.k : inner, &b_));
  return describe_dense(call_.c, rows, call_.k, &c_);
}

Result<cs::Data> SparseCall::buffer(cs::Size bytes) {
  if (bytes == 0) return cs::Data{nullptr};
  KM_ASSIGN(const uint64_t address, target_.scratch(bytes));
  return data(address);
}

Status SparseCall::multiply_vector(cs::Handle handle) {
  cs::Size bytes = 0;
  KM_TRY(check(
      "cusparseSpMV_bufferSize",
      library_.cusparseSpMV_bufferSize(handle, operation_, alpha_.address(), matrix_, b_,
                                       beta_.address(), c_, type_, cs::kDefaultAlgorithm, &bytes)));
  KM_ASSIGN(const cs::Data place, buffer(bytes));
  return check("cusparseSpMV",
               library_.cusparseSpMV(handle, operation_, alpha_.address(), matrix_, b_,
                                     beta_.address(), c_, type_, cs::kDefaultAlgorithm, place));
}

Status SparseCall::multiply_matrix(cs::Handle handle) {
  const cs::Operation operation_b = native_operation(call_.operation_b);
  cs::Size bytes = 0;
  KM_TRY(check("cusparseSpMM_bufferSize",
               library_.cusparseSpMM_bufferSize(handle, operation_, operation_b, alpha_.address(),
                                                matrix_, b_, beta_.address(), c_, type_,
                                                cs::kDefaultAlgorithm, &bytes)));
  KM_ASSIGN(const cs::Data place, buffer(bytes));
  return check("cusparseSpMM",
               library_.cusparseSpMM(handle, operation_, operation_b, alpha_.address(), matrix_, b_,
                                     beta_.address(), c_, type_, cs::kDefaultAlgorithm, place));
}

Status SparseCall::solve_vector(cs::Handle handle) {
  cs::Size bytes = 0;
  KM_TRY(check("cusparseSpSV_createDescr", library_.cusparseSpSV_createDescr(&vector_solve_)));
  KM_TRY(
      check("cusparseSpSV_bufferSize",
            library_.cusparseSpSV_bufferSize(handle, operation_, alpha_.address(), matrix_, b_, c_,
                                             type_, cs::kDefaultAlgorithm, vector_solve_, &bytes)));
  KM_ASSIGN(const cs::Data place, buffer(bytes));
  KM_TRY(check("cusparseSpSV_analysis",
               library_.cusparseSpSV_analysis(handle, operation_, alpha_.address(), matrix_, b_, c_,
                                              type_, cs::kDefaultAlgorithm, vector_solve_, place)));
  return check("cusparseSpSV_solve",
               library_.cusparseSpSV_solve(handle, operation_, alpha_.address(), matrix_, b_, c_,
                                           type_, cs::kDefaultAlgorithm, vector_solve_));
}

Status SparseCall::solve_matrix(cs::Handle handle) {
  cs::Size bytes = 0;
  KM_TRY(check("cusparseSpSM_createDescr", library_.cusparseSpSM_createDescr(&matrix_solve_)));
  KM_TRY(check("cusparseSpSM_bufferSize",
               library_.cusparseSpSM_bufferSize(handle, operation_, cs::kPlain, alpha_.address(),
                                                matrix_, b_, c_, type_, cs::kDefaultAlgorithm,
                                                matrix_solve_, &bytes)));
  KM_ASSIGN(const cs::Data place, buffer(bytes));
  KM_TRY(check(
      "cusparseSpSM_analysis",
      library_.cusparseSpSM_analysis(handle, operation_, cs::kPlain, alpha_.address(), matrix_, b_,
                                     c_, type_, cs::kDefaultAlgorithm, matrix_solve_, place)));
  return check("cusparseSpSM_solve", library_.cusparseSpSM_solve(
                                         handle, operation_, cs::kPlain, alpha_.address(), matrix_,
                                         b_, c_, type_, cs::kDefaultAlgorithm, matrix_solve_));
}

Status SparseCall::queue(cs::Handle handle) {
  KM_TRY(describe_matrix());
  if (is_solve()) KM_TRY(describe_triangle());
  KM_TRY(describe_operands());
  if (is_solve()) return has_vectors() ? solve_vector(handle) : solve_matrix(handle);
  return has_vectors() ? multiply_vector(handle) : multiply_matrix(handle);
}

Result<cs::Handle> take_handle(Epoch& epoch, const Cusparse& library) {
  if (const auto unused = epoch.take_handle<cs::Handle>()) return *unused;
  cs::Handle made = nullptr;
  const cs::Status status = library.cusparseCreate(&made);
  if (status != cs::kSuccess) {
    return library_error(epoch, sparse_error("cusparseCreate", status));
  }
  return made;
}

}  // namespace

Status queue_sparse(const LibraryTarget& target, const kmb_sparse_call& call) {
  KM_ASSIGN(const Cusparse* const library, Cusparse::instance());
  KM_ASSIGN(const cs::Handle handle, take_handle(target.epoch, *library));
  const cs::Status set = library->cusparseSetStream(handle, target.stream);
  Status queued;
  if (set == cs::kSuccess) {
    queued = SparseCall(target, *library, call).queue(handle);
  } else {
    queued = library_error(target.epoch, sparse_error("cusparseSetStream", set));
  }
  target.epoch.give_handle(handle);
  return queued;
}

}  // namespace km::cuda
