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
