//! Sparse matrices: products and solvers. Methods of `Blas`.
const std = @import("std");
const c = @import("c");
const errors = @import("../errors.zig");
const types = @import("types.zig");
const asVector = types.asVector;
const blas_file = @import("blas.zig");
const Blas = blas_file.Blas;
const Context = @import("../context.zig").Context;
const Diagonal = blas_file.Diagonal;
const Error = errors.Error;
const Matrix = types.Matrix;
const Operation = blas_file.Operation;
const Slice = @import("../memory.zig").Slice;
const Stream = @import("../stream.zig").Stream;
const Triangle = blas_file.Triangle;
const columnsOf = blas_file.columnsOf;
const rowsOf = blas_file.rowsOf;

const not_square = "the matrix is not square";
const x_misfit = "x and op(A)'s columns differ";
const y_misfit = "y and op(A)'s rows differ";

/// How a sparse matrix is stored: its nonzeros row by row, column by column, or with the row and the
/// column of each.
pub const SparseFormat = enum(i32) {
    csr = c.KM_SPARSE_FORMAT_CSR,
    csc = c.KM_SPARSE_FORMAT_CSC,
    coo = c.KM_SPARSE_FORMAT_COO,
};

/// A sparse matrix in three slices. Its offsets and indices are read when a call runs: on a CPU, one
/// that points outside of the matrix ends the context with error.IllegalAddress, as a fault of a
/// kernel does. Nonzeros in one place count together.
pub fn SparseMatrix(comptime T: type) type {
    return struct {
        rows: u64,
        columns: u64,
        raw: c.km_sparse_matrix,

        const Self = @This();
        pub const BlasElement = T;

        /// A matrix of as many nonzeros as there are values. `offsets` has the begin of each row
        /// (csr) or column (csc) and the end of the last one, or with coo the row of each nonzero;
        /// `indices` has the column (csc: the row) of each nonzero. Both are slices of i32 or i64.
        pub fn of(
            format: SparseFormat,
            rows: u64,
            columns: u64,
            offsets: anytype,
            indices: @TypeOf(offsets),
            values: Slice(T),
        ) Self {
            const bytes = switch (@TypeOf(offsets)) {
                Slice(i32) => 4,
                Slice(i64) => 8,
                else => @compileError("offsets and indices are slices of i32 or i64, not " ++
                    @typeName(@TypeOf(offsets))),
            };
            return .{ .rows = rows, .columns = columns, .raw = .{
                .format = @intFromEnum(format),
                .index_size_bytes = bytes,
                .index_base = 0,
                .reserved = 0,
                .rows = rows,
                .columns = columns,
                .nonzeros = values.len,
                .offsets = arrayOf(offsets),
                .indices = arrayOf(indices),
                .values = arrayOf(values),
            } };
        }

        /// This matrix with rows and columns that count from 1, as in Fortran.
        pub fn oneBased(matrix: Self) Self {
            var other = matrix;
            other.raw.index_base = 1;
            return other;
        }
    };
}

fn arrayOf(slice: anytype) c.km_array {
    return .{ .slice = @intFromPtr(slice.handle), .address = 0, .offset = 0, .stride = 0 };
}

/// y = alpha op(A) x + beta y; increments are at least 1. C: km_sparse_mv.
pub fn sparseMv(
    blas: Blas,
    comptime T: type,
    operation: Operation,
    alpha: T,
    a: SparseMatrix(T),
    x: anytype,
    beta: T,
    y: anytype,
) Error!void {
    const from = asVector(T, x);
    const to = asVector(T, y);
    try blas.same(x_misfit, from.len, columnsOf(operation, a));
    try blas.same(y_misfit, to.len, rowsOf(operation, a));
    const op = @intFromEnum(operation);
    try blas.call(T, c.km_sparse_mv, .{ op, &alpha, &a.raw, &from.raw, &beta, &to.raw });
}

/// C = alpha op(A) op(B) + beta C. C: km_sparse_mm.
pub fn sparseMm(
    blas: Blas,
    comptime T: type,
    operation_a: Operation,
    operation_b: Operation,
    alpha: T,
    a: SparseMatrix(T),
    b: Matrix(T),
    beta: T,
    to: Matrix(T),
) Error!void {
    const inner = "op(A)'s columns and op(B)'s rows differ";
    try blas.same(inner, columnsOf(operation_a, a), rowsOf(operation_b, b));
    try blas.same("C's and op(A)'s rows differ", to.rows, rowsOf(operation_a, a));
    try blas.same("C's and op(B)'s columns differ", to.columns, columnsOf(operation_b, b));
    const raw_b = blas.raw(b);
    const raw_c = blas.raw(to);
    const ops = .{ @intFromEnum(operation_a), @intFromEnum(operation_b), to.columns };
    try blas.call(T, c.km_sparse_mm, ops ++ .{ &alpha, &a.raw, &raw_b, &beta, &raw_c });
}

/// Solves op(A) y = alpha x for a triangular A, whose other triangle is not used; y may be x.
/// C: km_sparse_sv.
pub fn sparseSv(
    blas: Blas,
    comptime T: type,
    operation: Operation,
    triangle: Triangle,
    diagonal: Diagonal,
    alpha: T,
    a: SparseMatrix(T),
    x: anytype,
    y: anytype,
) Error!void {
    const from = asVector(T, x);
    const to = asVector(T, y);
    try blas.same(not_square, a.rows, a.columns);
    try blas.same(x_misfit, from.len, a.columns);
    try blas.same(y_misfit, to.len, a.rows);
    const kind = .{ @intFromEnum(operation), @intFromEnum(triangle), @intFromEnum(diagonal) };
    try blas.call(T, c.km_sparse_sv, kind ++ .{ &alpha, &a.raw, &from.raw, &to.raw });
}

/// Solves op(A) C = alpha B for a triangular A; C may be B. C: km_sparse_sm.
pub fn sparseSm(
    blas: Blas,
    comptime T: type,
    operation: Operation,
    triangle: Triangle,
    diagonal: Diagonal,
    alpha: T,
    a: SparseMatrix(T),
    b: Matrix(T),
    to: Matrix(T),
) Error!void {
    try blas.same(not_square, a.rows, a.columns);
    try blas.same("B's and A's rows differ", b.rows, a.rows);
    try blas.same("C's and B's rows differ", to.rows, b.rows);
    try blas.same("C's and B's columns differ", to.columns, b.columns);
    const raw_b = blas.raw(b);
    const raw_c = blas.raw(to);
    const kind = .{ @intFromEnum(operation), @intFromEnum(triangle), @intFromEnum(diagonal) };
    const rest = .{ b.columns, &alpha, &a.raw, &raw_b, &raw_c };
    try blas.call(T, c.km_sparse_sm, kind ++ rest);
}

test SparseMatrix {
    const context = try Context.open("cpu", null);
    defer context.deinit();
    const stream = try Stream.init(context);
    defer stream.deinit();
    const blas = try Blas.init(stream, .rows);
    defer blas.deinit();
    // 1 0 2
    // 0 3 0
    const offsets = try Slice(i32).initCopy(context, stream, &.{ 0, 2, 3 });
    defer offsets.deinit();
    const columns = try Slice(i32).initCopy(context, stream, &.{ 0, 2, 1 });
    defer columns.deinit();
    const values = try Slice(f32).initCopy(context, stream, &.{ 1, 2, 3 });
    defer values.deinit();
    const a = SparseMatrix(f32).of(.csr, 2, 3, offsets, columns, values);
    const x = try Slice(f32).initCopy(context, stream, &.{ 1, 10, 100 });
    defer x.deinit();
    const y = try Slice(f32).initZeroed(context, 2);
    defer y.deinit();
    try blas.sparseMv(f32, .none, 1, a, x, 0, y);
    try stream.synchronize();
    try std.testing.expectEqualSlices(f32, &.{ 201, 30 }, try y.hostElements());
}
