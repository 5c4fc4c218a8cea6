//! What the tests share: a device with a stream, and a few kernels.
const std = @import("std");
const km = @import("kernelmill");

pub const expect = std.testing.expect;
pub const expectEqual = std.testing.expectEqual;
pub const expectError = std.testing.expectError;

pub const Fixture = struct {
    diagnostics: km.Diagnostics = .{},
    context: km.Context,
    stream: km.Stream,
    module: km.Module,

    /// In place, because the objects report to it.
    pub fn init(fixture: *Fixture) !void {
        fixture.diagnostics = .{};
        fixture.context = try km.Context.open("cpu", &fixture.diagnostics);
        fixture.stream = try km.Stream.init(fixture.context);
        fixture.module = try km.Module.loadPtx(fixture.context, ptx, "test.ptx");
    }

    pub fn deinit(fixture: *Fixture) void {
        fixture.module.deinit();
        fixture.stream.deinit();
        fixture.context.deinit();
    }

    /// The last failure's text has this part.
    pub fn expectMessage(fixture: *const Fixture, part: []const u8) !void {
        if (std.mem.indexOf(u8, fixture.diagnostics.message(), part) != null) return;
        std.debug.print("no '{s}' in: {s}\n", .{ part, fixture.diagnostics.message() });
        return error.TestUnexpectedResult;
    }
};

/// noop(), fill_index(out, base, n), store_far(out), trap(), and the variable counters[4].
pub const ptx = @embedFile("kernels.ptx");

/// A folder for files of one test, which goes with it.
pub const Folder = struct {
    tmp: std.testing.TmpDir,
    buffer: [256]u8,

    pub fn init(folder: *Folder) !void {
        folder.tmp = std.testing.tmpDir(.{});
    }

    pub fn deinit(folder: *Folder) void {
        folder.tmp.cleanup();
    }

    /// The path of a file in it, valid until the next call.
    pub fn path(folder: *Folder, name: []const u8) ![:0]const u8 {
        const parts = .{ folder.tmp.sub_path, name };
        return std.fmt.bufPrintSentinel(&folder.buffer, ".zig-cache/tmp/{s}/{s}", parts, 0);
    }

    pub fn write(folder: *Folder, name: []const u8, data: []const u8) ![:0]const u8 {
        try folder.tmp.dir.writeFile(std.testing.io, .{ .sub_path = name, .data = data });
        return folder.path(name);
    }

    pub fn read(folder: *Folder, allocator: std.mem.Allocator, name: []const u8) ![]u8 {
        const dir = folder.tmp.dir;
        return dir.readFileAlloc(std.testing.io, name, allocator, .limited(1 << 28));
    }
};
