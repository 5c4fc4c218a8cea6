#include "dropin/cublas/xt/level3.h"

#include <algorithm>
#include <deque>

namespace km::cublas {
namespace {

using enum XtWorkspace::Place;

/// The state of a call: workspaces on all devices, and the division into tiles.
class XtRun {
 public:
  XtRun(XtHandle& handle, km_data_type type, uint64_t largest)
      : handle_(handle),
        type_(type),
        block_(std::min(static_cast<uint64_t>(handle.block_dim), std::max(largest, uint64_t{1}))) {}

  cublasStatus_t begin() {
    if (handle_.devices.empty()) return CUBLAS_STATUS_NOT_INITIALIZED;
    for (XtDevice& device : handle_.devices) {
      const auto scope = device.enter();
      LIB_TRY(workspaces_.emplace_back(device, type_).allocate(block_ * block_));
    }
    return CUBLAS_STATUS_SUCCESS;
  }

  uint64_t tiles(uint64_t size) const { return (size + block_ - 1) / block_; }
  uint64_t start(uint64_t tile) const { return tile * block_; }
  uint64_t size(uint64_t tile, uint64_t whole) const {
    return std::min(block_, whole - tile * block_);
  }
  XtTile tile(uint64_t i, uint64_t j, uint64_t rows, uint64_t columns) const {
    return {start(i), start(j), size(i, rows), size(j, columns)};
  }

  /// Runs the work of one tile or strip on the next device.
  template <class Body>
  cublasStatus_t on_next_device(Body&& body) {
    XtWorkspace& workspace = workspaces_[next_++ % workspaces_.size()];
    const auto scope = workspace.device().enter();
    return body(workspace);
  }

  /// Waits for all devices; an earlier failure takes precedence.
  cublasStatus_t end(cublasStatus_t status) {
    for (XtDevice& device : handle_.devices) {
      const auto scope = device.enter();
      const cublasStatus_t waited = status_of(device.driver().cuStreamSynchronize(device.stream()));
      if (status == CUBLAS_STATUS_SUCCESS) status = waited;
    }
    return status;
  }

 private:
  XtHandle& handle_;
  const km_data_type type_;
  const uint64_t block_;
  std::deque<XtWorkspace> workspaces_;
  size_t next_ = 0;
};

int64_t signed_of(uint64_t size) { return static_cast<int64_t>(size); }

/// Loads tile (i, j) of op(matrix) without transposing it; the leading dimension is that of the
/// stored tile.
cublasStatus_t load_operand(XtWorkspace& w, XtWorkspace::Place place, const XtMatrix& matrix,
                            cublasOperation_t operation, const XtTile& tile) {
  if (is_plain(operation)) return w.load(place, matrix, tile);
  return w.load(place, matrix, {tile.column, tile.row, tile.columns, tile.rows});
}
int64_t leading_of(cublasOperation_t operation, uint64_t rows, uint64_t columns) {
  return std::max(signed_of(is_plain(operation) ? rows : columns), int64_t{1});
}

/// Computes C's tile (m x n) = alpha op(A) op(B) + beta C from loaded tiles.
struct TileProduct {
  km_data_type type;
  uint64_t m, n, k;
  cublasOperation_t operation_a, operation_b;
  Number alpha, beta;
  bool is_triangle = false, is_hermitian = false;
  cublasFillMode_t triangle = CUBLAS_FILL_MODE_FULL;

  cublasStatus_t submit(XtWorkspace& w) const {
    Product product(w.handle(), type);
    product.set_sizes(signed_of(m), signed_of(n), signed_of(k));
    product.set_a(w.data(kA), leading_of(operation_a, m, k), operation_a);
    product.set_b(w.data(kB), leading_of(operation_b, k, n), operation_b);
    product.set_c(w.data(kC), signed_of(m));
    if (is_triangle) product.set_triangle(triangle, is_hermitian);
    product.set_scalars(alpha.bytes, beta.bytes);
    return product.submit();
  }
};

Number one(km_data_type type) { return number_of(type, 1, 0); }

cublasStatus_t gemm_tile(XtRun& run, XtWorkspace& w, const XtProduct& p, uint64_t i, uint64_t j) {
  const XtTile c = run.tile(i, j, p.m, p.n);
  if (!is_zero(p.type, p.beta)) LIB_TRY(w.load(kC, p.c, c));
  const uint64_t steps = std::max(run.tiles(p.k), uint64_t{1});  // k = 0: only beta is applied
  for (uint64_t step = 0; step < steps; ++step) {
    const uint64_t depth = run.size(step, p.k);
    LIB_TRY(load_operand(w, kA, p.a, p.operation_a, {c.row, run.start(step), c.rows, depth}));
    LIB_TRY(load_operand(w, kB, p.b, p.operation_b, {run.start(step), c.column, depth, c.columns}));
    const Number beta = step == 0 ? p.beta : one(p.type);
    LIB_TRY(
        (TileProduct{p.type, c.rows, c.columns, depth, p.operation_a, p.operation_b, p.alpha, beta})
            .submit(w));
  }
  return w.store(p.c, c);
}

/// Adds one of a rank update's products to the tile.
struct RankPart {
  XtMatrix left, right;
  Number alpha;
};

cublasStatus_t rank_tile(XtRun& run, XtWorkspace& w, const XtRankUpdate& u,
                         const std::vector<RankPart>& parts, uint64_t i, uint64_t j) {
  const XtTile c = run.tile(i, j, u.n, u.n);
  const bool is_diagonal = i == j;
  if (is_diagonal || !is_zero(u.type, u.beta)) LIB_TRY(w.load(kC, u.c, c));
  const cublasOperation_t turned = u.is_hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
  const cublasOperation_t left = is_plain(u.operation) ? CUBLAS_OP_N : turned;
  const cublasOperation_t right = is_plain(u.operation) ? turned : CUBLAS_OP_N;
  Number beta = u.beta;
  for (const RankPart& part : parts) {
    const uint64_t steps = std::max(run.tiles(u.k), uint64_t{1});
    for (uint64_t step = 0; step < steps; ++step) {
      const uint64_t depth = run.size(step, u.k), at = run.start(step);
      LIB_TRY(load_operand(w, kA, part.left, left, {c.row, at, c.rows, depth}));
      LIB_TRY(load_operand(w, kB, part.right, right, {at, c.column, depth, c.columns}));
      LIB_TRY((TileProduct{u.type, c.rows, c.columns, depth, left, right, part.alpha, beta,
                           is_diagonal, u.is_hermitian, u.triangle})
                  .submit(w));
      beta = one(u.type);
    }
  }
  return w.store(u.c, c);
}

/// Loads tile (row, column) of a matrix of which only one triangle is stored.
cublasStatus_t load_symmetric(XtRun& run, XtWorkspace& w, XtWorkspace::Place place,
                              const XtSymmetric& p, uint64_t row, uint64_t column,
                              cublasOperation_t* operation) {
  const uint64_t order = p.side == CUBLAS_SIDE_LEFT ? p.m : p.n;
  const bool is_there = p.triangle == CUBLAS_FILL_MODE_LOWER ? row >= column : row <= column;
  *operation = is_there ? CUBLAS_OP_N : p.is_hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
  return load_operand(w, place, p.a, *operation, run.tile(row, column, order, order));
}

cublasStatus_t symmetric_diagonal(XtWorkspace& w, const XtSymmetric& p, const XtTile& c,
                                  const Number& beta) {
  const bool is_left = p.side == CUBLAS_SIDE_LEFT;
  const int64_t order = signed_of(is_left ? c.rows : c.columns);
  const int64_t m = signed_of(c.rows), n = signed_of(c.columns);
  return Request(w.handle(), p.is_hermitian ? KMB_BLAS_HEMM : KMB_BLAS_SYMM, p.type)
      .side(p.side)
      .triangle(p.triangle)
      .m(m)
      .n(n)
      .alpha(p.alpha.bytes)
      .a(w.data(is_left ? kA : kB), order, order, order)
      .b(w.data(is_left ? kB : kA), m, m, n)
      .beta(beta.bytes)
      .c_written(w.data(kC), m, m, n)
      .submit();
}

cublasStatus_t symmetric_tile(XtRun& run, XtWorkspace& w, const XtSymmetric& p, uint64_t i,
                              uint64_t j) {
  const bool is_left = p.side == CUBLAS_SIDE_LEFT;
  const XtTile c = run.tile(i, j, p.m, p.n);
  if (!is_zero(p.type, p.beta)) LIB_TRY(w.load(kC, p.c, c));
  const uint64_t own = is_left ? i : j, order = is_left ? p.m : p.n;
  for (uint64_t step = 0; step < run.tiles(order); ++step) {
    const uint64_t depth = run.size(step, order);
    const Number beta = step == 0 ? p.beta : one(p.type);
    cublasOperation_t turned = CUBLAS_OP_N;
    if (is_left) {
      LIB_TRY(load_symmetric(run, w, kA, p, i, step, &turned));
      LIB_TRY(w.load(kB, p.b, {run.start(step), c.column, depth, c.columns}));
    } else {
      LIB_TRY(load_symmetric(run, w, kB, p, step, j, &turned));
      LIB_TRY(w.load(kA, p.b, {c.row, run.start(step), c.rows, depth}));
    }
    if (step == own) {
      LIB_TRY(symmetric_diagonal(w, p, c, beta));
      continue;
    }
    LIB_TRY((TileProduct{p.type, c.rows, c.columns, depth, is_left ? turned : CUBLAS_OP_N,
                         is_left ? CUBLAS_OP_N : turned, p.alpha, beta})
                .submit(w));
  }
  return w.store(p.c, c);
}

/// A strip of a triangular problem: C's tiles along A, which depend on each other.
class TriangularStrip {
 public:
  TriangularStrip(XtRun& run, XtWorkspace& workspace, const XtTriangular& problem, uint64_t strip)
      : run_(run),
        w_(workspace),
        p_(problem),
        strip_(strip),
        is_left_(problem.side == CUBLAS_SIDE_LEFT),
        order_(is_left_ ? problem.m : problem.n) {}

  cublasStatus_t submit() {
    // Decides whether a tile depends on the tiles before it or after it.
    const bool is_lower = (p_.triangle == CUBLAS_FILL_MODE_LOWER) == is_plain(p_.operation);
    const bool needs_former = is_left_ == is_lower;
    const bool ascends = needs_former == p_.is_solve;
    const uint64_t count = run_.tiles(order_);
    for (uint64_t turn = 0; turn < count; ++turn) {
      const uint64_t own = ascends ? turn : count - 1 - turn;
      const uint64_t first = needs_former ? 0 : own + 1, end = needs_former ? own : count;
      LIB_TRY(p_.is_solve ? solve(own, first, end) : multiply(own, first, end));
    }
    return CUBLAS_STATUS_SUCCESS;
  }

 private:
  XtTile place(uint64_t index) const {
    return is_left_ ? run_.tile(index, strip_, p_.m, p_.n) : run_.tile(strip_, index, p_.m, p_.n);
  }

  cublasStatus_t multiply(uint64_t own, uint64_t first, uint64_t end) {
    LIB_TRY(w_.load(kC, p_.b, place(own)));
    LIB_TRY(diagonal(own, p_.alpha));
    for (uint64_t other = first; other < end; ++other) {
      LIB_TRY(add(own, other, p_.alpha, one(p_.type)));
    }
    return w_.store(p_.c, place(own));
  }

  cublasStatus_t solve(uint64_t own, uint64_t first, uint64_t end) {
    LIB_TRY(w_.load(kC, p_.b, place(own)));
    Number scale = p_.alpha;
    for (uint64_t other = first; other < end; ++other) {
      LIB_TRY(add(own, other, number_of(p_.type, -1, 0), scale));
      scale = one(p_.type);
    }
    LIB_TRY(diagonal(own, scale));
    return w_.store(p_.c, place(own));
  }

  /// Applies A's diagonal tile: a product or a solve in place.
  cublasStatus_t diagonal(uint64_t own, const Number& alpha) {
    const XtTile c = place(own);
    const int64_t order = signed_of(run_.size(own, order_));
    const int64_t m = signed_of(c.rows), n = signed_of(c.columns);
    LIB_TRY(w_.load(kA, p_.a, run_.tile(own, own, order_, order_)));
    return Request(w_.handle(), p_.is_solve ? KMB_BLAS_TRSM : KMB_BLAS_TRMM, p_.type)
        .side(p_.side)
        .triangle(p_.triangle)
        .operation("trans", p_.operation)
        .diagonal(p_.diagonal)
        .m(m)
        .n(n)
        .alpha(alpha.bytes)
        .a(w_.data(kA), order, order, order)
        .b_written(w_.data(kC), m, m, n)
        .submit();
  }

  /// Adds the product of another tile, of B or of the solution so far.
  cublasStatus_t add(uint64_t own, uint64_t other, const Number& alpha, const Number& beta) {
    const XtTile c = place(own);
    const uint64_t depth = run_.size(other, order_);
    const XtTile a =
        is_left_ ? run_.tile(own, other, order_, order_) : run_.tile(other, own, order_, order_);
    LIB_TRY(load_operand(w_, is_left_ ? kA : kB, p_.a, p_.operation, a));
    LIB_TRY(w_.load(is_left_ ? kB : kA, p_.is_solve ? p_.c : p_.b, place(other)));
    return (TileProduct{p_.type, c.rows, c.columns, depth, is_left_ ? p_.operation : CUBLAS_OP_N,
                        is_left_ ? CUBLAS_OP_N : p_.operation, alpha, beta})
        .submit(w_);
  }

  XtRun& run_;
  XtWorkspace& w_;
  const XtTriangular& p_;
  const uint64_t strip_;
  const bool is_left_;
  const uint64_t order_;
};

/// Runs `body(workspace, i, j)` for the tiles for which `is_wanted(i, j)` is true.
template <class Wanted, class Body>
cublasStatus_t for_tiles(XtRun& run, uint64_t rows, uint64_t columns, Wanted&& is_wanted,
                         Body&& body) {
  for (uint64_t j = 0; j < run.tiles(columns); ++j) {
    for (uint64_t i = 0; i < run.tiles(rows); ++i) {
      if (!is_wanted(i, j)) continue;
      LIB_TRY(run.on_next_device([&](XtWorkspace& w) { return body(w, i, j); }));
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

bool all(uint64_t, uint64_t) { return true; }

}  // namespace

cublasStatus_t xt_gemm(XtHandle& handle, const XtProduct& p) {
  XtRun run(handle, p.type, std::max({p.m, p.n, p.k}));
  LIB_TRY(run.begin());
  return run.end(for_tiles(run, p.m, p.n, all, [&](XtWorkspace& w, uint64_t i, uint64_t j) {
    return gemm_tile(run, w, p, i, j);
  }));
}

cublasStatus_t xt_rank_update(XtHandle& handle, const XtRankUpdate& u) {
  XtRun run(handle, u.type, std::max(u.n, u.k));
  LIB_TRY(run.begin());
  std::vector<RankPart> parts = {{u.a, u.b, u.alpha}};
  if (u.is_twofold) {
    double alpha[2] = {};
    parts_of(u.type, u.alpha.bytes, alpha);
    const double imaginary = u.is_hermitian ? -alpha[1] : alpha[1];
    parts.push_back({u.b, u.a, number_of(u.type, alpha[0], imaginary)});
  }
  const bool is_lower = u.triangle == CUBLAS_FILL_MODE_LOWER;
  const auto is_inside = [&](uint64_t i, uint64_t j) { return is_lower ? i >= j : i <= j; };
  return run.end(for_tiles(run, u.n, u.n, is_inside, [&](XtWorkspace& w, uint64_t i, uint64_t j) {
    return rank_tile(run, w, u, parts, i, j);
  }));
}

cublasStatus_t xt_symm(XtHandle& handle, const XtSymmetric& p) {
  XtRun run(handle, p.type, std::max(p.m, p.n));
  LIB_TRY(run.begin());
  return run.end(for_tiles(run, p.m, p.n, all, [&](XtWorkspace& w, uint64_t i, uint64_t j) {
    return symmetric_tile(run, w, p, i, j);
  }));
}

cublasStatus_t xt_triangular(XtHandle& handle, const XtTriangular& p) {
  XtRun run(handle, p.type, std::max(p.m, p.n));
  LIB_TRY(run.begin());
  const uint64_t strips = run.tiles(p.side == CUBLAS_SIDE_LEFT ? p.n : p.m);
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  for (uint64_t strip = 0; strip < strips && status == CUBLAS_STATUS_SUCCESS; ++strip) {
    status = run.on_next_device(
        [&](XtWorkspace& w) { return TriangularStrip(run, w, p, strip).submit(); });
  }
  return run.end(status);
}

}  // namespace km::cublas
