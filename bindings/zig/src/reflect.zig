//! Reflection that Zig 0.16 and 0.17 spell differently.
const std = @import("std");

/// The layout of a structure or union.
pub fn layoutOf(comptime T: type) std.builtin.Type.ContainerLayout {
    return switch (@typeInfo(T)) {
        .@"struct" => |info| info.layout,
        .@"union" => |info| info.layout,
        else => @compileError(@typeName(T) ++ " has no layout"),
    };
}

/// The types of the fields of a structure, tuple or union.
pub fn fieldTypes(comptime T: type) []const type {
    comptime {
        var types: []const type = &.{};
        for (std.meta.fieldNames(T)) |name| types = types ++ &[_]type{@FieldType(T, name)};
        return types;
    }
}

/// Tells whether a type is a tuple.
pub fn isTuple(comptime T: type) bool {
    return switch (@typeInfo(T)) {
        .@"struct" => |info| info.is_tuple,
        else => false,
    };
}
