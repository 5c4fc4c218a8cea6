const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    const package = b.dependency("kernelmill", .{ .target = target, .optimize = optimize });
    for ([_][]const u8{ "call_cost", "pair", "wrapped" }) |name| {
        b.installArtifact(b.addExecutable(.{
            .name = name,
            .root_module = b.createModule(.{
                .root_source_file = b.path(b.fmt("{s}.zig", .{name})),
                .target = target,
                .optimize = optimize,
                .imports = &.{
                    .{ .name = "kernelmill", .module = package.module("kernelmill") },
                    .{ .name = "c", .module = package.module("c") },
                },
            }),
        }));
    }
}
