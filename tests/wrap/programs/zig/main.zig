//! Launches kernels by their wrapper and checks what they computed.
const std = @import("std");
const km = @import("kernelmill");
const typed = @import("typed");

test "kernels compute what they should" {
    const context = try km.Context.open("cpu", null);
    defer context.deinit();
    const stream = try km.Stream.init(context);
    defer stream.deinit();
    const kernels = try typed.Kernels.load(context);
    defer kernels.deinit();
    const x = try km.Slice(f32).initCopy(context, stream, &.{ 1, 2, 3 });
    defer x.deinit();
    const y = try km.Slice(f32).initCopy(context, stream, &.{ 0, 0, 0 });
    defer y.deinit();
    const out = try km.Slice(f64).init(context, 1);
    defer out.deinit();
    const config = km.LaunchConfig.forElements(3);
    try kernels.launchSaxpy(stream, config, 3, 2, x, y);
    try kernels.launchScaleFloat(stream, config, y, 10, 3);
    var padded = std.mem.zeroes(typed.Padded);
    padded.tag = 1;
    padded.value = 2;
    padded.list[1] = 3;
    padded.points[1].y = 4;
    padded.grid_[1][2] = 5;
    try kernels.launchPadded(stream, config, padded, out);
    const halves = try km.Slice(f16).initCopy(context, stream, &.{ 1, 2 });
    defer halves.deinit();
    const pairs = try km.Slice([2]f16).initCopy(context, stream, &.{.{ 0.5, 0.5 }});
    defer pairs.deinit();
    try kernels.launchHalfSum(stream, config, halves, pairs, 7, x);
    var half_sum: [1]f32 = undefined;
    try x.download(stream, &half_sum);
    try std.testing.expectEqual(8.5, half_sum[0]);
    const modes = try km.Slice(typed.GeoMode).initZeroed(context, 1);
    defer modes.deinit();
    try kernels.launchModes(stream, config, modes, 1);
    var values: [3]f32 = undefined;
    try y.download(stream, &values);
    try std.testing.expectEqual([3]f32{ 20, 40, 60 }, values);
    var sum: [1]f64 = undefined;
    try out.download(stream, &sum);
    try std.testing.expectEqual(15, sum[0]);
}
