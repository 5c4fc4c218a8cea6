//! Factors, solvers, eigenvalues and singular values of dense matrices. Methods of `Blas`. Each works
//! on `count` matrices, which are `Matrix.stride` elements apart; slices of numbers have those of one
//! matrix after those of the other. `info` gets one number for each matrix: 0, or what LAPACK
//! reports of it. docs/guide/solve.md.
const c = @import("c");
const errors = @import("../errors.zig");
const types = @import("types.zig");
const blas_file = @import("blas.zig");
const Blas = blas_file.Blas;
const Error = errors.Error;
const Matrix = types.Matrix;
const Operation = blas_file.Operation;
const Real = types.Real;
const Side = blas_file.Side;
const Slice = @import("../memory.zig").Slice;
const Triangle = blas_file.Triangle;

fn numbers(slice: anytype, each: u64) c.km_array {
    return .{ .slice = @intFromPtr(slice.handle), .address = 0, .offset = 0, .stride = each };
}

/// A = L L^H or U^H U, the Cholesky factor in the triangle that is read. C: km_solve_potrf.
pub fn potrf(
    blas: Blas,
    comptime T: type,
    triangle: Triangle,
    a: Matrix(T),
    info: Slice(i32),
    count: u64,
) Error!void {
    try blas.same("rows and columns of the matrix of potrf", a.rows, a.columns);
    const raw_a = blas.raw(a);
    const infos = numbers(info, 1);
    try blas.call(T, c.km_solve_potrf, .{
        @intFromEnum(triangle), a.rows, count, &raw_a, &infos,
    });
}

/// Solves A X = B by potrf's factor; X overwrites B. C: km_solve_potrs.
pub fn potrs(
    blas: Blas,
    comptime T: type,
    triangle: Triangle,
    a: Matrix(T),
    b: Matrix(T),
    info: Slice(i32),
    count: u64,
) Error!void {
    try blas.same("rows and columns of the matrix of potrs", a.rows, a.columns);
    try blas.same("rows of A and B", a.rows, b.rows);
    const raw_a = blas.raw(a);
    const raw_b = blas.raw(b);
    const infos = numbers(info, 1);
    try blas.call(T, c.km_solve_potrs, .{
        @intFromEnum(triangle), b.rows, b.columns, count, &raw_a, &raw_b, &infos,
    });
}

/// P A = L U, which the factors overwrite: row i was exchanged with row pivots[i], from 1 on.
/// C: km_solve_getrf.
pub fn getrf(
    blas: Blas,
    comptime T: type,
    a: Matrix(T),
    pivots: Slice(i32),
    info: Slice(i32),
    count: u64,
) Error!void {
    const raw_a = blas.raw(a);
    const exchanges = numbers(pivots, @min(a.rows, a.columns));
    const infos = numbers(info, 1);
    try blas.call(T, c.km_solve_getrf, .{ a.rows, a.columns, count, &raw_a, &exchanges, &infos });
}

/// Solves op(A) X = B by getrf's factors; X overwrites B. Pivots of other origin may lead a GPU to
/// memory that is not the matrix's. C: km_solve_getrs.
pub fn getrs(
    blas: Blas,
    comptime T: type,
    operation: Operation,
    a: Matrix(T),
    pivots: Slice(i32),
    b: Matrix(T),
    info: Slice(i32),
    count: u64,
) Error!void {
    try blas.same("rows and columns of the matrix of getrs", a.rows, a.columns);
    try blas.same("rows of A and B", a.rows, b.rows);
    const raw_a = blas.raw(a);
    const raw_b = blas.raw(b);
    const exchanges = numbers(pivots, a.rows);
    const infos = numbers(info, 1);
    const sizes = .{ @intFromEnum(operation), b.rows, b.columns, count };
    try blas.call(T, c.km_solve_getrs, sizes ++ .{ &raw_a, &exchanges, &raw_b, &infos });
}

/// A = Q R: R in the upper triangle, below it and in `tau` the reflections that make Q.
/// C: km_solve_geqrf.
pub fn geqrf(
    blas: Blas,
    comptime T: type,
    a: Matrix(T),
    tau: Slice(T),
    info: Slice(i32),
    count: u64,
) Error!void {
    const raw_a = blas.raw(a);
    const factors = numbers(tau, @min(a.rows, a.columns));
    const infos = numbers(info, 1);
    try blas.call(T, c.km_solve_geqrf, .{ a.rows, a.columns, count, &raw_a, &factors, &infos });
}

/// The first columns of Q, as many as A has, from `k` reflections, which they overwrite.
/// C: km_solve_orgqr.
pub fn orgqr(
    blas: Blas,
    comptime T: type,
    k: u64,
    a: Matrix(T),
    tau: Slice(T),
    info: Slice(i32),
    count: u64,
) Error!void {
    const raw_a = blas.raw(a);
    const factors = numbers(tau, k);
    const infos = numbers(info, 1);
    try blas.call(T, c.km_solve_orgqr, .{ a.rows, a.columns, k, count, &raw_a, &factors, &infos });
}

/// C = op(Q) C, or with the side right C op(Q), for the reflections in the columns of A.
/// C: km_solve_ormqr.
pub fn ormqr(
    blas: Blas,
    comptime T: type,
    side: Side,
    operation: Operation,
    a: Matrix(T),
    tau: Slice(T),
    result: Matrix(T),
    info: Slice(i32),
    count: u64,
) Error!void {
    const order = if (side == .left) result.rows else result.columns;
    try blas.same("rows of A and the order of Q", a.rows, order);
    const raw_a = blas.raw(a);
    const raw_c = blas.raw(result);
    const factors = numbers(tau, a.columns);
    const infos = numbers(info, 1);
    const kinds = .{ @intFromEnum(side), @intFromEnum(operation) };
    const sizes = .{ result.rows, result.columns, a.columns, count };
    const rest = .{ &raw_a, &factors, &raw_c, &infos };
    try blas.call(T, c.km_solve_ormqr, kinds ++ sizes ++ rest);
}

/// The vectors of an eigenvalue problem: none, or those that take A's place.
pub const EigenVectors = enum(i32) {
    none = c.KM_SOLVE_VECTORS_NONE,
    all = c.KM_SOLVE_VECTORS_ALL,
};

/// The eigenvalues of a symmetric or Hermitian matrix in ascending order; A gets the vectors or is
/// destroyed. C: km_solve_syevd.
pub fn syevd(
    blas: Blas,
    comptime T: type,
    vectors: EigenVectors,
    triangle: Triangle,
    a: Matrix(T),
    values: Slice(Real(T)),
    info: Slice(i32),
    count: u64,
) Error!void {
    try blas.same("rows and columns of the matrix of syevd", a.rows, a.columns);
    const raw_a = blas.raw(a);
    const reals = numbers(values, a.rows);
    const infos = numbers(info, 1);
    const kinds = .{ @intFromEnum(vectors), @intFromEnum(triangle) };
    try blas.call(T, c.km_solve_syevd, kinds ++ .{ a.rows, count, &raw_a, &reals, &infos });
}

/// The vectors of `gesvd`: U with a column and V^H with a row for each value; or both square.
pub fn SingularVectors(comptime T: type) type {
    return struct { u: Matrix(T), vh: Matrix(T) };
}

/// A = U S V^H: the singular values in descending order, and the vectors or, for null, none. A is
/// destroyed. C: km_solve_gesvd.
pub fn gesvd(
    blas: Blas,
    comptime T: type,
    a: Matrix(T),
    values: Slice(Real(T)),
    vectors: ?SingularVectors(T),
    info: Slice(i32),
    count: u64,
) Error!void {
    const least = @min(a.rows, a.columns);
    const raw_a = blas.raw(a);
    const reals = numbers(values, least);
    const infos = numbers(info, 1);
    const both = vectors orelse {
        return blas.call(T, c.km_solve_gesvd, .{
            c.KM_SOLVE_VECTORS_NONE, a.rows, a.columns, count, &raw_a, &reals, null, null, &infos,
        });
    };
    try blas.same("rows of U and A", both.u.rows, a.rows);
    try blas.same("columns of V^H and A", both.vh.columns, a.columns);
    const is_thin = both.u.columns == least and both.vh.rows == least;
    if (!is_thin) {
        try blas.same("columns of U and rows of A", both.u.columns, a.rows);
        try blas.same("rows of V^H and columns of A", both.vh.rows, a.columns);
    }
    const raw_u = blas.raw(both.u);
    const raw_vh = blas.raw(both.vh);
    const kind: i32 = if (is_thin) c.KM_SOLVE_VECTORS_THIN else c.KM_SOLVE_VECTORS_ALL;
    const sizes = .{ kind, a.rows, a.columns, count };
    try blas.call(T, c.km_solve_gesvd, sizes ++ .{ &raw_a, &reals, &raw_u, &raw_vh, &infos });
}
