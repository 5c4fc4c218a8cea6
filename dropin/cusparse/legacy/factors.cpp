#include "dropin/cusparse/legacy/factors.h"

namespace km::cusparse {
namespace {

/// The rows of a matrix with their diagonal elements: -1 if one is missing.
struct FactorRows {
  RowLists lists;
  std::vector<int64_t> diagonal;  // numbers of entries in the lists

  int64_t first(int64_t row) const { return lists.rows[static_cast<size_t>(row)]; }
  int64_t last(int64_t row) const { return lists.rows[static_cast<size_t>(row) + 1]; }
  int64_t col(int64_t k) const { return lists.cols[static_cast<size_t>(k)]; }
  int64_t position(int64_t k) const { return lists.positions[static_cast<size_t>(k)]; }
};

cu::CUresult make_rows(const SpMat& a, FactorRows* out) {
  KM_TRY_RUN(make_row_lists(a, false, &out->lists));
  sort_rows(out->lists);
  out->diagonal.assign(static_cast<size_t>(a.rows), -1);
  for (int64_t row = 0; row < a.rows; ++row) {
    for (int64_t k = out->first(row); k < out->last(row); ++k) {
      if (out->col(k) == row) out->diagonal[static_cast<size_t>(row)] = k;
    }
  }
  return cu::CUDA_SUCCESS;
}

/// Notes a pivot's row if none before it is noted.
void note_pivot(std::atomic<int64_t>& noted, int64_t row) {
  if (noted < 0 || row < noted) noted = row;
}

/// The values of a matrix that is factorised in place.
template <class C>
class Factors {
 public:
  Factors(const SpMat& a, const FactorRows& rows) : values_(a.values), rows_(rows) {}
  C get(int64_t k) const { return read_element<C>(values_, rows_.position(k)); }
  void set(int64_t k, const C& value) { write_element<C>(values_, rows_.position(k), value); }

 private:
  void* const values_;
  const FactorRows& rows_;
};

/// The number that takes the place of small pivots.
template <class C>
struct Boost {
  bool is_on;
  double limit;
  C value;
};

/// Subtracts `factor` times the rest of row `other`, after column `col`, where `row` has entries.
template <class C>
void subtract_row(const FactorRows& rows, Factors<C>& factors, int64_t row, int64_t other,
                  const C& factor) {
  int64_t k = rows.first(row);
  for (int64_t l = rows.first(other); l < rows.last(other); ++l) {
    const int64_t col = rows.col(l);
    if (col <= other) continue;
    while (k < rows.last(row) && rows.col(k) < col) ++k;
    if (k < rows.last(row) && rows.col(k) == col) {
      factors.set(k, factors.get(k) - factor * factors.get(l));
    }
  }
}

/// The incomplete LU factorisation without fill-in: L has a unit diagonal.
template <class C>
void factorise_lu(const FactorRows& rows, int64_t size, const Boost<C>& boost, Factors<C>& factors,
                  Pivots& pivots) {
  for (int64_t row = 0; row < size; ++row) {
    for (int64_t k = rows.first(row); k < rows.last(row) && rows.col(k) < row; ++k) {
      const int64_t other = rows.col(k), pivot = rows.diagonal[static_cast<size_t>(other)];
      if (pivot < 0) continue;
      const C factor = factors.get(k) / factors.get(pivot);
      factors.set(k, factor);
      subtract_row(rows, factors, row, other, factor);
    }
    const int64_t own = rows.diagonal[static_cast<size_t>(row)];
    if (own >= 0 && boost.is_on && boost.limit >= magnitude(factors.get(own))) {
      factors.set(own, boost.value);
    }
    if (own < 0 || factors.get(own) == C(0)) note_pivot(pivots.numerical, row);
  }
}

/// The sum of products of two rows of L before column `end`.
template <class C>
C dot_rows(const FactorRows& rows, const Factors<C>& factors, int64_t a, int64_t b, int64_t end) {
  C sum(0);
  int64_t k = rows.first(a);
  for (int64_t l = rows.first(b); l < rows.last(b) && rows.col(l) < end; ++l) {
    while (k < rows.last(a) && rows.col(k) < rows.col(l)) ++k;
    if (k < rows.last(a) && rows.col(k) == rows.col(l)) {
      sum += factors.get(k) * conjugate(factors.get(l));
    }
  }
  return sum;
}

/// The incomplete Cholesky factorisation without fill-in, of the lower triangle.
template <class C>
void factorise_cholesky(const FactorRows& rows, int64_t size, Factors<C>& factors, Pivots& pivots) {
  for (int64_t row = 0; row < size; ++row) {
    for (int64_t k = rows.first(row); k < rows.last(row) && rows.col(k) < row; ++k) {
      const int64_t other = rows.col(k), pivot = rows.diagonal[static_cast<size_t>(other)];
      if (pivot < 0) continue;
      const C rest = factors.get(k) - dot_rows(rows, factors, row, other, other);
      factors.set(k, rest / factors.get(pivot));
    }
    const int64_t own = rows.diagonal[static_cast<size_t>(row)];
    if (own < 0) {
      note_pivot(pivots.numerical, row);
      continue;
    }
    const C rest = factors.get(own) - dot_rows(rows, factors, row, row, row);
    const auto real = widen<Real<C>>(rest);
    if (!(real > 0)) note_pivot(pivots.numerical, row);
    factors.set(own, C(std::sqrt(real)));
  }
}

template <class C>
cu::CUresult run_factor(const SpMat& a, const FactorInfo& info) {
  FactorRows rows;
  KM_TRY_RUN(make_rows(a, &rows));
  info.pivots->numerical = -1;
  Factors<C> factors(a, rows);
  if (info.kind == InfoKind::kCsrIc || info.kind == InfoKind::kBsrIc) {
    factorise_cholesky(rows, a.rows, factors, *info.pivots);
    return cu::CUDA_SUCCESS;
  }
  const Boost<C> boost = {info.has_boost, info.has_boost ? info.boost_limit.get<double>() : 0,
                          info.has_boost ? info.boost_value.get<C>() : C(0)};
  factorise_lu(rows, a.rows, boost, factors, *info.pivots);
  return cu::CUDA_SUCCESS;
}

template <class Change>
cusparseStatus_t change_info(const void* id, Change&& change) {
  return change_descriptor<FactorInfo>("info", id, [&](FactorInfo& info) {
    change(info);
    return CUSPARSE_STATUS_SUCCESS;
  });
}

/// Notes the first row without a diagonal element.
void note_missing(const RowLists& lists, Pivots& pivots) {
  pivots.structural = pivots.numerical = -1;
  for (size_t row = 0; row + 1 < lists.rows.size(); ++row) {
    const auto first = lists.cols.begin() + lists.rows[row];
    const auto last = lists.cols.begin() + lists.rows[row + 1];
    if (std::find(first, last, static_cast<int64_t>(row)) == last) {
      note_pivot(pivots.structural, static_cast<int64_t>(row));
    }
  }
}

/// Notes the first row whose diagonal element is zero.
template <class C>
void note_zeros(const SpMat& a, const RowLists& lists, Pivots& pivots) {
  pivots.numerical = -1;
  for (size_t row = 0; row + 1 < lists.rows.size(); ++row) {
    for (int64_t k = lists.rows[row]; k < lists.rows[row + 1]; ++k) {
      const auto at = static_cast<size_t>(k);
      const bool is_zero = lists.cols[at] == static_cast<int64_t>(row) &&
                           read_element<C>(a.values, lists.positions[at]) == C(0);
      if (is_zero) note_pivot(pivots.numerical, static_cast<int64_t>(row));
    }
  }
}

}  // namespace

cusparseStatus_t read_info(InfoKind kind, const void* id, FactorInfo* out) {
  LIB_TRY(read_descriptor("info", id, out));
  return out->kind == kind ? CUSPARSE_STATUS_SUCCESS : invalid("info is of another function");
}

cusparseStatus_t analyse_factor(const Handle& handle, InfoKind kind, const void* id,
                                const SpMat& a) {
  FactorInfo info;
  LIB_TRY(read_info(kind, id, &info));
  Arrays arrays;
  add_structure(arrays, a, false);
  LIB_TRY(change_info(id, [&](FactorInfo& changed) {
    changed.block = a.row_block;
    changed.base = a.base;
  }));
  return submit(handle, arrays, "incomplete factorisation: analysis", 1, time_of(a.nnz),
                [a, pivots = info.pivots](uint64_t) {
                  RowLists lists;
                  KM_TRY_RUN(make_row_lists(a, false, &lists));
                  note_missing(lists, *pivots);
                  return cu::CUresult{cu::CUDA_SUCCESS};
                });
}

cusparseStatus_t factorise(const Handle& handle, InfoKind kind, const void* id, const SpMat& a) {
  FactorInfo info;
  LIB_TRY(read_info(kind, id, &info));
  Arrays arrays;
  add_matrix(arrays, a, true);
  if (info.has_boost) {
    info.boost_limit.add_to(arrays, "tol", sizeof(double));
    info.boost_value.add_to(arrays, "boost_val", bytes_of(a.type));
  }
  return submit(
      handle, arrays, "incomplete factorisation", 1, time_of(a.nnz, 20), [a, info](uint64_t) {
        return with_compute(a.type, cu::CUresult{cu::CUDA_ERROR_NOT_SUPPORTED}, [&](auto tag) {
          using C = typename decltype(tag)::Type;
          return run_factor<C>(a, info);
        });
      });
}

cusparseStatus_t set_boost(const Handle& handle, InfoKind kind, const void* id, bool has_boost,
                           const double* limit, const void* value, cudaDataType type) {
  FactorInfo info;
  LIB_TRY(read_info(kind, id, &info));
  Scalar boost_limit, boost_value;
  if (has_boost) {
    Arrays ignored;
    LIB_TRY(boost_limit.set(handle, "tol", limit, CUDA_R_64F, ignored));
    LIB_TRY(boost_value.set(handle, "boost_val", value, type, ignored));
  }
  return change_info(id, [&](FactorInfo& changed) {
    changed.has_boost = has_boost;
    changed.boost_limit = boost_limit;
    changed.boost_value = boost_value;
  });
}

cusparseStatus_t give_pivot(const Handle& handle, InfoKind kind, const void* id, int* position) {
  FactorInfo info;
  LIB_TRY(read_info(kind, id, &info));
  LIB_TRY(require_no_capture(handle, "the search for zero pivots"));
  LIB_CHECK(handle.driver->cuStreamSynchronize(handle.stream));
  int64_t row = info.pivots->structural;
  const int64_t numerical = info.pivots->numerical;
  if (row < 0 || (numerical >= 0 && numerical < row)) row = numerical;
  const int found = row < 0 ? -1 : static_cast<int>(row / info.block + info.base);
  if (handle.has_device_pointers()) {
    Arrays arrays;
    arrays.written("position", position, 1, sizeof(int));
    LIB_TRY(submit(handle, arrays, "zeroPivot", 1, 1, [position, found](uint64_t) {
      write_element<int32_t>(position, 0, found);
      return cu::CUresult{cu::CUDA_SUCCESS};
    }));
  } else {
    LIB_TRY(give("position", position, found));
  }
  if (found < 0) return CUSPARSE_STATUS_SUCCESS;
  return frame::fail(CUSPARSE_STATUS_ZERO_PIVOT, "row %d has no pivot", found);
}

cusparseStatus_t analyse_bsr(const Handle& handle, InfoKind kind, const void* id, const SpMat& a,
                             cusparseOperation_t operation) {
  FactorInfo info;
  LIB_TRY(read_info(kind, id, &info));
  LIB_TRY(check_operation("transA", operation));
  const TriangularSystem s = system_of(a, operation);
  std::shared_ptr<Analysis> made;
  LIB_TRY(analyse(handle, "bsrsv2: analysis", s, &made));
  LIB_TRY(change_info(id, [&](FactorInfo& changed) {
    changed.analysis = made;
    changed.block = a.row_block;
    changed.base = a.base;
  }));
  const bool is_unit = a.diagonal == CUSPARSE_DIAG_TYPE_UNIT;
  return submit(handle, {}, "bsrsv2: pivots", 1, time_of(a.nnz),
                [made, is_unit, pivots = info.pivots](uint64_t) {
                  pivots->structural = pivots->numerical = -1;
                  const auto lists = made->lists.get();
                  if (!is_unit && lists != nullptr) note_missing(*lists, *pivots);
                  return cu::CUresult{cu::CUDA_SUCCESS};
                });
}

cusparseStatus_t solve_bsr(const Handle& handle, InfoKind kind, const void* id, const SpMat& a,
                           const BsrSolveCall& call) {
  FactorInfo info;
  LIB_TRY(read_info(kind, id, &info));
  LIB_TRY(check_operation("transA", call.operation_a));
  LIB_TRY(check_operation("transXY", call.operation_x));
  LIB_TRY(check_sizes({call.cols}));
  TriangularSystem s = system_of(a, call.operation_a);
  LIB_TRY(check_analysis(s, info.analysis.get()));
  const bool is_plain_x = is_plain(call.operation_x);
  s.cols = call.cols;
  DnMat b;
  b.rows = is_plain_x ? a.rows : call.cols, b.cols = is_plain_x ? call.cols : a.rows;
  b.ld = call.ldb, b.values = const_cast<void*>(call.b), b.type = a.type;
  DnMat x = b;
  x.ld = call.ldx, x.values = call.x;
  if (b.ld < b.rows || x.ld < x.rows) return invalid("ldb is %d, ldx %d", call.ldb, call.ldx);
  const cusparseOperation_t shape =
      is_plain_x ? CUSPARSE_OPERATION_NON_TRANSPOSE : CUSPARSE_OPERATION_TRANSPOSE;
  s.b = operand_of(b, shape), s.c = operand_of(x, shape);
  Arrays arrays;
  add_matrix(arrays, a, false);
  LIB_TRY(submit(handle, arrays, "bsrsv2: pivots", 1, time_of(a.nnz),
                 [a, analysis = info.analysis, pivots = info.pivots](uint64_t) {
                   const auto lists = analysis->lists.get();
                   const bool is_unit = a.diagonal == CUSPARSE_DIAG_TYPE_UNIT;
                   if (is_unit || lists == nullptr) return cu::CUresult{};
                   return with_compute(a.type, cu::CUresult{}, [&](auto tag) {
                     note_zeros<typename decltype(tag)::Type>(a, *lists, *pivots);
                     return cu::CUresult{};
                   });
                 }));
  LIB_TRY(s.alpha_factor.set(handle, "alpha", call.alpha, a.type, arrays));
  add_matrix(arrays, "B", b, false);
  add_matrix(arrays, "X", x, true);
  return solve(handle, "bsrsv2: solve", arrays, s, info.analysis);
}

}  // namespace km::cusparse
