// Descriptors of matrices and vectors. Calls copy them, so that other threads may change a
// descriptor while work with an earlier state is queued.
#pragma once

#include <memory>
#include <mutex>

#include "dropin/cusparse/frame/arrays.h"
#include "math/sparse/matrix.h"

namespace km::cusparse {

using library::HandleKind;

/// A sparse matrix of any format. BSR and the ELL formats have sizes of blocks; rows, columns and
/// nnz count elements in all formats.
struct SpMat {
  cusparseFormat_t format = CUSPARSE_FORMAT_CSR;
  int64_t rows = 0, cols = 0, nnz = 0;
  int64_t row_block = 1, col_block = 1;        // sliced ELL: row_block is the size of a slice
  int64_t ell_cols = 0;                        // blocked ELL
  int64_t padded_size = 0;                     // sliced ELL: elements with padding
  cusparseOrder_t order = CUSPARSE_ORDER_ROW;  // of elements in a block of BSR
  void* offsets = nullptr;                     // COO: row indices; blocked ELL: none
  void* indices = nullptr;
  void* values = nullptr;
  cusparseIndexType_t offsets_type = CUSPARSE_INDEX_32I;
  cusparseIndexType_t indices_type = CUSPARSE_INDEX_32I;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
  cudaDataType type = CUDA_R_32F;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  cusparseSpMatStorage_t storage = CUSPARSE_STORE_FULL;
  cusparseSymmetryType_t symmetry = CUSPARSE_GENERAL;
  int batch_count = 1;
  int64_t offsets_stride = 0, indices_stride = 0, values_stride = 0;  // in elements
  bool is_const = false;

  /// The matrix as sparse loops read it.
  sparse::Matrix plain() const;
  // See sparse::Matrix.
  int64_t lines() const { return plain().lines(); }
  int64_t offsets_size() const { return plain().offsets_size(); }
  int64_t indices_size() const { return plain().indices_size(); }
  int64_t values_size() const { return plain().values_size(); }
  bool has_row_lines() const { return plain().has_row_lines(); }
};

struct DnMat {
  int64_t rows = 0, cols = 0, ld = 0;
  void* values = nullptr;
  cudaDataType type = CUDA_R_32F;
  cusparseOrder_t order = CUSPARSE_ORDER_COL;
  int batch_count = 1;
  int64_t batch_stride = 0;
  bool is_const = false;

  int64_t row_stride() const { return order == CUSPARSE_ORDER_ROW ? ld : 1; }
  int64_t col_stride() const { return order == CUSPARSE_ORDER_ROW ? 1 : ld; }
  /// The number of elements from the first to the last of one matrix.
  int64_t extent() const;
};

struct DnVec {
  int64_t size = 0;
  void* values = nullptr;
  cudaDataType type = CUDA_R_32F;
  bool is_const = false;
};

struct SpVec {
  int64_t size = 0, nnz = 0;
  void* indices = nullptr;
  void* values = nullptr;
  cusparseIndexType_t indices_type = CUSPARSE_INDEX_32I;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
  cudaDataType type = CUDA_R_32F;
  bool is_const = false;
};

/// The settings of a matrix for the functions of single formats.
struct MatDescr {
  cusparseMatrixType_t type = CUSPARSE_MATRIX_TYPE_GENERAL;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
};

/// An object with an id that several threads may use.
template <class T>
struct Shared {
  std::mutex mutex;  // guards `value`
  T value;
};

/// Copies the descriptor of an id.
template <class T, class Id>
cusparseStatus_t read_descriptor(const char* name, Id id, T* out) {
  const std::shared_ptr<Shared<T>> found = find_object<Shared<T>>(id);
  if (found == nullptr) return invalid("%s is no live descriptor of its kind", name);
  const std::lock_guard lock(found->mutex);
  *out = found->value;
  return CUSPARSE_STATUS_SUCCESS;
}

/// Changes the descriptor of an id by `change`, which returns a status.
template <class T, class Id, class Change>
cusparseStatus_t change_descriptor(const char* name, Id id, Change&& change) {
  const std::shared_ptr<Shared<T>> found = find_object<Shared<T>>(id);
  if (found == nullptr) return invalid("%s is no live descriptor of its kind", name);
  const std::lock_guard lock(found->mutex);
  return change(found->value);
}

/// Stores a new descriptor's id for the program.
template <class T, class Id>
cusparseStatus_t give_descriptor(Id* place, const T& value, library::HandleKind kind) {
  auto object = std::make_shared<Shared<T>>();
  object->value = value;
  return give_new(place, std::move(object), kind);
}

/// The size that functions report that need no workspace: programs may not expect 0.
constexpr size_t kNoWorkspace = 16;

/// A descriptor of a matrix whose elements a call changes.
template <class T, class Id>
cusparseStatus_t read_output(const char* name, Id id, T* out) {
  LIB_TRY(read_descriptor(name, id, out));
  if (out->is_const) return invalid("%s is a constant descriptor, which nothing may change", name);
  return CUSPARSE_STATUS_SUCCESS;
}

/// Lists the arrays of all matrices of the batch.
void add_matrix(Arrays& arrays, const SpMat& matrix, bool is_written);
/// Like add_matrix(), without the values or with values only written.
void add_structure(Arrays& arrays, const SpMat& matrix, bool is_written);
void add_matrix(Arrays& arrays, const char* name, const DnMat& matrix, bool is_written);
void add_vector(Arrays& arrays, const char* name, const DnVec& vector, bool is_written);
void add_vector(Arrays& arrays, const SpVec& vector, bool is_written);

}  // namespace km::cusparse
