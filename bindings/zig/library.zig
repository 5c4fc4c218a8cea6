//! libkernelmill and its header are found by KM_LIBRARY_DIR, then by the target's pkg-config, then a
//! clear error says what is missing.
const std = @import("std");
const Library = @This();

include: std.Build.LazyPath,
directory: std.Build.LazyPath,

pub fn find(b: *std.Build, target: std.Build.ResolvedTarget) Library {
    // What is found here may change without any file of the package changing.
    if (@hasDecl(std.Build.Graph, "poisonCache")) b.graph.poisonCache();
    if (b.graph.environ_map.get("KM_LIBRARY_DIR")) |directory| {
        return .{
            .include = absolute(b, b.pathResolve(&.{ directory, "..", "include" })),
            .directory = absolute(b, b.pathResolve(&.{directory})),
        };
    }
    const program = pkgConfig(b, target);
    return .{
        .include = absolute(b, ask(b, program, "includedir") orelse missing(program)),
        .directory = absolute(b, ask(b, program, "libdir") orelse missing(program)),
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

/// Libraries for another architecture are known to a program of their own, as Debian names it.
fn pkgConfig(b: *std.Build, target: std.Build.ResolvedTarget) []const u8 {
    const architecture = target.result.cpu.arch;
    if (architecture == b.graph.host.result.cpu.arch) return "pkg-config";
    return b.fmt("{s}-linux-gnu-pkg-config", .{@tagName(architecture)});
}

fn ask(b: *std.Build, program: []const u8, variable: []const u8) ?[]const u8 {
    var exit_code: u8 = 0;
    const command = [_][]const u8{ program, b.fmt("--variable={s}", .{variable}), "kernelmill" };
    const answer = b.runAllowFail(&command, &exit_code, .ignore) catch return null;
    const path = std.mem.trim(u8, answer, " \r\n");
    return if (path.len == 0) null else path;
}

fn missing(program: []const u8) noreturn {
    std.process.fatal(
        \\libkernelmill was not found.
        \\  Set KM_LIBRARY_DIR to the folder with libkernelmill.so (its header is expected in
        \\  ../include/kernelmill), or have {s} find kernelmill.pc: set PKG_CONFIG_PATH to
        \\  <prefix>/lib/pkgconfig.
    , .{program});
}
