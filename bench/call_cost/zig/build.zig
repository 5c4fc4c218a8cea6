const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    const package = b.dependency("kernelmill", .{ .target = target, .optimize = optimize });
    b.installArtifact(b.addExecutable(.{
        .name = "call_cost",
        .root_module = b.createModule(.{
            .root_source_file = b.path("call_cost.zig"),
            .target = target,
            .optimize = optimize,
            .imports = &.{.{ .name = "kernelmill", .module = package.module("kernelmill") }},
        }),
    }));
}
