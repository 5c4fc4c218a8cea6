//! BLAS in the order of a stream. docs/guide/blas.md.
const std = @import("std");
const c = @import("c");
const errors = @import("../errors.zig");
const level1 = @import("level1.zig");
const level2 = @import("level2.zig");
const level3 = @import("level3.zig");
const sparse = @import("sparse.zig");
const solve = @import("solve.zig");
const types = @import("types.zig");
const check = errors.check;
const Context = @import("../context.zig").Context;
const Diagnostics = errors.Diagnostics;
const Error = errors.Error;
const Slice = @import("../memory.zig").Slice;
const Stream = @import("../stream.zig").Stream;

/// The order of the elements of all matrices of an object.
pub const Layout = enum(i32) {
    rows = c.KM_BLAS_LAYOUT_ROWS,
    columns = c.KM_BLAS_LAYOUT_COLUMNS,
};

/// op(A): A itself, its transpose, or the conjugate of that.
pub const Operation = enum(i32) {
    none = c.KM_BLAS_OPERATION_NONE,
    transpose = c.KM_BLAS_OPERATION_TRANSPOSE,
    conjugate_transpose = c.KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE,
};

/// The triangle of a matrix that is read or written.
pub const Triangle = enum(i32) {
    lower = c.KM_BLAS_TRIANGLE_LOWER,
    upper = c.KM_BLAS_TRIANGLE_UPPER,
};

/// The diagonal of a triangular matrix: in memory, or all ones.
pub const Diagonal = enum(i32) {
    stored = c.KM_BLAS_DIAGONAL_STORED,
    unit = c.KM_BLAS_DIAGONAL_UNIT,
};

/// The side of a product on which A stands.
pub const Side = enum(i32) { left = c.KM_BLAS_SIDE_LEFT, right = c.KM_BLAS_SIDE_RIGHT };

/// BLAS calls in a stream. They return at once; what they use is kept until they are done. Scalars
/// are read before a call returns; results go to device memory. Vectors are `Slice`s or `Vector`s,
/// matrices `Matrix`es; sizes that do not fit each other are error.InvalidArgument.
pub const Blas = struct {
    handle: c.km_blas,
    layout: Layout,
    diagnostics: ?*Diagnostics = null,

    pub const axpy = level1.axpy;
    pub const scal = level1.scal;
    pub const copy = level1.copy;
    pub const swap = level1.swap;
    pub const dot = level1.dot;
    pub const dotc = level1.dotc;
    pub const nrm2 = level1.nrm2;
    pub const asum = level1.asum;
    pub const iamax = level1.iamax;
    pub const rot = level1.rot;
    pub const rotm = level1.rotm;
    pub const gemv = level2.gemv;
    pub const gbmv = level2.gbmv;
    pub const symv = level2.symv;
    pub const sbmv = level2.sbmv;
    pub const spmv = level2.spmv;
    pub const trmv = level2.trmv;
    pub const tbmv = level2.tbmv;
    pub const tpmv = level2.tpmv;
    pub const trsv = level2.trsv;
    pub const tbsv = level2.tbsv;
    pub const tpsv = level2.tpsv;
    pub const ger = level2.ger;
    pub const gerc = level2.gerc;
    pub const syr = level2.syr;
    pub const syr2 = level2.syr2;
    pub const spr = level2.spr;
    pub const spr2 = level2.spr2;
    pub const gemm = level3.gemm;
    pub const gemmStridedBatched = level3.gemmStridedBatched;
    pub const symm = level3.symm;
    pub const hemm = level3.hemm;
    pub const syrk = level3.syrk;
    pub const herk = level3.herk;
    pub const syr2k = level3.syr2k;
    pub const her2k = level3.her2k;
    pub const trmm = level3.trmm;
    pub const trsm = level3.trsm;
    pub const sparseMv = sparse.sparseMv;
    pub const sparseMm = sparse.sparseMm;
    pub const sparseSv = sparse.sparseSv;
    pub const sparseSm = sparse.sparseSm;
    pub const potrf = solve.potrf;
    pub const potrs = solve.potrs;
    pub const getrf = solve.getrf;
    pub const getrs = solve.getrs;
    pub const geqrf = solve.geqrf;
    pub const orgqr = solve.orgqr;
    pub const ormqr = solve.ormqr;
    pub const syevd = solve.syevd;
    pub const gesvd = solve.gesvd;

    /// An object for calls in a stream; error.BlasUnavailable may come from the calls when the
    /// library of the device is missing. C: km_blas_create.
    pub fn init(stream: Stream, layout: Layout) Error!Blas {
        var handle: c.km_blas = undefined;
        const got = c.km_blas_create(stream.handle, @intFromEnum(layout), &handle);
        try check(got, stream.diagnostics);
        return .{ .handle = handle, .layout = layout, .diagnostics = stream.diagnostics };
    }

    /// Drops the handle; queued calls go on. C: km_blas_destroy.
    pub fn deinit(blas: Blas) void {
        _ = c.km_blas_destroy(blas.handle);
    }

    /// Makes a call on elements of a type.
    pub fn call(blas: Blas, comptime T: type, function: anytype, arguments: anytype) Error!void {
        const all = .{ blas.handle, types.dataType(T) } ++ arguments;
        try check(@call(.auto, function, all), blas.diagnostics);
    }

    /// The matrix as the library takes it.
    pub fn raw(blas: Blas, matrix: anytype) c.km_blas_matrix {
        const line = if (blas.layout == .rows) matrix.columns else matrix.rows;
        return types.rawMatrix(matrix, @max(line, 1));
    }

    /// error.InvalidArgument unless two sizes are the same.
    pub fn same(
        blas: Blas,
        comptime what: []const u8,
        first: u64,
        second: u64,
    ) error{InvalidArgument}!void {
        if (first == second) return;
        return errors.refuse(blas.diagnostics, what ++ ": {d} and {d}", .{ first, second });
    }
};

/// op(A)'s number of rows.
pub fn rowsOf(operation: Operation, matrix: anytype) u64 {
    return if (operation == .none) matrix.rows else matrix.columns;
}

/// op(A)'s number of columns.
pub fn columnsOf(operation: Operation, matrix: anytype) u64 {
    return if (operation == .none) matrix.columns else matrix.rows;
}

test Blas {
    const context = try Context.open("cpu", null);
    defer context.deinit();
    const stream = try Stream.init(context);
    defer stream.deinit();
    const blas = try Blas.init(stream, .rows);
    defer blas.deinit();
    const a = try Slice(f32).initCopy(context, stream, &.{ 1, 2, 3, 4 });
    defer a.deinit();
    const x = try Slice(f32).initCopy(context, stream, &.{ 1, 1 });
    defer x.deinit();
    const y = try Slice(f32).initZeroed(context, 2);
    defer y.deinit();
    try blas.gemv(f32, .none, 1, types.Matrix(f32).of(a, 2, 2), x, 0, y);
    try stream.synchronize();
    try std.testing.expectEqualSlices(f32, &.{ 3, 7 }, try y.hostElements());
}
