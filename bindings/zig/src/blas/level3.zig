//! Level 3: products of matrices. Methods of `Blas`.
const c = @import("c");
const errors = @import("../errors.zig");
const types = @import("types.zig");
const blas_file = @import("blas.zig");
const Blas = blas_file.Blas;
const Diagonal = blas_file.Diagonal;
const Error = errors.Error;
const Matrix = types.Matrix;
const Operation = blas_file.Operation;
const Scalar = types.Scalar;
const Side = blas_file.Side;
const Triangle = blas_file.Triangle;
const columnsOf = blas_file.columnsOf;
const rowsOf = blas_file.rowsOf;

/// C = alpha op(A) op(B) + beta C. f16 and Bf16 are multiplied and added in f32, and alpha and beta
/// are f32. C: km_blas_gemm.
pub fn gemm(
    blas: Blas,
    comptime T: type,
    operation_a: Operation,
    operation_b: Operation,
    alpha: Scalar(T),
    a: Matrix(T),
    b: Matrix(T),
    beta: Scalar(T),
    result: Matrix(T),
) Error!void {
    const k = try innerSize(blas, operation_a, operation_b, a, b, result);
    const raw_a = blas.raw(a);
    const raw_b = blas.raw(b);
    const raw_c = blas.raw(result);
    const kinds = .{ @intFromEnum(operation_a), @intFromEnum(operation_b) };
    const sizes = .{ result.rows, result.columns, k };
    const rest = .{ &alpha, &raw_a, &raw_b, &beta, &raw_c };
    try blas.call(T, c.km_blas_gemm, kinds ++ sizes ++ rest);
}

/// Like `gemm` for `count` matrices each, which are `Matrix.stride` elements apart; a stride of 0
/// uses the same A or B for all. C: km_blas_gemm_strided_batched.
pub fn gemmStridedBatched(
    blas: Blas,
    comptime T: type,
    operation_a: Operation,
    operation_b: Operation,
    alpha: Scalar(T),
    a: Matrix(T),
    b: Matrix(T),
    beta: Scalar(T),
    result: Matrix(T),
    count: u64,
) Error!void {
    const k = try innerSize(blas, operation_a, operation_b, a, b, result);
    const raw_a = blas.raw(a);
    const raw_b = blas.raw(b);
    const raw_c = blas.raw(result);
    const kinds = .{ @intFromEnum(operation_a), @intFromEnum(operation_b) };
    const sizes = .{ result.rows, result.columns, k };
    const rest = .{ &alpha, &raw_a, &raw_b, &beta, &raw_c, count };
    try blas.call(T, c.km_blas_gemm_strided_batched, kinds ++ sizes ++ rest);
}

/// The columns of op(A), when all sizes fit.
fn innerSize(
    blas: Blas,
    operation_a: Operation,
    operation_b: Operation,
    a: anytype,
    b: anytype,
    result: anytype,
) error{InvalidArgument}!u64 {
    const k = columnsOf(operation_a, a);
    try blas.same("op(A)'s columns and op(B)'s rows differ", k, rowsOf(operation_b, b));
    try blas.same("the rows of op(A) and C differ", rowsOf(operation_a, a), result.rows);
    try blas.same("the columns of op(B) and C differ", columnsOf(operation_b, b), result.columns);
    return k;
}

/// C = alpha A B + beta C, or with the side right alpha B A + beta C, for a symmetric A of which
/// one triangle is read. C: km_blas_symm.
pub fn symm(
    blas: Blas,
    comptime T: type,
    side: Side,
    triangle: Triangle,
    alpha: T,
    a: Matrix(T),
    b: Matrix(T),
    beta: T,
    result: Matrix(T),
) Error!void {
    try requireSquare(blas, side, a, result);
    try blas.same("the rows of B and C differ", b.rows, result.rows);
    try blas.same("the columns of B and C differ", b.columns, result.columns);
    const raw_a = blas.raw(a);
    const raw_b = blas.raw(b);
    const raw_c = blas.raw(result);
    const kinds = .{ @intFromEnum(side), @intFromEnum(triangle), result.rows, result.columns };
    try blas.call(T, c.km_blas_symm, kinds ++ .{ &alpha, &raw_a, &raw_b, &beta, &raw_c });
}

/// Like `symm` for a Hermitian A. C: km_blas_hemm.
pub fn hemm(
    blas: Blas,
    comptime T: type,
    side: Side,
    triangle: Triangle,
    alpha: T,
    a: Matrix(T),
    b: Matrix(T),
    beta: T,
    result: Matrix(T),
) Error!void {
    try requireSquare(blas, side, a, result);
    try blas.same("the rows of B and C differ", b.rows, result.rows);
    try blas.same("the columns of B and C differ", b.columns, result.columns);
    const raw_a = blas.raw(a);
    const raw_b = blas.raw(b);
    const raw_c = blas.raw(result);
    const kinds = .{ @intFromEnum(side), @intFromEnum(triangle), result.rows, result.columns };
    try blas.call(T, c.km_blas_hemm, kinds ++ .{ &alpha, &raw_a, &raw_b, &beta, &raw_c });
}

/// C = alpha A A^T + beta C, or with a transposition alpha A^T A + beta C, in one triangle of C. C:
/// km_blas_syrk.
pub fn syrk(
    blas: Blas,
    comptime T: type,
    triangle: Triangle,
    operation: Operation,
    alpha: T,
    a: Matrix(T),
    beta: T,
    result: Matrix(T),
) Error!void {
    const n = try orderOf(blas, operation, a, result);
    const k = columnsOf(operation, a);
    const raw_a = blas.raw(a);
    const raw_c = blas.raw(result);
    const kinds = .{ @intFromEnum(triangle), @intFromEnum(operation), n, k };
    try blas.call(T, c.km_blas_syrk, kinds ++ .{ &alpha, &raw_a, &beta, &raw_c });
}

/// C = alpha A A^H + beta C, or with a conjugate transposition alpha A^H A + beta C, in one
/// triangle. C: km_blas_herk.
pub fn herk(
    blas: Blas,
    comptime T: type,
    triangle: Triangle,
    operation: Operation,
    alpha: types.Real(T),
    a: Matrix(T),
    beta: types.Real(T),
    result: Matrix(T),
) Error!void {
    const n = try orderOf(blas, operation, a, result);
    const k = columnsOf(operation, a);
    const raw_a = blas.raw(a);
    const raw_c = blas.raw(result);
    const kinds = .{ @intFromEnum(triangle), @intFromEnum(operation), n, k };
    try blas.call(T, c.km_blas_herk, kinds ++ .{ &alpha, &raw_a, &beta, &raw_c });
}

/// C = alpha A B^T + alpha B A^T + beta C, or with a transposition alpha A^T B + alpha B^T A +
/// beta C, in one triangle. C: km_blas_syr2k.
pub fn syr2k(
    blas: Blas,
    comptime T: type,
    triangle: Triangle,
    operation: Operation,
    alpha: T,
    a: Matrix(T),
    b: Matrix(T),
    beta: T,
    result: Matrix(T),
) Error!void {
    const n = try orderOf(blas, operation, a, result);
    const k = columnsOf(operation, a);
    try blas.same("the rows of A and B differ", a.rows, b.rows);
    try blas.same("the columns of A and B differ", a.columns, b.columns);
    const raw_a = blas.raw(a);
    const raw_b = blas.raw(b);
    const raw_c = blas.raw(result);
    const kinds = .{ @intFromEnum(triangle), @intFromEnum(operation), n, k };
    try blas.call(T, c.km_blas_syr2k, kinds ++ .{ &alpha, &raw_a, &raw_b, &beta, &raw_c });
}

/// C = alpha A B^H + conj(alpha) B A^H + beta C, or with a conjugate transposition alpha A^H B +
/// conj(alpha) B^H A + beta C, in one triangle. C: km_blas_her2k.
pub fn her2k(
    blas: Blas,
    comptime T: type,
    triangle: Triangle,
    operation: Operation,
    alpha: T,
    a: Matrix(T),
    b: Matrix(T),
    beta: types.Real(T),
    result: Matrix(T),
) Error!void {
    const n = try orderOf(blas, operation, a, result);
    const k = columnsOf(operation, a);
    try blas.same("the rows of A and B differ", a.rows, b.rows);
    try blas.same("the columns of A and B differ", a.columns, b.columns);
    const raw_a = blas.raw(a);
    const raw_b = blas.raw(b);
    const raw_c = blas.raw(result);
    const kinds = .{ @intFromEnum(triangle), @intFromEnum(operation), n, k };
    try blas.call(T, c.km_blas_her2k, kinds ++ .{ &alpha, &raw_a, &raw_b, &beta, &raw_c });
}

/// B = alpha op(A) B, or with the side right alpha B op(A), for a triangular A. C: km_blas_trmm.
pub fn trmm(
    blas: Blas,
    comptime T: type,
    side: Side,
    triangle: Triangle,
    operation: Operation,
    diagonal: Diagonal,
    alpha: T,
    a: Matrix(T),
    b: Matrix(T),
) Error!void {
    try requireSquare(blas, side, a, b);
    const raw_a = blas.raw(a);
    const raw_b = blas.raw(b);
    const places = .{ @intFromEnum(side), @intFromEnum(triangle) };
    const kinds = .{ @intFromEnum(operation), @intFromEnum(diagonal), b.rows, b.columns };
    try blas.call(T, c.km_blas_trmm, places ++ kinds ++ .{ &alpha, &raw_a, &raw_b });
}

/// Solves op(A) X = alpha B, or with the side right X op(A) = alpha B, and puts X into B, for a
/// triangular A; there is no test for a singular one. C: km_blas_trsm.
pub fn trsm(
    blas: Blas,
    comptime T: type,
    side: Side,
    triangle: Triangle,
    operation: Operation,
    diagonal: Diagonal,
    alpha: T,
    a: Matrix(T),
    b: Matrix(T),
) Error!void {
    try requireSquare(blas, side, a, b);
    const raw_a = blas.raw(a);
    const raw_b = blas.raw(b);
    const places = .{ @intFromEnum(side), @intFromEnum(triangle) };
    const kinds = .{ @intFromEnum(operation), @intFromEnum(diagonal), b.rows, b.columns };
    try blas.call(T, c.km_blas_trsm, places ++ kinds ++ .{ &alpha, &raw_a, &raw_b });
}

/// A is square and of the size of the side of C that it stands on.
fn requireSquare(blas: Blas, side: Side, a: anytype, result: anytype) error{InvalidArgument}!void {
    try blas.same("A is not square", a.rows, a.columns);
    const wanted = if (side == .left) result.rows else result.columns;
    try blas.same("A and that side of the result differ", a.rows, wanted);
}

/// The size of a square C that has op(A)'s rows.
fn orderOf(
    blas: Blas,
    operation: Operation,
    a: anytype,
    result: anytype,
) error{InvalidArgument}!u64 {
    try blas.same("C is not square", result.rows, result.columns);
    try blas.same("the rows of op(A) and C differ", rowsOf(operation, a), result.rows);
    return result.rows;
}
