//! Fourier transforms against their definition.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;

const C = km.Complex(f32);

fn numbers(comptime count: usize) [count]C {
    var made: [count]C = undefined;
    for (&made, 0..) |*number, i| {
        const re: f32 = @floatFromInt(i * 7 % 11);
        const im: f32 = @floatFromInt(i * 3 % 5);
        number.* = C.init(re - 5, im - 2);
    }
    return made;
}

/// The transform of a line by its definition is near.
fn expectTransform(found: []const C, from: []const C, sign: f64) !void {
    for (found, 0..) |number, k| {
        var re: f64 = 0;
        var im: f64 = 0;
        for (from, 0..) |each, j| {
            const turn: f64 = @floatFromInt(j * k % from.len);
            const count: f64 = @floatFromInt(from.len);
            const angle = sign * 2 * std.math.pi * turn / count;
            re += each.re * @cos(angle) - each.im * @sin(angle);
            im += each.re * @sin(angle) + each.im * @cos(angle);
        }
        try expect(@abs(number.re - re) < 1e-4 and @abs(number.im - im) < 1e-4);
    }
}

fn upload(f: *support.Fixture, comptime T: type, values: []const T) !km.Slice(T) {
    return km.Slice(T).initCopy(f.context, f.stream, values);
}

fn elements(f: *support.Fixture, comptime T: type, slice: km.Slice(T)) ![]const T {
    try f.stream.synchronize();
    return slice.hostElements();
}

test "complex lines in both directions" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const given = numbers(20);
    const x = try upload(&f, C, &given);
    defer x.deinit();
    const y = try upload(&f, C, &given);
    defer y.deinit();
    const fft = try km.Fft(C, C).init(f.stream, .{ .sizes = &.{10}, .batch_count = 2 });
    defer fft.deinit();
    try fft.forward(x, y);
    try expectTransform((try elements(&f, C, y))[0..10], given[0..10], -1);
    try expectTransform((try elements(&f, C, y))[10..20], given[10..20], -1);
    try fft.inverse(y, y);
    for (try elements(&f, C, y), given) |found, number| {
        try expect(@abs(found.re - 10 * number.re) < 1e-4);
        try expect(@abs(found.im - 10 * number.im) < 1e-4);
    }
    try fft.inverse(x, km.Array(C).at(.{ .value = try y.address() }));
    try expectTransform((try elements(&f, C, y))[0..10], given[0..10], 1);
}

test "real numbers and back" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    var given = numbers(12);
    var reals: [12]f32 = undefined;
    for (&given, &reals) |*number, *real| {
        number.im = 0;
        real.* = number.re;
    }
    const x = try upload(&f, f32, &reals);
    defer x.deinit();
    const half = try upload(&f, C, given[0..7]);
    defer half.deinit();
    const there = try km.Fft(f32, C).init(f.stream, .{ .sizes = &.{12} });
    defer there.deinit();
    const back = try km.Fft(C, f32).init(f.stream, .{ .sizes = &.{12} });
    defer back.deinit();
    try there.forward(x, half);
    try expectTransform(try elements(&f, C, half), &given, -1);
    try back.inverse(half, x);
    for (try elements(&f, f32, x), reals) |found, real| try expect(@abs(found - 12 * real) < 1e-4);
}

test "layouts, offsets and numbers of 16 bits" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const given = numbers(13);
    const x = try upload(&f, C, &given);
    defer x.deinit();
    const y = try upload(&f, C, given[0..10]);
    defer y.deinit();
    const columns: km.FftLayout = .{ .stride = 2, .distance = 1 };
    const shape: km.FftShape = .{ .sizes = &.{5}, .batch_count = 2, .input = columns };
    const fft = try km.Fft(C, C).init(f.stream, shape);
    defer fft.deinit();
    try fft.forward(km.Array(C).from(x, 3), y);
    const line = [_]C{ given[4], given[6], given[8], given[10], given[12] };
    try expectTransform((try elements(&f, C, y))[5..10], &line, -1);
    try expectError(error.OutOfBounds, fft.forward(km.Array(C).from(x, 4), y));
    const H = km.Complex(f16);
    const ones = try upload(&f, H, &(.{H.init(1, 0)} ** 4));
    defer ones.deinit();
    const halves = try km.Fft(H, H).init(f.stream, .{ .sizes = &.{4} });
    defer halves.deinit();
    try halves.forward(ones, ones);
    try expectEqual(H.init(4, 0), (try elements(&f, H, ones))[0]);
}

test "wrong shapes and captured calls" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const Plan = km.Fft(C, C);
    try expectError(error.InvalidArgument, Plan.init(f.stream, .{ .sizes = &.{} }));
    try f.expectMessage("shape->rank is 0");
    try expectError(error.InvalidArgument, Plan.init(f.stream, .{ .sizes = &.{ 1, 2, 3, 4 } }));
    try expectError(error.InvalidArgument, Plan.init(f.stream, .{ .sizes = &.{0} }));
    const given = numbers(8);
    const x = try upload(&f, C, &given);
    defer x.deinit();
    try f.stream.synchronize();
    try f.stream.beginCapture();
    const fft = try Plan.init(f.stream, .{ .sizes = &.{8} });
    try fft.forward(x, x);
    fft.deinit();
    const graph = try f.stream.endCapture();
    defer graph.deinit();
    const nodes = try graph.nodes(std.testing.allocator);
    defer std.testing.allocator.free(nodes);
    const info = try graph.nodeInfo(nodes[0]);
    try expectEqual(@intFromEnum(km.NodeKind.library), info.kind);
    const exec = try graph.instantiate();
    defer exec.deinit();
    try exec.launch(f.stream);
    try expectTransform(try elements(&f, C, x), &given, -1);
}
