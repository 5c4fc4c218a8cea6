//! `zig build run` runs the program, `zig build calls` looks at calls.zig.
const std = @import("std");
const kernelmill = @import("kernelmill");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const package = b.dependency("kernelmill", .{ .target = target });
    const Step = struct { []const u8, []const u8, []const []const u8 };
    const steps = [_]Step{
        .{ "run", "main.zig", &.{ "-DPROGRAM_ONLY", "--object" } },
        .{ "calls", "calls.zig", &.{"--nvrtc=--device-int128"} },
    };
    for (steps) |each| {
        const root = b.createModule(.{
            .root_source_file = b.path(each[1]),
            .target = target,
            .imports = &.{.{ .name = "kernelmill", .module = package.module("kernelmill") }},
        });
        kernelmill.addKernels(b, root, .{
            .name = "typed",
            .source = b.path("kernels.cu"),
            .kernelmill = package.module("kernelmill"),
            .instantiate = &.{ "scale<float>", "scale<double>" },
            .options = each[2],
        });
        const tests = b.addTest(.{ .root_module = root });
        b.step(each[0], each[1]).dependOn(&b.addRunArtifact(tests).step);
    }
}
