//! Solvers of dense matrices: small ones, whose factors and values are known.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const expectError = support.expectError;
const C64 = km.Complex(f64);

const Lab = struct {
    f: support.Fixture,
    blas: km.Blas,
    info: km.Slice(i32),

    fn init(lab: *Lab) !void {
        try lab.f.init();
        lab.blas = try km.Blas.init(lab.f.stream, .rows);
        lab.info = try lab.slice(i32, &.{ 77, 77 });
    }

    fn deinit(lab: *Lab) void {
        lab.info.deinit();
        lab.blas.deinit();
        lab.f.deinit();
    }

    fn slice(lab: *Lab, comptime T: type, values: []const T) !km.Slice(T) {
        return km.Slice(T).initCopy(lab.f.context, lab.f.stream, values);
    }

    fn expectNear(lab: *Lab, wanted: []const f64, given: km.Slice(f64)) !void {
        try lab.f.stream.synchronize();
        const found = try given.hostElements();
        for (wanted, found[0..wanted.len]) |a, b| try std.testing.expectApproxEqAbs(a, b, 1e-12);
    }

    fn expectInfo(lab: *Lab, wanted: []const i32) !void {
        try lab.f.stream.synchronize();
        const found = try lab.info.hostElements();
        try std.testing.expectEqualSlices(i32, wanted, found[0..wanted.len]);
    }
};

test "Cholesky of a batch" {
    var lab: Lab = undefined;
    try lab.init();
    defer lab.deinit();
    const a = try lab.slice(f64, &.{ 4, 2, 2, 5, 1, 2, 2, 1 });
    defer a.deinit();
    const b = try lab.slice(f64, &.{ 8, 12, 4, 2 });
    defer b.deinit();
    const matrix = km.Matrix(f64).of(a, 2, 2);
    try lab.blas.potrf(f64, .lower, matrix.withStride(4), lab.info, 2);
    try lab.expectInfo(&.{ 0, 2 });
    const sides = km.Matrix(f64).of(b, 2, 1).withStride(2);
    try lab.blas.potrs(f64, .lower, matrix, sides, lab.info, 2);
    try lab.expectNear(&.{ 1, 2, 1, 0 }, b);
    const wide = km.Matrix(f64).of(a, 2, 3);
    try expectError(error.InvalidArgument, lab.blas.potrf(f64, .lower, wide, lab.info, 1));
}

test "LU with the conjugate transpose" {
    var lab: Lab = undefined;
    try lab.init();
    defer lab.deinit();
    const a = try lab.slice(C64, &.{ .init(0, 0), .init(0, 2), .init(1, 0), .init(0, 0) });
    defer a.deinit();
    const b = try lab.slice(C64, &.{ .init(3, 0), .init(4, 0) });
    defer b.deinit();
    const pivots = try lab.slice(i32, &.{ 0, 0 });
    defer pivots.deinit();
    const matrix = km.Matrix(C64).of(a, 2, 2);
    try lab.blas.getrf(C64, matrix, pivots, lab.info, 1);
    const sides = km.Matrix(C64).of(b, 2, 1);
    try lab.blas.getrs(C64, .conjugate_transpose, matrix, pivots, sides, lab.info, 1);
    try lab.expectInfo(&.{0});
    const found = try b.hostElements();
    try std.testing.expectEqual(C64.init(0, 2), found[0]);
    try std.testing.expectEqual(C64.init(3, 0), found[1]);
}

test "QR makes and applies Q" {
    var lab: Lab = undefined;
    try lab.init();
    defer lab.deinit();
    const a = try lab.slice(f64, &.{ 3, 0, 4, 5 });
    defer a.deinit();
    const sides = try lab.slice(f64, &.{ 3, 4 });
    defer sides.deinit();
    const tau = try lab.slice(f64, &.{ 0, 0 });
    defer tau.deinit();
    const matrix = km.Matrix(f64).of(a, 2, 2);
    const result = km.Matrix(f64).of(sides, 2, 1);
    try lab.blas.geqrf(f64, matrix, tau, lab.info, 1);
    try lab.blas.ormqr(f64, .left, .transpose, matrix, tau, result, lab.info, 1);
    try lab.blas.orgqr(f64, 2, matrix, tau, lab.info, 1);
    try lab.expectNear(&.{ -5, 0 }, sides);
    try lab.expectNear(&.{-0.6}, a);
}

test "eigenvalues and singular values" {
    var lab: Lab = undefined;
    try lab.init();
    defer lab.deinit();
    const a = try lab.slice(C64, &.{ .init(2, 0), .init(0, 1), .init(0, -1), .init(2, 0) });
    defer a.deinit();
    const values = try lab.slice(f64, &.{ 0, 0 });
    defer values.deinit();
    try lab.blas.syevd(C64, .all, .upper, .of(a, 2, 2), values, lab.info, 1);
    try lab.expectNear(&.{ 1, 3 }, values);
    const tall = try lab.slice(f64, &.{ 3, 0, 0, 4, 0, 0 });
    defer tall.deinit();
    const u = try lab.slice(f64, &(.{0} ** 9));
    defer u.deinit();
    const vh = try lab.slice(f64, &(.{0} ** 4));
    defer vh.deinit();
    const right = km.Matrix(f64).of(vh, 2, 2);
    const matrix = km.Matrix(f64).of(tall, 3, 2);
    try lab.blas.gesvd(f64, matrix, values, .{ .u = .of(u, 3, 3), .vh = right }, lab.info, 1);
    try lab.expectNear(&.{ 4, 3 }, values);
    const other = try lab.slice(f64, &.{ 0, 2, 1, 0 });
    defer other.deinit();
    try lab.blas.gesvd(f64, .of(other, 2, 2), values, null, lab.info, 1);
    try lab.expectNear(&.{ 2, 1 }, values);
    try lab.expectInfo(&.{0});
}
