#include "dropin/cusparse/generic/sparse_product.h"

#include <atomic>

#include "dropin/cusparse/generic/vectors.h"
#include "dropin/cusparse/matrix/entries.h"

namespace km::cusparse {
namespace {

/// The operands of a call.
struct Operands {
  SpMat a, b, c;
  cudaDataType sum = CUDA_R_32F;
  Scalar alpha, beta;
};

cusparseStatus_t check_csr(const char* name, const SpMat& m) {
  if (m.format == CUSPARSE_FORMAT_CSR && m.batch_count == 1) return CUSPARSE_STATUS_SUCCESS;
  return unsupported("%s is not one matrix in CSR format", name);
}

cusparseStatus_t read_operands(const SparseProductCall& call, Operands* o) {
  LIB_TRY(check_operation("opA", call.operation_a));
  LIB_TRY(check_operation("opB", call.operation_b));
  if (!is_plain(call.operation_a) || !is_plain(call.operation_b)) {
    return unsupported("products of transposed sparse matrices");
  }
  LIB_TRY(read_descriptor("matA", call.a, &o->a));
  LIB_TRY(read_descriptor("matB", call.b, &o->b));
  LIB_TRY(read_output("matC", call.c, &o->c));
  LIB_TRY(check_csr("matA", o->a));
  LIB_TRY(check_csr("matB", o->b));
  LIB_TRY(check_csr("matC", o->c));
  if (o->a.cols != o->b.rows || o->c.rows != o->a.rows || o->c.cols != o->b.cols) {
    return invalid("the sizes of the matrices do not fit");
  }
  o->sum = sum_type_of(o->a.type);
  const bool is_known = o->a.type == o->b.type && o->a.type == o->c.type &&
                        o->a.type != CUDA_R_8I && o->a.type != CUDA_R_32I;
  const bool is_sum_known = !call.has_values || call.compute == o->a.type || call.compute == o->sum;
  if (is_known && is_sum_known) return CUSPARSE_STATUS_SUCCESS;
  return unsupported("a product of matrices of types %d and %d with sums of type %d",
                     static_cast<int>(o->a.type), static_cast<int>(o->b.type),
                     static_cast<int>(call.compute));
}

/// A scalar of the call's compute type, which may be a half type, as the type of sums.
template <class C>
C scalar_of(const Scalar& scalar, cudaDataType compute) {
  if (compute == CUDA_R_16F) return widen<C>(scalar.get<Half>());
  if (compute == CUDA_R_16BF) return widen<C>(scalar.get<BFloat>());
  if (compute == CUDA_C_16F) return widen<C>(scalar.get<ComplexPair<Half>>());
  if (compute == CUDA_C_16BF) return widen<C>(scalar.get<ComplexPair<BFloat>>());
  return scalar.get<C>();
}

/// The sums of one row of the product, by column.
template <class C>
class RowSums {
 public:
  explicit RowSums(int64_t cols)
      : sums_(static_cast<size_t>(cols)), last_row_(static_cast<size_t>(cols), -1) {}

  void begin(int64_t row) {
    row_ = row;
    cols_.clear();
  }
  void add(int64_t col, const C& value) {
    const auto at = static_cast<size_t>(col);
    if (last_row_[at] != row_) {
      last_row_[at] = row_;
      sums_[at] = C(0);
      cols_.push_back(col);
    }
    sums_[at] += value;
  }
  /// The row's columns, sorted.
  const std::vector<int64_t>& finish() {
    std::sort(cols_.begin(), cols_.end());
    return cols_;
  }
  int64_t size() const { return static_cast<int64_t>(cols_.size()); }
  bool has(int64_t col) const { return last_row_[static_cast<size_t>(col)] == row_; }
  const C& operator[](int64_t col) const { return sums_[static_cast<size_t>(col)]; }

 private:
  std::vector<C> sums_;
  std::vector<int64_t> last_row_;  // the row that the sum belongs to
  std::vector<int64_t> cols_;
  int64_t row_ = -1;
};

/// Adds the products of one row of A with the rows of B. Without values only the columns count.
template <class T, class C>
cu::CUresult add_products(const Operands& o, int64_t row, bool has_values, RowSums<C>& sums) {
  const Indices offsets = offsets_of(o.b), indices = indices_of(o.b);
  cu::CUresult result = cu::CUDA_SUCCESS;
  sums.begin(row);
  KM_TRY_RUN(for_entries(o.a, row, row + 1, [&](int64_t, int64_t middle, int64_t k) {
    LineRange range;
    if (result == cu::CUDA_SUCCESS) result = read_range(offsets, middle, o.b.nnz, &range);
    const C a = has_values ? widen<C>(read_element<T>(o.a.values, k)) : C(0);
    for (int64_t l = range.first; result == cu::CUDA_SUCCESS && l < range.last; ++l) {
      const int64_t col = indices[l];
      if (!is_within(col, o.b.cols)) {
        result = bad_index("column index", col, o.b.cols);
      } else {
        sums.add(col, has_values ? a * widen<C>(read_element<T>(o.b.values, l)) : C(0));
      }
    }
  }));
  return result;
}

template <class T, class C>
cu::CUresult fill_rows(const Operands& o, const SparseProductCall& call, ProductRows& rows) {
  RowSums<C> sums(o.b.cols);
  const C alpha = call.has_values ? scalar_of<C>(o.alpha, call.compute) : C(0);
  rows.row_ends.clear(), rows.cols.clear(), rows.values.clear();
  for (int64_t row = rows.first_row; row < rows.last_row; ++row) {
    KM_TRY_RUN((add_products<T, C>(o, row, call.has_values, sums)));
    const std::vector<int64_t>& cols = sums.finish();
    rows.cols.insert(rows.cols.end(), cols.begin(), cols.end());
    rows.row_ends.push_back(static_cast<int64_t>(rows.cols.size()));
    for (size_t i = 0; call.has_values && i < cols.size(); ++i) {
      const C value = alpha * sums[cols[i]];
      const auto* const bytes = reinterpret_cast<const char*>(&value);
      rows.values.insert(rows.values.end(), bytes, bytes + sizeof value);
    }
  }
  return cu::CUDA_SUCCESS;
}

/// Calls f with the tags of the elements' type and of the sums' type.
template <class F>
cu::CUresult with_types(const Operands& o, F&& f) {
  return with_product_types(o.a.type, o.a.type, o.sum, cu::CUresult{cu::CUDA_ERROR_NOT_SUPPORTED},
                            [&](auto types) {
                              using T = decltype(types);
                              return f(TypeTag<typename T::First>{}, TypeTag<typename T::Sum>{});
                            });
}

uint64_t time_of(const Operands& o) {
  const auto entries = static_cast<double>(o.a.nnz);
  const double each =
      static_cast<double>(o.b.nnz) / std::max<double>(1, static_cast<double>(o.b.rows));
  return static_cast<uint64_t>(std::min(1e15, entries * (each + 1) * 5));
}

/// Divides the rows so that pieces have about equal numbers of A's entries.
void divide(const Operands& o, SparseProduct& product) {
  const uint64_t wanted =
      std::min<uint64_t>(pieces_of(static_cast<int64_t>(time_of(o))), library::worker_threads());
  const uint64_t pieces =
      std::clamp<uint64_t>(wanted, 1, static_cast<uint64_t>(std::max<int64_t>(o.a.rows, 1)));
  product.parts.resize(pieces);
  for (uint64_t i = 0; i < pieces; ++i) {
    product.parts[i].first_row = first_of_piece(o.a.rows, i, pieces);
    product.parts[i].last_row = first_of_piece(o.a.rows, i + 1, pieces);
  }
}

void add_operands(Arrays& arrays, const Operands& o, bool has_values) {
  if (has_values) {
    add_matrix(arrays, o.a, false);
    add_matrix(arrays, o.b, false);
  } else {
    add_structure(arrays, o.a, false);
    add_structure(arrays, o.b, false);
  }
}

/// Sets the sizes of what has been computed.
void finish(SparseProduct& product) {
  product.nnz = 0;
  for (ProductRows& rows : product.parts) {
    rows.before = product.nnz;
    product.nnz += static_cast<int64_t>(rows.cols.size());
  }
}

/// Writes offsets and columns of some rows into C.
void write_structure(const SpMat& c, const ProductRows& rows) {
  const IndexWriter offsets(c.offsets, c.offsets_type, c.base);
  const IndexWriter indices(c.indices, c.indices_type, c.base);
  if (rows.first_row == 0) offsets.set(0, 0);
  for (size_t i = 0; i < rows.row_ends.size(); ++i) {
    offsets.set(rows.first_row + static_cast<int64_t>(i) + 1, rows.before + rows.row_ends[i]);
  }
  for (size_t i = 0; i < rows.cols.size(); ++i) {
    indices.set(rows.before + static_cast<int64_t>(i), rows.cols[i]);
  }
}

/// Stores a value of C; beta scales the old one.
template <class T, class C>
void store_value(const SpMat& c, int64_t position, const C& value, const C& beta) {
  C sum = value;
  if (!(beta == C(0))) sum += beta * widen<C>(read_element<T>(c.values, position));
  write_element<T>(c.values, position, narrow<T>(sum));
}

template <class T, class C>
void write_values(const Operands& o, const SparseProductCall& call, const ProductRows& rows) {
  const C beta = scalar_of<C>(o.beta, call.compute);
  for (size_t i = 0; i < rows.cols.size(); ++i) {
    const C value = read_element<C>(rows.values.data(), static_cast<int64_t>(i));
    store_value<T, C>(o.c, rows.before + static_cast<int64_t>(i), value, beta);
  }
}

/// Computes the values of some rows in the places that the structure gives them.
template <class T, class C>
cu::CUresult refill_rows(const Operands& o, const SparseProductCall& call,
                         const ProductRows& rows) {
  RowSums<C> sums(o.b.cols);
  const C alpha = scalar_of<C>(o.alpha, call.compute), beta = scalar_of<C>(o.beta, call.compute);
  size_t i = 0;
  for (int64_t row = rows.first_row; row < rows.last_row; ++row) {
    KM_TRY_RUN((add_products<T, C>(o, row, true, sums)));
    const auto end = static_cast<size_t>(rows.row_ends[static_cast<size_t>(row - rows.first_row)]);
    for (; i < end; ++i) {
      const C sum = sums.has(rows.cols[i]) ? sums[rows.cols[i]] : C(0);
      store_value<T, C>(o.c, rows.before + static_cast<int64_t>(i), alpha * sum, beta);
    }
  }
  return cu::CUDA_SUCCESS;
}

cusparseStatus_t read_with_scalars(const Handle& handle, const SparseProductCall& call, Operands* o,
                                   Arrays* arrays) {
  LIB_TRY(read_operands(call, o));
  if (!call.has_values) return CUSPARSE_STATUS_SUCCESS;
  LIB_TRY(o->alpha.set(handle, "alpha", call.alpha, call.compute, *arrays));
  return o->beta.set(handle, "beta", call.beta, call.compute, *arrays);
}

cusparseStatus_t require_product(const Operands& o, const SparseProduct* product) {
  if (product == nullptr) return invalid("the product has not been computed");
  if (product->rows == o.c.rows && product->cols == o.c.cols && product->nnz == o.c.nnz &&
      product->sum == o.sum && o.a.rows == product->rows && o.b.cols == product->cols) {
    return CUSPARSE_STATUS_SUCCESS;
  }
  return invalid("the product that has been computed is of other matrices");
}

/// Counts the product's entries by rows, up to a number that is too large.
cu::CUresult count_entries(const Operands& o, const ProductRows& rows, int64_t most,
                           std::atomic<int64_t>& total) {
  return with_types(o, [&](auto element, auto sum) -> cu::CUresult {
    using T = typename decltype(element)::Type;
    using C = typename decltype(sum)::Type;
    RowSums<C> sums(o.b.cols);
    for (int64_t row = rows.first_row; row < rows.last_row && total <= most; ++row) {
      KM_TRY_RUN((add_products<T, C>(o, row, false, sums)));
      total += sums.size();
    }
    return cu::CUDA_SUCCESS;
  });
}

/// CUSPARSE_STATUS_INSUFFICIENT_RESOURCES if the product does not fit into memory. Multiplications
/// are counted only if a dense result would be too large, and entries only if that many
/// multiplications could give too many.
cusparseStatus_t check_memory(const Handle& handle, const char* name, const SparseProductCall& call,
                              const Operands& o, const std::shared_ptr<SparseProduct>& product) {
  size_t free_bytes = 0, total_bytes = 0;
  LIB_CHECK(handle.driver->cuMemGetInfo_v2(&free_bytes, &total_bytes));
  const uint64_t entry_bytes = sizeof(int64_t) + (call.has_values ? bytes_of(o.sum) : 0);
  const auto most = static_cast<int64_t>(free_bytes / entry_bytes);
  if (static_cast<__int128>(product->rows) * product->cols <= most) return CUSPARSE_STATUS_SUCCESS;
  int64_t products = 0;
  LIB_TRY(count_products(handle, name, call, &products));
  if (products <= most) return CUSPARSE_STATUS_SUCCESS;
  Arrays arrays;
  add_operands(arrays, o, false);
  const auto total = std::make_shared<std::atomic<int64_t>>(0);
  LIB_TRY(submit(handle, arrays, name, product->parts.size(), time_of(o),
                 [o, product, most, total](uint64_t piece) {
                   return count_entries(o, product->parts[piece], most, *total);
                 }));
  LIB_CHECK(handle.driver->cuStreamSynchronize(handle.stream));
  if (*total <= most) return CUSPARSE_STATUS_SUCCESS;
  return frame::fail(CUSPARSE_STATUS_INSUFFICIENT_RESOURCES,
                     "the product has more than %lld entries, which %zu bytes of free memory do "
                     "not hold",
                     static_cast<long long>(most), free_bytes);
}

}  // namespace

cusparseStatus_t check_product(const SparseProductCall& call) {
  Operands o;
  return read_operands(call, &o);
}

cusparseStatus_t count_products(const Handle& handle, const char* name,
                                const SparseProductCall& call, int64_t* count) {
  Operands o;
  LIB_TRY(read_operands(call, &o));
  Arrays arrays;
  add_operands(arrays, o, false);
  const auto total = std::make_shared<int64_t>(0);
  LIB_TRY(submit_and_wait(handle, arrays, name, static_cast<uint64_t>(o.a.nnz) * 2,
                          [o, total](uint64_t) {
                            const Indices offsets = offsets_of(o.b);
                            return for_all_entries(o.a, [&](int64_t, int64_t middle, int64_t) {
                              *total += std::max<int64_t>(offsets[middle + 1] - offsets[middle], 0);
                            });
                          }));
  *count = *total;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t multiply(const Handle& handle, const char* name, const SparseProductCall& call,
                          std::shared_ptr<SparseProduct>* out) {
  Operands o;
  Arrays arrays;
  LIB_TRY(require_no_capture(handle, name));
  LIB_TRY(read_with_scalars(handle, call, &o, &arrays));
  add_operands(arrays, o, call.has_values);
  auto product = std::make_shared<SparseProduct>();
  product->rows = o.a.rows, product->cols = o.b.cols, product->sum = o.sum;
  divide(o, *product);
  LIB_TRY(check_memory(handle, name, call, o, product));
  LIB_TRY(submit(
      handle, arrays, name, product->parts.size(), time_of(o), [o, call, product](uint64_t piece) {
        return with_types(o, [&](auto element, auto sum) {
          return fill_rows<typename decltype(element)::Type, typename decltype(sum)::Type>(
              o, call, product->parts[piece]);
        });
      }));
  LIB_CHECK(handle.driver->cuStreamSynchronize(handle.stream));
  finish(*product);
  *out = product;
  return change_descriptor<SpMat>("matC", call.c, [&](SpMat& c) {
    c.nnz = product->nnz;
    return CUSPARSE_STATUS_SUCCESS;
  });
}

cusparseStatus_t copy_product(const Handle& handle, const char* name, const SparseProductCall& call,
                              const std::shared_ptr<SparseProduct>& product) {
  Operands o;
  Arrays arrays;
  LIB_TRY(read_with_scalars(handle, call, &o, &arrays));
  LIB_TRY(require_product(o, product.get()));
  add_structure(arrays, o.c, true);
  if (call.has_values) {
    arrays.written("matC's values", o.c.values, o.c.nnz, bytes_of(o.c.type));
  }
  return submit(handle, arrays, name, product->parts.size(),
                static_cast<uint64_t>(product->nnz) * 2, [o, call, product](uint64_t piece) {
                  const ProductRows& rows = product->parts[piece];
                  write_structure(o.c, rows);
                  if (!call.has_values) return cu::CUresult{cu::CUDA_SUCCESS};
                  return with_types(o, [&](auto element, auto sum) {
                    write_values<typename decltype(element)::Type, typename decltype(sum)::Type>(
                        o, call, rows);
                    return cu::CUresult{cu::CUDA_SUCCESS};
                  });
                });
}

cusparseStatus_t multiply_again(const Handle& handle, const char* name,
                                const SparseProductCall& call,
                                const std::shared_ptr<SparseProduct>& product) {
  Operands o;
  Arrays arrays;
  LIB_TRY(read_with_scalars(handle, call, &o, &arrays));
  LIB_TRY(require_product(o, product.get()));
  add_operands(arrays, o, true);
  arrays.written("matC's values", o.c.values, o.c.nnz, bytes_of(o.c.type));
  return submit(
      handle, arrays, name, product->parts.size(), time_of(o), [o, call, product](uint64_t piece) {
        return with_types(o, [&](auto element, auto sum) {
          return refill_rows<typename decltype(element)::Type, typename decltype(sum)::Type>(
              o, call, product->parts[piece]);
        });
      });
}

}  // namespace km::cusparse
