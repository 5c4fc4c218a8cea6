//! `zig build` makes zig-out/bin/sobel; before 0.17, which has no @cImport any more, plain as well.
//! The library is found as bindings/zig/README.md says.
const std = @import("std");
const builtin = @import("builtin");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    const package = b.dependency("kernelmill", .{ .target = target, .optimize = optimize });

    const png = b.addTranslateC(.{
        .root_source_file = b.path("png.h"),
        .target = target,
        .optimize = optimize,
    }).createModule();
    png.linkSystemLibrary("png", .{});

    const sobel = b.createModule(.{
        .root_source_file = b.path("sobel.zig"),
        .target = target,
        .optimize = optimize,
        .imports = &.{
            .{ .name = "kernelmill", .module = package.module("kernelmill") },
            .{ .name = "png", .module = png },
        },
    });
    sobel.addAnonymousImport("sobel.cu", .{ .root_source_file = b.path("../sobel/sobel.cu") });
    b.installArtifact(b.addExecutable(.{ .name = "sobel", .root_module = sobel }));

    // @cImport takes the folder of the header, and the program the library, from module `c`.
    if (builtin.zig_version.minor >= 17) return;
    const plain = b.createModule(.{
        .root_source_file = b.path("plain.zig"),
        .target = target,
        .optimize = optimize,
        .imports = &.{.{ .name = "c", .module = package.module("c") }},
    });
    plain.addIncludePath(package.namedLazyPath("include"));
    b.installArtifact(b.addExecutable(.{ .name = "plain", .root_module = plain }));
}
