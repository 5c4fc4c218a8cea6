//! A project outside of the tree that has the package by `zig fetch --save`.
const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    const package = b.dependency("kernelmill", .{ .target = target, .optimize = optimize });
    b.installArtifact(b.addExecutable(.{
        .name = "fetched",
        .root_module = b.createModule(.{
            .root_source_file = b.path("main.zig"),
            .target = target,
            .optimize = optimize,
            .imports = &.{
                .{ .name = "kernelmill", .module = package.module("kernelmill") },
                .{ .name = "cuda_native", .module = package.module("cuda_native") },
            },
        }),
    }));
}
