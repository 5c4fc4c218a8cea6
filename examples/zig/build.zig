//! `zig build` makes the programs in zig-out/bin: sobel; saxpy; native, devices and profile, which use the
//! names of a Zig GPU driver; before 0.17, which has no @cImport any more, plain as well. The
//! library is found as bindings/zig/README.md says.
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
    b.installArtifact(b.addExecutable(.{ .name = "sobel", .root_module = sobel }));

    b.installArtifact(b.addExecutable(.{ .name = "saxpy", .root_module = b.createModule(.{
        .root_source_file = b.path("saxpy.zig"),
        .target = target,
        .optimize = optimize,
        .imports = &.{.{ .name = "kernelmill", .module = package.module("kernelmill") }},
    }) }));

    for ([_][]const u8{ "native", "devices", "profile" }) |name| {
        const program = b.createModule(.{
            .root_source_file = b.path(b.fmt("{s}.zig", .{name})),
            .target = target,
            .optimize = optimize,
            .imports = &.{.{ .name = "gpu", .module = package.module("kernelmill") }},
        });
        // The files of such a driver are modules of the package.
        for ([_][]const u8{ "cuda_native", "cuda_device_query" }) |file| {
            program.addImport(b.fmt("backends/{s}.zig", .{file}), package.module(file));
        }
        program.addImport("profiling.zig", package.module("profiling"));
        b.installArtifact(b.addExecutable(.{ .name = name, .root_module = program }));
    }

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
