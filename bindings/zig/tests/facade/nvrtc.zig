//! `cuda_nvrtc`.
const std = @import("std");
const km = @import("kernelmill");
const support = @import("../support.zig");
const allocator = std.testing.allocator;
const nvrtc = km.cuda_nvrtc;
const expect = support.expect;
const expectEqual = support.expectEqual;
const expectError = support.expectError;

const source =
    \\extern "C" __global__ void scale(float* data, float factor) {
    \\  int unused = 5;
    \\  data[threadIdx.x] *= factor;
    \\}
    \\extern "C" __global__ void __launch_bounds__(32) bounded(float* data) { *data = 1; }
;

fn has(text: []const u8, part: []const u8) bool {
    return std.mem.indexOf(u8, text, part) != null;
}

test "compiling before init says so" {
    nvrtc.deinit();
    const compile = nvrtc.compileToPTX;
    try expectError(error.NotInitialized, compile(allocator, source, "scale.cu", .{}));
}

test "PTX comes with the log, warnings of a success included" {
    try nvrtc.init();
    defer nvrtc.deinit();
    const result = try nvrtc.compileToPTX(allocator, source, "scale.cu", .{});
    defer result.deinit(allocator);
    try expect(has(result.ptx, ".entry scale"));
    try expect(has(result.log, "unused"));
    try expect(!result.from_cache);
}

test "options reach the compiler" {
    try nvrtc.init();
    defer nvrtc.deinit();
    inline for (.{ .O0, .O1, .O2, .O3 }) |level| {
        const result = try nvrtc.compileToPTX(allocator, source, "scale.cu", .{
            .optimization_level = level,
            .architecture = "compute_80",
            .extra = &.{"-DUNUSED=1"},
        });
        defer result.deinit(allocator);
        try expect(has(result.ptx, ".target sm_80"));
    }
    const limited = try nvrtc.compileToPTX(allocator, source, "scale.cu", .{
        .max_registers = 32,
        .max_threads_per_block = 128,
        .line_info = true,
    });
    defer limited.deinit(allocator);
    try expect(has(limited.ptx, ".maxnreg 32"));
    try expectEqual(1, std.mem.count(u8, limited.ptx, ".maxntid 128, 1, 1"));
    try expectEqual(2, std.mem.count(u8, limited.ptx, ".maxntid"));
    try expect(has(limited.ptx, ".loc"));
    const debug = try nvrtc.compileToPTX(allocator, source, "scale.cu", .{ .debug = true });
    defer debug.deinit(allocator);
    try expect(has(debug.ptx, "debug"));
    const wrong: nvrtc.CompileOptions = .{ .extra = &.{"--no-such-option"} };
    const compile = nvrtc.compileToPTX;
    try expectError(error.InvalidArgument, compile(allocator, source, "scale.cu", wrong));
}

test "bounds of blocks are kept by launches" {
    try nvrtc.init();
    defer nvrtc.deinit();
    const result = try nvrtc.compileToPTX(allocator, source, "scale.cu", .{
        .max_threads_per_block = 64,
    });
    defer result.deinit(allocator);
    var f: support.Fixture = undefined;
    try f.init();
    defer f.deinit();
    const module = try km.Module.loadPtx(f.context, result.ptx, "scale.ptx");
    defer module.deinit();
    const scale = try module.function("scale");
    defer scale.deinit();
    try expectEqual(64, try scale.attribute(.max_threads_per_block));
}

test "errors have a log" {
    try nvrtc.init();
    defer nvrtc.deinit();
    var log: ?[:0]u8 = null;
    const broken = "__global__ void k() { wrong(); }";
    const compile = nvrtc.compileWithLog;
    const result = compile(allocator, broken, "bad.cu", .{}, &log);
    try expectError(error.CompilationFailed, result);
    defer allocator.free(log.?);
    try expect(has(log.?, "bad.cu"));
}

test "a folder keeps PTX by all that it depends on" {
    try nvrtc.init();
    defer nvrtc.deinit();
    var folder: support.Folder = undefined;
    try folder.init();
    defer folder.deinit();
    const path = try folder.path("cache");
    var options: nvrtc.CompileOptions = .{ .cache_dir = path };
    const compile = nvrtc.compileToPTX;
    const first = try compile(allocator, source, "scale.cu", options);
    defer first.deinit(allocator);
    try expect(!first.from_cache);
    const second = try compile(allocator, source, "scale.cu", options);
    defer second.deinit(allocator);
    try expect(second.from_cache);
    try std.testing.expectEqualStrings(first.ptx, second.ptx);
    try std.testing.expectEqualStrings(first.log, second.log);
    options.max_registers = 40;
    const third = try compile(allocator, source, "scale.cu", options);
    defer third.deinit(allocator);
    try expect(!third.from_cache);
    const fourth = try compile(allocator, source ++ " ", "scale.cu", options);
    defer fourth.deinit(allocator);
    try expect(!fourth.from_cache);
    // A file that is damaged is no hit.
    var dir = try folder.tmp.dir.openDir(std.testing.io, "cache", .{ .iterate = true });
    defer dir.close(std.testing.io);
    var files = dir.iterate();
    while (try files.next(std.testing.io)) |file| {
        try dir.writeFile(std.testing.io, .{ .sub_path = file.name, .data = "broken" });
    }
    const fifth = try compile(allocator, source ++ " ", "scale.cu", options);
    defer fifth.deinit(allocator);
    try expect(!fifth.from_cache);
    _ = try folder.write("file", "no folder");
    options.cache_dir = try folder.path("file");
    try expectError(error.CacheUnusable, compile(allocator, source, "scale.cu", options));
}
