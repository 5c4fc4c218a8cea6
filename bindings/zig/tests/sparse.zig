//! Sparse calls on small numbers whose results are exact.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const expectError = support.expectError;
const expectEqualSlices = std.testing.expectEqualSlices;

const Lab = struct {
    f: support.Fixture,
    blas: km.Blas,

    fn init(lab: *Lab) !void {
        try lab.f.init();
        lab.blas = try km.Blas.init(lab.f.stream, .rows);
    }

    fn deinit(lab: *Lab) void {
        lab.blas.deinit();
        lab.f.deinit();
    }

    fn slice(lab: *Lab, comptime T: type, values: []const T) !km.Slice(T) {
        return km.Slice(T).initCopy(lab.f.context, lab.f.stream, values);
    }

    fn expectValues(lab: *Lab, wanted: []const f64, given: km.Slice(f64)) !void {
        try lab.f.stream.synchronize();
        try expectEqualSlices(f64, wanted, try given.hostElements());
    }
};

test "products in all formats" {
    var lab: Lab = undefined;
    try lab.init();
    defer lab.deinit();
    const blas = lab.blas;
    const values = try lab.slice(f64, &.{ 1, 2, 3 });
    defer values.deinit();
    const by_columns = try lab.slice(f64, &.{ 1, 3, 2 });
    defer by_columns.deinit();
    const offsets = try lab.slice(i32, &.{ 0, 2, 3 });
    defer offsets.deinit();
    const columns = try lab.slice(i32, &.{ 0, 2, 1 });
    defer columns.deinit();
    const rows = try lab.slice(i32, &.{ 0, 0, 1 });
    defer rows.deinit();
    const wide_offsets = try lab.slice(i64, &.{ 1, 2, 3, 4 });
    defer wide_offsets.deinit();
    const wide_rows = try lab.slice(i64, &.{ 1, 2, 1 });
    defer wide_rows.deinit();
    const x = try lab.slice(f64, &.{ 1, 10, 100 });
    defer x.deinit();
    const b = try lab.slice(f64, &.{ 1, 2, 3, 4, 5, 6 });
    defer b.deinit();
    const Sparse = km.SparseMatrix(f64);
    const forms = [_]Sparse{
        Sparse.of(.csr, 2, 3, offsets, columns, values),
        Sparse.of(.csc, 2, 3, wide_offsets, wide_rows, by_columns).oneBased(),
        Sparse.of(.coo, 2, 3, rows, columns, values),
    };
    for (forms) |a| {
        const y = try lab.slice(f64, &.{ 1, 1 });
        defer y.deinit();
        try blas.sparseMv(f64, .none, 2, a, x, 1, y);
        try lab.expectValues(&.{ 403, 61 }, y);
        const z = try lab.slice(f64, &.{ 0, 7, 0, 7, 0 });
        defer z.deinit();
        const every_second = km.Vector(f64).strided(z, 0, 3, 2);
        try blas.sparseMv(f64, .transpose, 1, a, y, 0, every_second);
        try lab.expectValues(&.{ 403, 7, 183, 7, 806 }, z);
        const to = try lab.slice(f64, &.{ 9, 9, 9, 9 });
        defer to.deinit();
        const result = km.Matrix(f64).of(to, 2, 2);
        try blas.sparseMm(f64, .none, .none, 1, a, km.Matrix(f64).of(b, 3, 2), 0, result);
        try lab.expectValues(&.{ 11, 14, 9, 12 }, to);
        try blas.sparseMm(f64, .none, .transpose, 1, a, km.Matrix(f64).of(b, 2, 3), 0, result);
        try lab.expectValues(&.{ 7, 16, 6, 15 }, to);
    }
}

test "solutions, and what is refused" {
    var lab: Lab = undefined;
    try lab.init();
    defer lab.deinit();
    const blas = lab.blas;
    const values = try lab.slice(f64, &.{ 2, 1, 4 });
    defer values.deinit();
    const offsets = try lab.slice(i32, &.{ 0, 1, 3 });
    defer offsets.deinit();
    const columns = try lab.slice(i32, &.{ 0, 0, 1 });
    defer columns.deinit();
    const a = km.SparseMatrix(f64).of(.csr, 2, 2, offsets, columns, values);
    const x = try lab.slice(f64, &.{ 4, 10 });
    defer x.deinit();
    const y = try lab.slice(f64, &.{ 0, 0 });
    defer y.deinit();
    try blas.sparseSv(f64, .none, .lower, .stored, 1, a, x, y);
    try lab.expectValues(&.{ 2, 2 }, y);
    try blas.sparseSv(f64, .transpose, .lower, .unit, 1, a, x, x);
    try lab.expectValues(&.{ -6, 10 }, x);
    const m = try lab.slice(f64, &.{ 4, 2, 10, 5 });
    defer m.deinit();
    const b = km.Matrix(f64).of(m, 2, 2);
    try blas.sparseSm(f64, .none, .lower, .stored, 1, a, b, b);
    try lab.expectValues(&.{ 2, 1, 2, 1 }, m);
    const long = km.Vector(f64).of(m);
    try expectError(error.InvalidArgument, blas.sparseMv(f64, .none, 1, a, long, 0, y));
    const backward = km.Vector(f64).strided(x, 0, 2, -1);
    try expectError(error.InvalidArgument, blas.sparseMv(f64, .none, 1, a, backward, 0, y));
    const wide = km.SparseMatrix(f64).of(.csr, 3, 2, offsets, columns, values);
    try expectError(error.InvalidArgument, blas.sparseSv(f64, .none, .lower, .unit, 1, wide, x, y));
    const large = km.SparseMatrix(f64).of(.csr, 2, 2, columns, columns, m);
    try expectError(error.OutOfBounds, blas.sparseMv(f64, .none, 1, large, x, 0, y));
}
