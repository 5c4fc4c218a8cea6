//! Where libkernelmill and its header are: KM_LIBRARY_DIR, then pkg-config, then a clear error.
const std = @import("std");
const Library = @This();

include: std.Build.LazyPath,
directory: std.Build.LazyPath,

pub fn find(b: *std.Build) Library {
    // What is found here may change without any file of the package changing.
    if (@hasDecl(std.Build.Graph, "poisonCache")) b.graph.poisonCache();
    if (b.graph.environ_map.get("KM_LIBRARY_DIR")) |directory| {
        return .{
            .include = absolute(b, b.pathResolve(&.{ directory, "..", "include" })),
            .directory = absolute(b, b.pathResolve(&.{directory})),
        };
    }
    return .{
        .include = absolute(b, fromPkgConfig(b, "--variable=includedir") orelse missing()),
        .directory = absolute(b, fromPkgConfig(b, "--variable=libdir") orelse missing()),
    };
}

/// Programs with the module find the library at run time too.
pub fn link(library: Library, module: *std.Build.Module) void {
    module.addLibraryPath(library.directory);
    module.addRPath(library.directory);
    module.linkSystemLibrary("kernelmill", .{ .use_pkg_config = .no });
}

fn absolute(b: *std.Build, path: []const u8) std.Build.LazyPath {
    if (@hasDecl(std.Build.Graph, "cwdRelativePath")) return b.graph.cwdRelativePath(path);
    return .{ .cwd_relative = path };
}

fn fromPkgConfig(b: *std.Build, what: []const u8) ?[]const u8 {
    var exit_code: u8 = 0;
    const command = [_][]const u8{ "pkg-config", what, "kernelmill" };
    const answer = b.runAllowFail(&command, &exit_code, .ignore) catch return null;
    const path = std.mem.trim(u8, answer, " \r\n");
    return if (path.len == 0) null else path;
}

fn missing() noreturn {
    std.process.fatal(
        \\libkernelmill was not found.
        \\  Set KM_LIBRARY_DIR to the folder with libkernelmill.so (its header is expected in
        \\  ../include/kernelmill), or have pkg-config find kernelmill.pc: set PKG_CONFIG_PATH to
        \\  <prefix>/lib/pkgconfig.
    , .{});
}
