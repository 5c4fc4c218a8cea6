//! Reads the entry points of a PTX text at compile time: their names and parameters.
const std = @import("std");

/// The kind of value that PTX declares a parameter to be.
pub const Kind = enum {
    /// .u8 to .u64 and .s8 to .s64: integers, and addresses where they have 64 bits.
    integer,
    /// .f16, .f32, .f64 and their like.
    float,
    /// .b8 to .b64: bits of any type.
    bits,
    /// .ptr: an address.
    pointer,
    /// .b8 name[n]: a structure or an array.
    bytes,
};

/// A parameter of a kernel.
pub const Param = struct {
    name: []const u8,
    kind: Kind,
    /// The type as PTX spells it, ".u32".
    type_name: []const u8,
    size_bytes: usize,
    align_bytes: usize,
    /// The place in the buffer of arguments.
    offset_bytes: usize,
};

/// A kernel.
pub const Entry = struct {
    name: [:0]const u8,
    params: []const Param,

    /// The end of the last parameter.
    pub fn argumentsSize(comptime entry: Entry) usize {
        if (entry.params.len == 0) return 0;
        const last = entry.params[entry.params.len - 1];
        return last.offset_bytes + last.size_bytes;
    }
};

/// The entry points of a text, in its order. A text that ends in the middle of one, or has a
/// parameter of an unknown form, does not compile.
pub fn entries(comptime text: []const u8) []const Entry {
    @setEvalBranchQuota(1000 + text.len * 32);
    var found: []const Entry = &.{};
    var reader: Reader = .{ .text = text };
    while (reader.next()) |token| {
        if (!std.mem.eql(u8, token, ".entry")) continue;
        const entry = readEntry(&reader);
        if (find(found, entry.name) == null) found = found ++ &[_]Entry{entry};
    }
    return found;
}

/// The entry of this name.
pub fn find(comptime list: []const Entry, comptime name: []const u8) ?Entry {
    for (list) |entry| if (std.mem.eql(u8, entry.name, name)) return entry;
    return null;
}

/// The names of all entries: "a, b".
pub fn names(comptime list: []const Entry) []const u8 {
    var text: []const u8 = "";
    for (list, 0..) |entry, i| text = text ++ (if (i == 0) "" else ", ") ++ entry.name;
    return if (list.len == 0) "none" else text;
}

/// Words and single punctuation marks of a text, without comments.
const Reader = struct {
    text: []const u8,
    at: usize = 0,

    fn next(comptime reader: *Reader) ?[]const u8 {
        reader.skipBlanks();
        if (reader.at >= reader.text.len) return null;
        const start = reader.at;
        reader.at += 1;
        if (reader.text[start] == '"') {
            reader.at = indexFrom(reader.text, reader.at, "\"") + 1;
        } else if (isWord(reader.text[start])) {
            while (reader.at < reader.text.len and isWord(reader.text[reader.at])) reader.at += 1;
        }
        return reader.text[start..@min(reader.at, reader.text.len)];
    }

    fn need(comptime reader: *Reader) []const u8 {
        return reader.next() orelse @compileError("the PTX ends in the middle of an entry point");
    }

    fn expect(comptime reader: *Reader, comptime wanted: []const u8) void {
        const found = reader.need();
        if (std.mem.eql(u8, found, wanted)) return;
        @compileError("the PTX has '" ++ found ++ "' in an entry point, not '" ++ wanted ++ "'");
    }

    fn skipBlanks(comptime reader: *Reader) void {
        while (reader.at < reader.text.len) {
            const rest = reader.text[reader.at..];
            if (std.ascii.isWhitespace(rest[0]) or rest[0] == 0) {
                reader.at += 1;
            } else if (std.mem.startsWith(u8, rest, "//")) {
                reader.at = indexFrom(reader.text, reader.at, "\n");
            } else if (std.mem.startsWith(u8, rest, "/*")) {
                reader.at = indexFrom(reader.text, reader.at + 2, "*/") + 2;
            } else return;
        }
    }
};

fn indexFrom(comptime text: []const u8, comptime start: usize, comptime wanted: []const u8) usize {
    return std.mem.indexOfPos(u8, text, start, wanted) orelse text.len;
}

fn isWord(char: u8) bool {
    return std.ascii.isAlphanumeric(char) or char == '_' or char == '$' or char == '.' or
        char == '%';
}

fn readEntry(comptime reader: *Reader) Entry {
    const name = reader.need();
    var params: []const Param = &.{};
    const saved = reader.at;
    const opening = reader.need();
    if (!std.mem.eql(u8, opening, "(")) {
        reader.at = saved;
        return .{ .name = terminated(name), .params = params };
    }
    var offset: usize = 0;
    while (true) {
        const token = reader.need();
        if (std.mem.eql(u8, token, ")")) break;
        if (std.mem.eql(u8, token, ",")) continue;
        if (!std.mem.eql(u8, token, ".param")) {
            @compileError("the PTX has '" ++ token ++ "' for a parameter of " ++ name);
        }
        const param = readParam(reader, offset);
        offset = param.offset_bytes + param.size_bytes;
        params = params ++ &[_]Param{param};
    }
    return .{ .name = terminated(name), .params = params };
}

fn terminated(comptime name: []const u8) [:0]const u8 {
    return name ++ "";
}

/// A parameter from after ".param" to its name or the size of its array.
fn readParam(comptime reader: *Reader, comptime offset: usize) Param {
    var alignment: usize = 0;
    var type_name: []const u8 = "";
    var is_pointer = false;
    const name = while (true) {
        const token = reader.need();
        if (std.mem.eql(u8, token, ".align")) {
            // The alignment after .ptr is that of the memory behind it.
            const value = number(reader.need());
            if (!is_pointer) alignment = value;
        } else if (std.mem.eql(u8, token, ".ptr")) {
            is_pointer = true;
        } else if (token[0] == '.') {
            if (!is_pointer) type_name = token;
        } else break token;
    };
    const unit = sizeOf(type_name, name);
    const count = readCount(reader);
    const size = unit * (count orelse 1);
    const aligned = @max(alignment, unit);
    return .{
        .name = name,
        .kind = if (count != null) .bytes else if (is_pointer) .pointer else kindOf(type_name),
        .type_name = type_name,
        .size_bytes = size,
        .align_bytes = aligned,
        .offset_bytes = std.mem.alignForward(usize, offset, aligned),
    };
}

/// The number in brackets after a name, if there is one.
fn readCount(comptime reader: *Reader) ?usize {
    const saved = reader.at;
    if (!std.mem.eql(u8, reader.need(), "[")) {
        reader.at = saved;
        return null;
    }
    const count = number(reader.need());
    reader.expect("]");
    return count;
}

fn number(comptime token: []const u8) usize {
    const digits = std.mem.trimEnd(u8, token, "U");
    return std.fmt.parseInt(usize, digits, 0) catch
        @compileError("the PTX has '" ++ token ++ "' for a number in an entry point");
}

fn sizeOf(comptime type_name: []const u8, comptime name: []const u8) usize {
    const known = .{
        .{ 1, ".u8 .s8 .b8" },
        .{ 2, ".u16 .s16 .b16 .f16 .bf16" },
        .{ 4, ".u32 .s32 .b32 .f32 .f16x2 .bf16x2 .tf32" },
        .{ 8, ".u64 .s64 .b64 .f64 .texref .samplerref .surfref" },
        .{ 16, ".b128" },
    };
    for (known) |row| {
        var types = std.mem.tokenizeScalar(u8, row[1], ' ');
        while (types.next()) |each| if (std.mem.eql(u8, each, type_name)) return row[0];
    }
    @compileError("parameter '" ++ name ++ "' of the PTX has the type '" ++ type_name ++ "'");
}

fn kindOf(comptime type_name: []const u8) Kind {
    return switch (type_name[1]) {
        'u', 's' => .integer,
        'f', 't' => .float,
        'b' => if (type_name[2] == 'f') .float else .bits,
        else => unreachable,
    };
}
