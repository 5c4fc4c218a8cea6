//! Tuning.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const allocator = std.testing.allocator;
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;

const source =
    \\extern "C" __global__ void scale(float* data, const float* other, float factor, int n) {
    \\  int i = blockIdx.x * blockDim.x + threadIdx.x;
    \\  if (i < n) data[i] = other[i] * factor + WRONG;
    \\}
;

const Progress = struct {
    calls: u32 = 0,
    count: u32 = 0,

    fn step(progress: *Progress, done: u32, count: u32) void {
        progress.calls += 1;
        progress.count = count;
        if (done != progress.calls) progress.calls = 1000;
    }
};

test "the best of several ways is found, wrong ones are left out" {
    const device = try km.Device.open("cpu", null);
    defer device.deinit();
    const tune = try km.Tune.init(device, source, "scale");
    defer tune.deinit();
    const n = 1024;
    var values: [n]f32 = @splat(3);
    try tune.addZeroedOutput(n * 4);
    try tune.addBuffer(f32, &values);
    try tune.addScalar(@as(f32, 2));
    try tune.addScalar(@as(i32, n));
    const right = "-DWRONG=0";
    const add = km.Tune.addCandidate;
    const first = try add(tune, .{ .grid = .{ 8, 1, 1 }, .block = .{ 128, 1, 1 } }, right);
    const second = try add(tune, .{ .grid = .{ 4, 1, 1 }, .block = .{ 256, 1, 1 } }, right);
    const wrong = try add(tune, .{ .grid = .{ 4, 1, 1 }, .block = .{ 256, 1, 1 } }, "-DWRONG=1");
    const broken = try add(tune, .{}, null);
    try tune.setCheck(.{ .f32 = 1e-6 });
    try expectError(error.InvalidArgument, tune.setCheck(.{ .f64 = -1 }));
    try tune.setBudget(20_000_000, 1);
    var progress: Progress = .{};
    try tune.setProgress(Progress, &progress, Progress.step);
    const best = try tune.run(.{ .again = true });
    try expect(best == first or best == second);
    try expectEqual(4, progress.calls);
    try expectEqual(4, progress.count);
    try expect((try tune.result(first)).median_ns > 0);
    const mismatch = @intFromEnum(km.Status.error_result_mismatch);
    try expectEqual(mismatch, (try tune.result(wrong)).status);
    const failed = @intFromEnum(km.Status.error_compilation_failed);
    try expectEqual(failed, (try tune.result(broken)).status);
    const message = try tune.resultMessage(allocator, broken);
    defer allocator.free(message);
    try expect(std.mem.indexOf(u8, message, "WRONG") != null);
    try tune.clearProgress();

    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const scale = try tune.function(best, f.context);
    defer scale.deinit();
    try expectEqual(4, try scale.paramCount());
}

test "a tuning without candidates is refused" {
    var diagnostics: km.Diagnostics = .{};
    const device = try km.Device.open("cpu", &diagnostics);
    defer device.deinit();
    const tune = try km.Tune.init(device, source, "scale");
    defer tune.deinit();
    try tune.addOutput(f32, &.{ 1, 2 });
    try expectError(error.InvalidArgument, tune.run(.{}));
    try expectError(error.InvalidArgument, tune.result(0));
}
