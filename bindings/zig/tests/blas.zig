//! BLAS: every routine on small numbers whose results are exact.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;
const expectEqualSlices = std.testing.expectEqualSlices;

const Lab = struct {
    f: support.Fixture,
    blas: km.Blas,

    fn init(lab: *Lab, layout: km.BlasLayout) !void {
        try lab.f.init();
        lab.blas = try km.Blas.init(lab.f.stream, layout);
    }

    fn deinit(lab: *Lab) void {
        lab.blas.deinit();
        lab.f.deinit();
    }

    fn slice(lab: *Lab, comptime T: type, values: []const T) !km.Slice(T) {
        return km.Slice(T).initCopy(lab.f.context, lab.f.stream, values);
    }

    fn expectValues(lab: *Lab, comptime T: type, wanted: []const T, given: km.Slice(T)) !void {
        try lab.f.stream.synchronize();
        try expectEqualSlices(T, wanted, try given.hostElements());
    }
};

test "level 1" {
    var lab: Lab = undefined;
    try lab.init(.rows);
    defer lab.deinit();
    const x = try lab.slice(f32, &.{ 3, -4, 0 });
    defer x.deinit();
    const y = try lab.slice(f32, &.{ 1, 1, 1 });
    defer y.deinit();
    const result = try lab.slice(f32, &.{0});
    defer result.deinit();
    const index = try lab.slice(u64, &.{7});
    defer index.deinit();
    const blas = lab.blas;
    try blas.axpy(f32, 2, x, y);
    try lab.expectValues(f32, &.{ 7, -7, 1 }, y);
    try blas.dot(f32, x, y, result);
    try lab.expectValues(f32, &.{49}, result);
    try blas.dotc(f32, x, x, result);
    try lab.expectValues(f32, &.{25}, result);
    try blas.nrm2(f32, x, result);
    try lab.expectValues(f32, &.{5}, result);
    try blas.asum(f32, x, result);
    try lab.expectValues(f32, &.{7}, result);
    try blas.iamax(f32, x, index);
    try lab.expectValues(u64, &.{1}, index);
    try blas.swap(f32, x, y);
    try lab.expectValues(f32, &.{ 7, -7, 1 }, x);
    try blas.scal(f32, 3, x);
    try blas.copy(f32, x, y);
    try lab.expectValues(f32, &.{ 21, -21, 3 }, y);
    // Every second element, backwards.
    const Vector = km.Vector(f32);
    try blas.scal(f32, -1, Vector.strided(x, 0, 2, 2));
    try lab.expectValues(f32, &.{ -21, -21, -3 }, x);
    try blas.copy(f32, Vector.strided(x, 1, 2, -1), Vector.strided(y, 0, 2, 1));
    try lab.expectValues(f32, &.{ -3, -21, 3 }, y);
    const address: km.DeviceAddress = .{ .value = try y.address() };
    try blas.scal(f32, 2, Vector.at(address, 1, 1));
    try lab.expectValues(f32, &.{ -6, -21, 3 }, y);
    const short = Vector.strided(y, 0, 2, 1);
    try expectError(error.InvalidArgument, blas.axpy(f32, 1, x, short));
    try lab.f.expectMessage("different lengths: 3 and 2");
    try expectError(error.OutOfBounds, blas.scal(f32, 1, Vector.strided(y, 2, 2, 1)));
}

test "rotations" {
    var lab: Lab = undefined;
    try lab.init(.rows);
    defer lab.deinit();
    const rotation = try km.rotg(f64, 3, 4);
    try std.testing.expectApproxEqAbs(5, rotation.r, 1e-12);
    try std.testing.expectApproxEqAbs(0.6, rotation.cos, 1e-12);
    try std.testing.expectApproxEqAbs(0.8, rotation.sin, 1e-12);
    const x = try lab.slice(f64, &.{ 1, 0 });
    defer x.deinit();
    const y = try lab.slice(f64, &.{ 0, 1 });
    defer y.deinit();
    try lab.blas.rot(f64, x, y, 0, 1);
    try lab.expectValues(f64, &.{ 0, 1 }, x);
    try lab.expectValues(f64, &.{ -1, 0 }, y);
    // The flag 0 means a unit diagonal: x + h12 y, y + h21 x.
    try lab.blas.rotm(f64, x, y, .{ 0, 0, 2, 3, 0 });
    try lab.expectValues(f64, &.{ -3, 1 }, x);
    try lab.expectValues(f64, &.{ -1, 2 }, y);
    const modified = try km.rotmg(f32, 1, 1, 1, 0);
    try expectEqual(-2, modified.parameters[0]);
}

test "level 2 in both layouts" {
    inline for (.{ km.BlasLayout.rows, km.BlasLayout.columns }) |layout| {
        var lab: Lab = undefined;
        try lab.init(layout);
        defer lab.deinit();
        // [1 2 3; 4 5 6]
        const dense: [6]f64 = if (layout == .rows)
            .{ 1, 2, 3, 4, 5, 6 }
        else
            .{ 1, 4, 2, 5, 3, 6 };
        const a = try lab.slice(f64, &dense);
        defer a.deinit();
        const x = try lab.slice(f64, &.{ 1, 0, -1 });
        defer x.deinit();
        const y = try lab.slice(f64, &.{ 10, 20 });
        defer y.deinit();
        const matrix = km.Matrix(f64).of(a, 2, 3);
        try lab.blas.gemv(f64, .none, 2, matrix, x, 1, y);
        try lab.expectValues(f64, &.{ 6, 16 }, y);
        try lab.blas.gemv(f64, .transpose, 1, matrix, y, 0, x);
        try lab.expectValues(f64, &.{ 70, 92, 114 }, x);
        const gemv = km.Blas.gemv;
        const wrong = gemv(lab.blas, f64, .none, 2, matrix, y, 1, y);
        try expectError(error.InvalidArgument, wrong);
        try lab.f.expectMessage("x and op(A)'s columns differ: 2 and 3");
        try x.upload(lab.f.stream, &.{ 1, 0, 1 });
        try y.upload(lab.f.stream, &.{ 1, 2 });
        try lab.blas.ger(f64, 1, y, x, matrix);
        try lab.blas.gerc(f64, 1, y, x, matrix);
        const grown: [6]f64 = if (layout == .rows)
            .{ 3, 2, 5, 8, 5, 10 }
        else
            .{ 3, 8, 2, 5, 5, 10 };
        try lab.expectValues(f64, &grown, a);
    }
}

test "level 2: symmetric, triangular, banded and packed" {
    var lab: Lab = undefined;
    try lab.init(.rows);
    defer lab.deinit();
    const blas = lab.blas;
    const x = try lab.slice(f64, &.{ 1, 2 });
    defer x.deinit();
    const y = try lab.slice(f64, &.{ 0, 0 });
    defer y.deinit();
    // [2 3; 3 4], of which the upper triangle is read.
    const a = try lab.slice(f64, &.{ 2, 3, 99, 4 });
    defer a.deinit();
    const square = km.Matrix(f64).of(a, 2, 2);
    try blas.symv(f64, .upper, 1, square, x, 0, y);
    try lab.expectValues(f64, &.{ 8, 11 }, y);
    // The matrix packed, and as a band with one diagonal beside the main one: rows (2 3), (4 -).
    const tight = try lab.slice(f64, &.{ 2, 3, 4 });
    defer tight.deinit();
    const triangle: km.Matrix(f64) = .{
        .slice = @intFromPtr(tight.handle),
        .rows = 2,
        .columns = 2,
    };
    try blas.spmv(f64, .upper, 1, triangle, x, 0, y);
    try lab.expectValues(f64, &.{ 8, 11 }, y);
    const band = try lab.slice(f64, &.{ 2, 3, 4, 99 });
    defer band.deinit();
    const banded = km.Matrix(f64).of(band, 2, 2);
    try blas.sbmv(f64, .upper, 1, 1, banded, x, 0, y);
    try lab.expectValues(f64, &.{ 8, 11 }, y);
    // [2 3; 0 4]: by rows, a line of a general band is lower + upper + 1 elements.
    try blas.gbmv(f64, .none, 0, 1, 1, banded, x, 0, y);
    try lab.expectValues(f64, &.{ 8, 8 }, y);
    try blas.trmv(f64, .upper, .none, .stored, square, x);
    try lab.expectValues(f64, &.{ 8, 8 }, x);
    try blas.trsv(f64, .upper, .none, .stored, square, x);
    try lab.expectValues(f64, &.{ 1, 2 }, x);
    try blas.tbmv(f64, .upper, .none, .stored, 1, banded, x);
    try lab.expectValues(f64, &.{ 8, 8 }, x);
    try blas.tbsv(f64, .upper, .none, .stored, 1, banded, x);
    try lab.expectValues(f64, &.{ 1, 2 }, x);
    try blas.tpmv(f64, .upper, .none, .unit, triangle, x);
    try lab.expectValues(f64, &.{ 7, 2 }, x);
    try blas.tpsv(f64, .upper, .none, .unit, triangle, x);
    try lab.expectValues(f64, &.{ 1, 2 }, x);
    // [2 3; . 4] + [1 2; . 4] = [3 5; . 8]; then + [2 4; . 8]
    try y.upload(lab.f.stream, &.{ 1, 2 });
    try blas.syr(f64, .upper, 1, x, square);
    try lab.expectValues(f64, &.{ 3, 5, 99, 8 }, a);
    try blas.syr2(f64, .upper, 1, x, y, square);
    try lab.expectValues(f64, &.{ 5, 9, 99, 16 }, a);
    try blas.spr(f64, .upper, 1, x, triangle);
    try lab.expectValues(f64, &.{ 3, 5, 8 }, tight);
    try blas.spr2(f64, .upper, 1, x, y, triangle);
    try lab.expectValues(f64, &.{ 5, 9, 16 }, tight);
    const wide = km.Matrix(f64).of(a, 2, 1);
    try expectError(error.InvalidArgument, blas.symv(f64, .upper, 1, wide, x, 0, y));
}

/// [1 2 3; 4 5 6] [1 0; 0 1; 1 1] = [4 5; 10 11]
fn multiply(comptime T: type, comptime convert: fn (f32) T) !void {
    var lab: Lab = undefined;
    try lab.init(.rows);
    defer lab.deinit();
    var left: [6]T = undefined;
    var right: [6]T = undefined;
    for (&left, 0..) |*each, i| each.* = convert(@floatFromInt(i + 1));
    for (&right, [_]f32{ 1, 0, 0, 1, 1, 1 }) |*each, value| each.* = convert(value);
    const a = try lab.slice(T, &left);
    defer a.deinit();
    const b = try lab.slice(T, &right);
    defer b.deinit();
    const result = try km.Slice(T).initZeroed(lab.f.context, 4);
    defer result.deinit();
    const M = km.Matrix(T);
    const Alpha = if (T == f16 or T == km.Bf16) f32 else T;
    const one: Alpha = if (Alpha == f32) 1 else convert(1);
    const zero: Alpha = if (Alpha == f32) 0 else convert(0);
    const gemm = km.Blas.gemm;
    const by = M.of(b, 3, 2);
    const to = M.of(result, 2, 2);
    try gemm(lab.blas, T, .none, .none, one, M.of(a, 2, 3), by, zero, to);
    const wanted = [_]T{ convert(4), convert(5), convert(10), convert(11) };
    try lab.expectValues(T, &wanted, result);
    const wrong = gemm(lab.blas, T, .none, .none, one, M.of(a, 2, 2), by, zero, to);
    try expectError(error.InvalidArgument, wrong);
}

fn asF32(value: f32) f32 {
    return value;
}
fn asF64(value: f32) f64 {
    return value;
}
fn asF16(value: f32) f16 {
    return @floatCast(value);
}
fn asComplex32(value: f32) km.Complex(f32) {
    return .init(value, 0);
}
fn asComplex64(value: f32) km.Complex(f64) {
    return .init(value, 0);
}

test "gemm of every type" {
    try multiply(f32, asF32);
    try multiply(f64, asF64);
    try multiply(f16, asF16);
    try multiply(km.Bf16, km.Bf16.fromF32);
    try multiply(km.Complex(f32), asComplex32);
    try multiply(km.Complex(f64), asComplex64);
}

test "complex numbers are conjugated" {
    var lab: Lab = undefined;
    try lab.init(.columns);
    defer lab.deinit();
    const C = km.Complex(f32);
    const x = try lab.slice(C, &.{ .init(1, 2), .init(0, -1) });
    defer x.deinit();
    const sum = try lab.slice(C, &.{.init(0, 0)});
    defer sum.deinit();
    const norm = try lab.slice(f32, &.{0});
    defer norm.deinit();
    try lab.blas.dot(C, x, x, sum);
    try lab.expectValues(C, &.{.init(-4, 4)}, sum);
    try lab.blas.dotc(C, x, x, sum);
    try lab.expectValues(C, &.{.init(6, 0)}, sum);
    try lab.blas.asum(C, x, norm);
    try lab.expectValues(f32, &.{4}, norm);
    const a = try km.Slice(C).initZeroed(lab.f.context, 4);
    defer a.deinit();
    const square = km.Matrix(C).of(a, 2, 2);
    try lab.blas.syr(C, .lower, 1, x, square); // x x^H
    const wanted = [_]C{ .init(5, 0), .init(-2, -1), .init(0, 0), .init(1, 0) };
    try lab.expectValues(C, &wanted, a);
    const outer = km.Matrix(C).of(x, 2, 1);
    try lab.blas.herk(C, .lower, .none, 1, outer, 0, square);
    try lab.expectValues(C, &wanted, a);
    try lab.blas.her2k(C, .lower, .none, .init(1, 0), outer, outer, 0, square);
    try lab.f.stream.synchronize();
    try expectEqual(C.init(10, 0), (try a.hostElements())[0]);
}

test "level 3" {
    var lab: Lab = undefined;
    try lab.init(.rows);
    defer lab.deinit();
    const blas = lab.blas;
    const M = km.Matrix(f64);
    const a = try lab.slice(f64, &.{ 2, 3, 99, 4 });
    defer a.deinit();
    const b = try lab.slice(f64, &.{ 1, 2, 3, 4 });
    defer b.deinit();
    const result = try lab.slice(f64, &.{ 0, 0, 0, 0 });
    defer result.deinit();
    const left = M.of(a, 2, 2);
    const right = M.of(b, 2, 2);
    const to = M.of(result, 2, 2);
    // [2 3; 3 4] [1 2; 3 4]
    try blas.symm(f64, .left, .upper, 1, left, right, 0, to);
    try lab.expectValues(f64, &.{ 11, 16, 15, 22 }, result);
    try blas.hemm(f64, .left, .upper, 1, left, right, 0, to);
    try lab.expectValues(f64, &.{ 11, 16, 15, 22 }, result);
    // [1 2; 3 4] [1 3; 2 4] = [5 11; 11 25]
    try blas.syrk(f64, .upper, .none, 1, right, 0, to);
    try lab.expectValues(f64, &.{ 5, 11, 15, 25 }, result);
    try blas.herk(f64, .upper, .none, 1, right, 1, to);
    try lab.expectValues(f64, &.{ 10, 22, 15, 50 }, result);
    try blas.syr2k(f64, .upper, .none, 1, right, right, 0, to);
    try lab.expectValues(f64, &.{ 10, 22, 15, 50 }, result);
    try blas.her2k(f64, .upper, .none, 1, right, right, 1, to);
    try lab.expectValues(f64, &.{ 20, 44, 15, 100 }, result);
    // [2 3; 0 4] [1 2; 3 4] = [11 16; 12 16]
    try blas.trmm(f64, .left, .upper, .none, .stored, 1, left, right);
    try lab.expectValues(f64, &.{ 11, 16, 12, 16 }, b);
    try blas.trsm(f64, .left, .upper, .none, .stored, 1, left, right);
    try lab.expectValues(f64, &.{ 1, 2, 3, 4 }, b);
    const tall = M.of(b, 4, 1);
    const wrong = blas.trmm(f64, .left, .upper, .none, .stored, 1, left, tall);
    try expectError(error.InvalidArgument, wrong);
}

test "batches and lines that are apart" {
    var lab: Lab = undefined;
    try lab.init(.rows);
    defer lab.deinit();
    // Two matrices of one row and two columns, each in four elements, times one of two rows.
    const a = try lab.slice(f32, &.{ 1, 2, 0, 0, 3, 4, 0, 0 });
    defer a.deinit();
    const b = try lab.slice(f32, &.{ 1, 9, 10, 9 });
    defer b.deinit();
    const result = try lab.slice(f32, &.{ 0, 0 });
    defer result.deinit();
    const M = km.Matrix(f32);
    const left = M.of(a, 1, 2).withStride(4);
    const right = M.of(b, 2, 1).withLeadingDimension(2);
    const to = M.of(result, 1, 1).withStride(1);
    try lab.blas.gemmStridedBatched(f32, .none, .none, 1, left, right, 0, to, 2);
    try lab.expectValues(f32, &.{ 21, 43 }, result);
    const second = M.from(a, 4, 1, 2);
    try lab.blas.gemm(f32, .none, .none, 1, second, right, 0, M.of(result, 1, 1));
    try lab.expectValues(f32, &.{ 43, 43 }, result);
}

test "bfloat16 is rounded to nearest, ties to even" {
    try expectEqual(0x3f80, km.Bf16.fromF32(1.00390625).bits);
    try expectEqual(0x3f82, km.Bf16.fromF32(1.01171875).bits);
    try expectEqual(-3, km.Bf16.fromF32(-3).toF32());
    try expect(std.math.isNan(km.Bf16.fromF32(std.math.nan(f32)).toF32()));
    try expectEqual(0x7f80, km.Bf16.fromF32(std.math.floatMax(f32)).bits);
}
