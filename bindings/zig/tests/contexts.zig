//! Services of contexts: limits, history, tracking, profiles of memory, output, addresses.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("support.zig");
const allocator = std.testing.allocator;
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;

test "limits are read and set" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    try f.context.setLimit(.heap_bytes, 32 << 20);
    try expect(try f.context.limit(.heap_bytes) >= 32 << 20);
    const wrong: km.ContextLimit = @enumFromInt(77);
    try expectError(error.InvalidArgument, f.context.limit(wrong));
}

test "failures are remembered with their number, and taken" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const slice = try km.Slice(u32).init(f.context, 4);
    defer slice.deinit();
    var wide: [5]u32 = @splat(0);
    for (0..3) |_| try expectError(error.OutOfBounds, slice.upload(f.stream, &wide));
    try expectError(error.NotFound, f.module.function("none"));
    const history = try f.context.errorHistory(allocator);
    defer allocator.free(history);
    try expectEqual(2, history.len);
    try expectEqual(@intFromEnum(km.Status.error_not_found), history[0].status);
    try expectEqual(3, history[1].count);
    try std.testing.expectEqualStrings("km_slice_upload", km.text(&history[1].call));
    const counts = try f.context.errorCounts(allocator);
    defer allocator.free(counts);
    try expectEqual(2, counts.len);
    try expectEqual(3, counts[0].count);
    try expectEqual(km.Status.error_not_found, try f.context.status());
    try expectEqual(0, try f.context.statusNativeCode());
    try expectEqual(km.Status.error_not_found, try f.context.takeStatus());
    try expectEqual(km.Status.success, try f.context.status());
    try f.context.clearErrorHistory();
    const none = try f.context.errorHistory(allocator);
    defer allocator.free(none);
    try expectEqual(0, none.len);
}

test "allocations are tracked with tag and stack" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const before = try km.Slice(u32).init(f.context, 4);
    defer before.deinit();
    try expectError(error.NotFound, before.setTag("weights"));
    try f.context.setTracking(.stacks);
    const slice = try km.Slice(u64).init(f.context, 100);
    defer slice.deinit();
    try slice.setTag("weights");
    const alive = try f.context.allocations(allocator);
    defer allocator.free(alive);
    try expectEqual(1, alive.len);
    try expectEqual(800, alive[0].size_bytes);
    try expectEqual(@intFromEnum(km.AllocationKind.device), alive[0].kind);
    try std.testing.expectEqualStrings("weights", km.text(&alive[0].tag));
    const stack = try f.context.allocationStack(allocator, alive[0].id);
    defer allocator.free(stack);
    try expect(stack.len > 0);
    try expectError(error.NotFound, f.context.allocationStack(allocator, 1 << 60));
    try f.context.setTracking(.off);
}

test "profiles of memory know the peak" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    try expectError(error.InvalidArgument, f.context.startMemoryProfile(0));
    try f.context.startMemoryProfile(1_000_000);
    try expectError(error.NotPermitted, f.context.startMemoryProfile(1_000_000));
    const slice = try km.Slice(u8).init(f.context, 1 << 20);
    slice.deinit();
    try f.context.stopMemoryProfile();
    const profile = try f.context.memoryProfile();
    try expectEqual(0, profile.is_running);
    try expect(profile.peak_bytes >= 1 << 20);
    try expect(profile.minimum_bytes <= profile.peak_bytes);
    const samples = try f.context.memorySamples(allocator);
    defer allocator.free(samples);
    try expectEqual(profile.sample_count, samples.len);
}

test "memory by address" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const slice = try km.Slice(u32).initZeroed(f.context, 8);
    defer slice.deinit();
    const first: km.DeviceAddress = .{ .value = try slice.address() };
    const found = try f.context.findSlice(first.value + 12);
    defer found.slice.deinit();
    try expectEqual(12, found.offset_bytes);
    try expectEqual(32, found.slice.len);
    try expectError(error.NotFound, f.context.findSlice(16));
    try first.fill(f.stream, u32, 7, 8);
    try first.offset(4).fill(f.stream, u8, 0xff, 4);
    try first.offset(8).fill(f.stream, u16, 0x0101, 2);
    try first.offset(16).upload(f.stream, std.mem.asBytes(&@as(u32, 99)));
    try first.offset(20).copyFrom(f.stream, first.offset(16), 4);
    try expectError(error.OutOfBounds, first.offset(16).fill(f.stream, u32, 0, 5));
    var back: [8]u32 = undefined;
    try first.download(f.stream, std.mem.asBytes(&back));
    const expected = [_]u32{ 7, 0xffff_ffff, 0x0101_0101, 7, 99, 99, 7, 7 };
    try std.testing.expectEqualSlices(u32, &expected, &back);
}

const printing =
    \\extern "C" __global__ void hello(int n) { printf("n is %d\n", n); }
;

const Lines = struct {
    text: [64]u8 = undefined,
    len: usize = 0,

    fn take(lines: *Lines, text: []const u8) void {
        @memcpy(lines.text[lines.len..][0..text.len], text);
        lines.len += text.len;
    }
};

test "kernels print to a callback and to a writer" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const module = try km.Module.loadSource(f.context, printing, "hello.cu");
    defer module.deinit();
    const hello = try module.function("hello");
    defer hello.deinit();
    var lines: Lines = .{};
    try f.context.setOutput(Lines, &lines, Lines.take);
    try f.stream.launch(hello, .{}, .{@as(i32, 5)});
    try f.stream.synchronize();
    try std.testing.expectEqualStrings("n is 5\n", lines.text[0..lines.len]);
    var buffer: [8]u8 = undefined;
    var writer: std.Io.Writer = .fixed(&buffer);
    var sink: km.OutputSink = .{ .writer = &writer };
    try f.context.setOutputSink(&sink);
    for (0..2) |_| try f.stream.launch(hello, .{}, .{@as(i32, 6)});
    try f.stream.synchronize();
    try std.testing.expectEqualStrings("n is 6\nn", writer.buffered());
    try expectEqual(@as(?std.Io.Writer.Error, error.WriteFailed), sink.failure);
    try f.context.resetOutput();
}

const Found = struct {
    count: usize = 0,
    last: km.Finding = undefined,

    fn take(found: *Found, finding: *const km.Finding) void {
        found.count += 1;
        found.last = finding.*;
    }
};

test "the checker gives its findings to a callback" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const module = try km.Module.loadPtx(f.context, support.ptx, "test.ptx");
    defer module.deinit();
    const fill = try module.function("fill_index");
    defer fill.deinit();
    const slice = try km.Slice(u32).initZeroed(f.context, 1024);
    defer slice.deinit();
    const n: u32 = 1034;
    var found: Found = .{};
    try f.context.setCheck(.{ .memory = true }, 0, Found, &found, Found.take);
    try f.stream.launch(fill, .forElements(n), .{ slice, @as(u32, 0), n });
    try f.stream.synchronize();
    try expectEqual(1, found.count);
    try expectEqual(10, found.last.count);
    try expectEqual(@as(u32, @bitCast(km.Check{ .memory = true })), found.last.tool);
    try std.testing.expectEqualStrings("illegal-address", km.text(&found.last.kind));
    try std.testing.expectEqualStrings("fill_index", km.text(&found.last.kernel));
    try f.context.setCheckPrinted(.off);
    try expectError(error.InvalidArgument, f.context.setCheckPrinted(.{ ._9 = 1 }));
}

test "builds with safety checks find wrong accesses" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    try expectEqual(km.Context.checks_by_default, try f.context.isChecked());
    const device = try f.context.getDevice();
    defer device.deinit();
    const plain = try km.Context.initChecked(device, false);
    defer plain.deinit();
    try expect(!try plain.isChecked());
    const context = try km.Context.initChecked(device, true);
    defer context.deinit();
    try expect(try context.isChecked());
    const stream = try km.Stream.init(context);
    defer stream.deinit();
    const module = try km.Module.loadPtx(context, support.ptx, "test.ptx");
    defer module.deinit();
    const fill = try module.function("fill_index");
    defer fill.deinit();
    var slices: [3]km.Slice(u32) = undefined; // side by side
    for (&slices) |*slice| slice.* = try km.Slice(u32).initZeroed(context, 1024);
    defer for (slices) |slice| slice.deinit();
    const n: u32 = 1034;
    try stream.launch(fill, .forElements(n), .{ slices[1], @as(u32, 0), n });
    try expectError(error.IllegalAddress, stream.synchronize());
    try f.expectMessage("past the end of the 4096-byte allocation");
    try f.expectMessage("(parameter 0 'out')");
    try expect(std.mem.endsWith(u8, f.diagnostics.suggestion, "then call Context.reset."));
}

test "arguments of another kind are refused" {
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const fill = try f.module.function("fill_index");
    defer fill.deinit();
    const data = try km.Slice(u32).initZeroed(f.context, 4);
    defer data.deinit();
    const n: u32 = 4;
    const float: f32 = 4;
    const launch = f.stream.launch(fill, .forElements(n), .{ data, n, float });
    try expectError(error.InvalidLaunch, launch);
    try f.expectMessage("parameter 2 'n' of kernel 'fill_index' is an integer of 4 bytes; 'float' was " ++
        "given: give an integer of 4 bytes");
    const address = f.stream.launch(fill, .forElements(n), .{ @as(f64, 1), n, n });
    try expectError(error.InvalidLaunch, address);
    try f.expectMessage("is an address of 8 bytes; 'double' was given: give a slice");
}
