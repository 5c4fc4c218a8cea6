//! The library's advice with the names of this package in the place of C functions.
const std = @import("std");
const c = @import("c");
const advice = @import("generated/advice.zig");

/// What to do about a status whose text in the library names C functions; null for others.
pub fn recoveryOf(status: c.km_status) ?[:0]const u8 {
    inline for (advice.recoveries) |row| if (row[0] == status) return row[1];
    return null;
}

/// Puts the names into a text, but for the first, which says what call failed: "km_tune_run: ...".
/// Gives the new length; what has no room is cut.
pub fn put(buffer: []u8, length: usize) usize {
    const head = std.mem.indexOf(u8, buffer[0..length], ": ") orelse 0;
    if (std.mem.indexOf(u8, buffer[head..length], "km_") == null) return length;
    var copy: [4608]u8 = undefined;
    const told = copy[0..@min(length, copy.len)];
    @memcpy(told, buffer[0..told.len]);
    var end = head;
    var at = head;
    while (at < told.len) {
        const is_word = std.mem.startsWith(u8, told[at..], "km_");
        const next = if (is_word) wordEnd(told, at) else at + 1;
        const piece = if (is_word) nameOf(told[at..next]) else told[at..next];
        const size = @min(piece.len, buffer.len - end);
        @memcpy(buffer[end..][0..size], piece[0..size]);
        end += size;
        at = next;
    }
    return end;
}

fn wordEnd(text: []const u8, start: usize) usize {
    var end = start;
    while (end < text.len and (std.ascii.isAlphanumeric(text[end]) or text[end] == '_')) end += 1;
    return end;
}

fn nameOf(word: []const u8) []const u8 {
    inline for (advice.names) |row| if (std.mem.eql(u8, row[0], word)) return row[1];
    return word;
}

test put {
    var text: [64]u8 = undefined;
    const before = "km_tune_run: call km_context_reset or km_context_resets.";
    @memcpy(text[0..before.len], before);
    const after = "km_tune_run: call Context.reset or km_context_resets.";
    try std.testing.expectEqualStrings(after, text[0..put(&text, before.len)]);
    const full = put(text[0..20], 20);
    try std.testing.expectEqual(20, full);
}
