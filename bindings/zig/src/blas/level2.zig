//! Level 2: matrices and vectors. Methods of `Blas`.
const c = @import("c");
const errors = @import("../errors.zig");
const types = @import("types.zig");
const asVector = types.asVector;
const blas_file = @import("blas.zig");
const Blas = blas_file.Blas;
const Diagonal = blas_file.Diagonal;
const Error = errors.Error;
const Matrix = types.Matrix;
const Operation = blas_file.Operation;
const Triangle = blas_file.Triangle;
const columnsOf = blas_file.columnsOf;
const rowsOf = blas_file.rowsOf;

const not_square = "the matrix is not square";
const x_misfit = "x and op(A)'s columns differ";
const y_misfit = "y and op(A)'s rows differ";

/// y = alpha op(A) x + beta y. C: km_blas_gemv.
pub fn gemv(
    blas: Blas,
    comptime T: type,
    operation: Operation,
    alpha: T,
    a: Matrix(T),
    x: anytype,
    beta: T,
    y: anytype,
) Error!void {
    const from = asVector(T, x);
    const to = asVector(T, y);
    try blas.same(x_misfit, from.len, columnsOf(operation, a));
    try blas.same(y_misfit, to.len, rowsOf(operation, a));
    const raw = blas.raw(a);
    const op = @intFromEnum(operation);
    const arguments = .{ op, a.rows, a.columns, &alpha, &raw, &from.raw, &beta, &to.raw };
    try blas.call(T, c.km_blas_gemv, arguments);
}

/// Like `gemv` for a band matrix with `lower` diagonals below the main one and `upper` above it, in
/// lower + upper + 1 elements a line. C: km_blas_gbmv.
pub fn gbmv(
    blas: Blas,
    comptime T: type,
    operation: Operation,
    lower: u64,
    upper: u64,
    alpha: T,
    a: Matrix(T),
    x: anytype,
    beta: T,
    y: anytype,
) Error!void {
    const from = asVector(T, x);
    const to = asVector(T, y);
    try blas.same(x_misfit, from.len, columnsOf(operation, a));
    try blas.same(y_misfit, to.len, rowsOf(operation, a));
    const raw = types.rawMatrix(a, lower +| upper +| 1);
    const sizes = .{ @intFromEnum(operation), a.rows, a.columns, lower, upper };
    const rest = .{ &alpha, &raw, &from.raw, &beta, &to.raw };
    try blas.call(T, c.km_blas_gbmv, sizes ++ rest);
}

/// y = alpha A x + beta y for a symmetric or, for complex numbers, Hermitian matrix, of which one
/// triangle is read. C: km_blas_symv.
pub fn symv(
    blas: Blas,
    comptime T: type,
    triangle: Triangle,
    alpha: T,
    a: Matrix(T),
    x: anytype,
    beta: T,
    y: anytype,
) Error!void {
    const from = asVector(T, x);
    const to = asVector(T, y);
    try blas.same(not_square, a.rows, a.columns);
    try blas.same(x_misfit, from.len, a.columns);
    try blas.same(y_misfit, to.len, a.rows);
    const raw = blas.raw(a);
    const part = @intFromEnum(triangle);
    const arguments = .{ part, a.rows, &alpha, &raw, &from.raw, &beta, &to.raw };
    try blas.call(T, c.km_blas_symv, arguments);
}

/// Like `symv` for a band matrix with k diagonals beside the main one, in k + 1 elements a line. C:
/// km_blas_sbmv.
pub fn sbmv(
    blas: Blas,
    comptime T: type,
    triangle: Triangle,
    k: u64,
    alpha: T,
    a: Matrix(T),
    x: anytype,
    beta: T,
    y: anytype,
) Error!void {
    const from = asVector(T, x);
    const to = asVector(T, y);
    try blas.same(not_square, a.rows, a.columns);
    try blas.same(x_misfit, from.len, a.columns);
    try blas.same(y_misfit, to.len, a.rows);
    const raw = types.rawMatrix(a, k +| 1);
    const part = @intFromEnum(triangle);
    const arguments = .{ part, a.rows, k, &alpha, &raw, &from.raw, &beta, &to.raw };
    try blas.call(T, c.km_blas_sbmv, arguments);
}

/// Like `symv` for a packed triangle, whose elements lie one after the other. C: km_blas_spmv.
pub fn spmv(
    blas: Blas,
    comptime T: type,
    triangle: Triangle,
    alpha: T,
    a: Matrix(T),
    x: anytype,
    beta: T,
    y: anytype,
) Error!void {
    const from = asVector(T, x);
    const to = asVector(T, y);
    try blas.same(not_square, a.rows, a.columns);
    try blas.same(x_misfit, from.len, a.columns);
    try blas.same(y_misfit, to.len, a.rows);
    const raw = types.rawMatrix(a, 0);
    const part = @intFromEnum(triangle);
    const arguments = .{ part, a.rows, &alpha, &raw, &from.raw, &beta, &to.raw };
    try blas.call(T, c.km_blas_spmv, arguments);
}

/// x = op(A) x for a triangular matrix. C: km_blas_trmv.
pub fn trmv(
    blas: Blas,
    comptime T: type,
    triangle: Triangle,
    operation: Operation,
    diagonal: Diagonal,
    a: Matrix(T),
    x: anytype,
) Error!void {
    const vector = asVector(T, x);
    try blas.same(not_square, a.rows, a.columns);
    try blas.same(x_misfit, vector.len, a.columns);
    const raw = blas.raw(a);
    const kinds = .{ @intFromEnum(triangle), @intFromEnum(operation), @intFromEnum(diagonal) };
    try blas.call(T, c.km_blas_trmv, kinds ++ .{ a.rows, &raw, &vector.raw });
}

/// Like `trmv` for a band matrix with k diagonals beside the main one. C: km_blas_tbmv.
pub fn tbmv(
    blas: Blas,
    comptime T: type,
    triangle: Triangle,
    operation: Operation,
    diagonal: Diagonal,
    k: u64,
    a: Matrix(T),
    x: anytype,
) Error!void {
    const vector = asVector(T, x);
    try blas.same(not_square, a.rows, a.columns);
    try blas.same(x_misfit, vector.len, a.columns);
    const raw = types.rawMatrix(a, k +| 1);
    const kinds = .{ @intFromEnum(triangle), @intFromEnum(operation), @intFromEnum(diagonal) };
    try blas.call(T, c.km_blas_tbmv, kinds ++ .{ a.rows, k, &raw, &vector.raw });
}

/// Like `trmv` for a packed triangle. C: km_blas_tpmv.
pub fn tpmv(
    blas: Blas,
    comptime T: type,
    triangle: Triangle,
    operation: Operation,
    diagonal: Diagonal,
    a: Matrix(T),
    x: anytype,
) Error!void {
    const vector = asVector(T, x);
    try blas.same(not_square, a.rows, a.columns);
    try blas.same(x_misfit, vector.len, a.columns);
    const raw = types.rawMatrix(a, 0);
    const kinds = .{ @intFromEnum(triangle), @intFromEnum(operation), @intFromEnum(diagonal) };
    try blas.call(T, c.km_blas_tpmv, kinds ++ .{ a.rows, &raw, &vector.raw });
}

/// Solves op(A) z = x and puts z into x, without a test for a singular matrix. C: km_blas_trsv.
pub fn trsv(
    blas: Blas,
    comptime T: type,
    triangle: Triangle,
    operation: Operation,
    diagonal: Diagonal,
    a: Matrix(T),
    x: anytype,
) Error!void {
    const vector = asVector(T, x);
    try blas.same(not_square, a.rows, a.columns);
    try blas.same(x_misfit, vector.len, a.columns);
    const raw = blas.raw(a);
    const kinds = .{ @intFromEnum(triangle), @intFromEnum(operation), @intFromEnum(diagonal) };
    try blas.call(T, c.km_blas_trsv, kinds ++ .{ a.rows, &raw, &vector.raw });
}

/// Like `trsv` for a band matrix with k diagonals beside the main one. C: km_blas_tbsv.
pub fn tbsv(
    blas: Blas,
    comptime T: type,
    triangle: Triangle,
    operation: Operation,
    diagonal: Diagonal,
    k: u64,
    a: Matrix(T),
    x: anytype,
) Error!void {
    const vector = asVector(T, x);
    try blas.same(not_square, a.rows, a.columns);
    try blas.same(x_misfit, vector.len, a.columns);
    const raw = types.rawMatrix(a, k +| 1);
    const kinds = .{ @intFromEnum(triangle), @intFromEnum(operation), @intFromEnum(diagonal) };
    try blas.call(T, c.km_blas_tbsv, kinds ++ .{ a.rows, k, &raw, &vector.raw });
}

/// Like `trsv` for a packed triangle. C: km_blas_tpsv.
pub fn tpsv(
    blas: Blas,
    comptime T: type,
    triangle: Triangle,
    operation: Operation,
    diagonal: Diagonal,
    a: Matrix(T),
    x: anytype,
) Error!void {
    const vector = asVector(T, x);
    try blas.same(not_square, a.rows, a.columns);
    try blas.same(x_misfit, vector.len, a.columns);
    const raw = types.rawMatrix(a, 0);
    const kinds = .{ @intFromEnum(triangle), @intFromEnum(operation), @intFromEnum(diagonal) };
    try blas.call(T, c.km_blas_tpsv, kinds ++ .{ a.rows, &raw, &vector.raw });
}

/// A = alpha x y^T + A. C: km_blas_ger.
pub fn ger(
    blas: Blas,
    comptime T: type,
    alpha: T,
    x: anytype,
    y: anytype,
    a: Matrix(T),
) Error!void {
    const first = asVector(T, x);
    const second = asVector(T, y);
    try blas.same("x and A's rows differ", first.len, a.rows);
    try blas.same("y and A's columns differ", second.len, a.columns);
    const raw = blas.raw(a);
    const arguments = .{ a.rows, a.columns, &alpha, &first.raw, &second.raw, &raw };
    try blas.call(T, c.km_blas_ger, arguments);
}

/// A = alpha x y^H + A. C: km_blas_gerc.
pub fn gerc(
    blas: Blas,
    comptime T: type,
    alpha: T,
    x: anytype,
    y: anytype,
    a: Matrix(T),
) Error!void {
    const first = asVector(T, x);
    const second = asVector(T, y);
    try blas.same("x and A's rows differ", first.len, a.rows);
    try blas.same("y and A's columns differ", second.len, a.columns);
    const raw = blas.raw(a);
    const arguments = .{ a.rows, a.columns, &alpha, &first.raw, &second.raw, &raw };
    try blas.call(T, c.km_blas_gerc, arguments);
}

/// A = alpha x x^T + A in one triangle; for complex numbers alpha x x^H + A. C: km_blas_syr.
pub fn syr(
    blas: Blas,
    comptime T: type,
    triangle: Triangle,
    alpha: types.Real(T),
    x: anytype,
    a: Matrix(T),
) Error!void {
    const vector = asVector(T, x);
    try blas.same(not_square, a.rows, a.columns);
    try blas.same("x and A differ", vector.len, a.rows);
    const raw = blas.raw(a);
    const arguments = .{ @intFromEnum(triangle), a.rows, &alpha, &vector.raw, &raw };
    try blas.call(T, c.km_blas_syr, arguments);
}

/// Like `syr` for a packed triangle. C: km_blas_spr.
pub fn spr(
    blas: Blas,
    comptime T: type,
    triangle: Triangle,
    alpha: types.Real(T),
    x: anytype,
    a: Matrix(T),
) Error!void {
    const vector = asVector(T, x);
    try blas.same(not_square, a.rows, a.columns);
    try blas.same("x and A differ", vector.len, a.rows);
    const raw = types.rawMatrix(a, 0);
    const arguments = .{ @intFromEnum(triangle), a.rows, &alpha, &vector.raw, &raw };
    try blas.call(T, c.km_blas_spr, arguments);
}

/// A = alpha x y^T + alpha y x^T + A in one triangle; for complex numbers
/// alpha x y^H + conj(alpha) y x^H + A. C: km_blas_syr2.
pub fn syr2(
    blas: Blas,
    comptime T: type,
    triangle: Triangle,
    alpha: T,
    x: anytype,
    y: anytype,
    a: Matrix(T),
) Error!void {
    const first = asVector(T, x);
    const second = asVector(T, y);
    try blas.same(not_square, a.rows, a.columns);
    try blas.same("x and A differ", first.len, a.rows);
    try blas.same("y and A differ", second.len, a.rows);
    const raw = blas.raw(a);
    const part = @intFromEnum(triangle);
    const arguments = .{ part, a.rows, &alpha, &first.raw, &second.raw, &raw };
    try blas.call(T, c.km_blas_syr2, arguments);
}

/// Like `syr2` for a packed triangle. C: km_blas_spr2.
pub fn spr2(
    blas: Blas,
    comptime T: type,
    triangle: Triangle,
    alpha: T,
    x: anytype,
    y: anytype,
    a: Matrix(T),
) Error!void {
    const first = asVector(T, x);
    const second = asVector(T, y);
    try blas.same(not_square, a.rows, a.columns);
    try blas.same("x and A differ", first.len, a.rows);
    try blas.same("y and A differ", second.len, a.rows);
    const raw = types.rawMatrix(a, 0);
    const part = @intFromEnum(triangle);
    const arguments = .{ part, a.rows, &alpha, &first.raw, &second.raw, &raw };
    try blas.call(T, c.km_blas_spr2, arguments);
}
