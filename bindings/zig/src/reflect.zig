//! Reflection that Zig 0.16 and 0.17 spell differently.
const std = @import("std");

/// The types of the fields of a structure or tuple.
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
