//! Slices say of which type their elements are, and launches check it.
const std = @import("std");
const km = @import("kernelmill");

/// One parameter each, whose type is in the kernel's name.
const ptx =
    \\.version 7.0
    \\.target sm_70
    \\.address_size 64
    \\.visible .entry _Z1kPf(.param .u64 x) { ret; }
    \\.visible .entry _Z1kPd(.param .u64 x) { ret; }
    \\.visible .entry _Z1kPj(.param .u64 x) { ret; }
    \\.visible .entry _Z1kP6float4(.param .u64 x) { ret; }
    \\.visible .entry _Z1kP6__half(.param .u64 x) { ret; }
    \\.visible .entry _Z1kPN2ns5PointE(.param .u64 x) { ret; }
    \\.visible .entry plain(.param .u64 x) { ret; }
;
const names = [_][:0]const u8{
    "_Z1kPf",       "_Z1kPd",           "_Z1kPj", "_Z1kP6float4",
    "_Z1kP6__half", "_Z1kPN2ns5PointE", "plain",
};

const Point = extern struct {
    x: f32,
    y: f32,

    pub const cuda_type: km.DeviceType = .{ .element = .named, .name = "ns::Point" };
};
const Unnamed = extern struct { x: f32, y: f32 };

fn expectTaken(context: km.Context, comptime T: type, expected: []const u8) !void {
    const stream = try km.Stream.init(context);
    defer stream.deinit();
    const module = try km.Module.loadPtx(context, ptx, "typed");
    defer module.deinit();
    const slice = try km.Slice(T).initZeroed(context, 16);
    defer slice.deinit();
    const view = try slice.view(1, 2);
    defer view.deinit();
    for (names, expected) |name, mark| {
        const kernel = try module.function(name);
        defer kernel.deinit();
        for ([_]km.Slice(T){ slice, view }) |given| {
            const launched = stream.launch(kernel, .{}, .{given});
            if (mark == 'x') try launched else try std.testing.expectError(error.InvalidLaunch, launched);
        }
    }
}

test "kernels take the types that they have" {
    const context = try km.Context.open("cpu", null);
    defer context.deinit();
    try expectTaken(context, f32, "x--x--x");
    try expectTaken(context, f64, "-x----x");
    try expectTaken(context, u32, "--x---x");
    try expectTaken(context, i32, "--x---x");
    try expectTaken(context, i64, "------x");
    try expectTaken(context, u8, "xxxxxxx");
    try expectTaken(context, f16, "----x-x");
    try expectTaken(context, u16, "------x");
    try expectTaken(context, bool, "------x");
    try expectTaken(context, Point, "-----xx");
    try expectTaken(context, Unnamed, "xxxxxxx");
    try expectTaken(context, [2]f32, "xxxxxxx");
}

test "messages name kernel, parameter and types" {
    var diagnostics: km.Diagnostics = .{};
    const context = try km.Context.open("cpu", &diagnostics);
    defer context.deinit();
    const stream = try km.Stream.init(context);
    defer stream.deinit();
    const module = try km.Module.loadPtx(context, ptx, "typed");
    defer module.deinit();
    const kernel = try module.function("_Z1kPf");
    defer kernel.deinit();
    const slice = try km.Slice(f64).initZeroed(context, 1);
    defer slice.deinit();
    try std.testing.expectError(error.InvalidLaunch, stream.launch(kernel, .{}, .{slice}));
    const text = "parameter 0 'x' of kernel 'k' is 'float*'; the slice given for it has elements " ++
        "of 'double', expected 'float'";
    try std.testing.expect(std.mem.indexOf(u8, diagnostics.message(), text) != null);
    try slice.setElementType(.unknown, 0, null);
    try stream.launch(kernel, .{}, .{slice});
}
