//! Every declaration of the package compiles, those that no test calls included.
const std = @import("std");
const km = @import("kernelmill");

/// Zig 0.16 has structures for declarations, 0.17 their names.
fn nameOf(comptime declaration: anytype) []const u8 {
    return if (@typeInfo(@TypeOf(declaration)) == .@"struct") declaration.name else declaration;
}

fn compileAll(comptime T: type, comptime depth: usize) void {
    switch (@typeInfo(T)) {
        .@"struct", .@"enum", .@"union" => {},
        else => return,
    }
    std.testing.refAllDecls(T);
    if (depth == 0) return;
    inline for (comptime std.meta.declarations(T)) |declaration| {
        const value = @field(T, nameOf(declaration));
        if (@TypeOf(value) == type and value != T) compileAll(value, depth - 1);
    }
}

test "every declaration compiles" {
    @setEvalBranchQuota(1_000_000);
    compileAll(km, 4);
    std.testing.refAllDecls(km.Slice(u32));
    std.testing.refAllDecls(km.HostMemory(u32));
    std.testing.refAllDecls(km.MappedFile(u32));
    std.testing.refAllDecls(km.Vector(f32));
    std.testing.refAllDecls(km.Matrix(f32));
    std.testing.refAllDecls(km.Complex(f32));
}
