//! Fills memory by the native layer and reads it by the other names: prints what it found.
const std = @import("std");
const km = @import("kernelmill");
const cuda_native = @import("cuda_native");

pub fn main() !void {
    try cuda_native.initDevice("cpu");
    defer cuda_native.deinit();
    const memory = try cuda_native.allocateDeviceMemory(4);
    defer cuda_native.freeDeviceMemory(memory);
    try memory.fill(try cuda_native.getDefaultStream(), 7);
    var back: [4]u8 = undefined;
    try cuda_native.memcpyDeviceToHost(&back, memory, back.len);
    std.debug.print("version {d}: {any}\n", .{ (try km.version()).major, back });
}
