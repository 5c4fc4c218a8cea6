//! The C ABI by @cImport, which Zig has up to 0.16: fills memory of the device and reads it back.
//!
//!     zig run plain.zig -lc -I<prefix>/include -L<prefix>/lib -lkernelmill -rpath <prefix>/lib
const std = @import("std");
const c = @cImport(@cInclude("kernelmill/c_api.h"));

fn check(status: c.km_status) !void {
    if (status == c.KM_SUCCESS) return;
    var message: [4700]u8 = undefined;
    if (c.km_last_error_message(&message, message.len, null) == c.KM_SUCCESS) {
        std.log.err("{s}", .{std.mem.sliceTo(&message, 0)});
    }
    return error.Kernelmill;
}

pub fn main() !void {
    var device: c.km_device = undefined;
    var context: c.km_context = undefined;
    var stream: c.km_stream = undefined;
    var slice: c.km_slice = undefined;
    try check(c.km_device_open("auto", &device));
    defer _ = c.km_device_destroy(device);
    try check(c.km_context_create(device, &context));
    defer _ = c.km_context_destroy(context);
    try check(c.km_context_default_stream(context, &stream));
    defer _ = c.km_stream_destroy(stream);
    var numbers: [4]f32 = undefined;
    try check(c.km_slice_create(context, numbers.len, 4, c.KM_SLICE_DEFAULT, &slice));
    defer _ = c.km_slice_destroy(slice);
    const bits: u32 = @bitCast(@as(f32, 1.5));
    try check(c.km_slice_fill_u32(stream, slice, 0, bits, numbers.len));
    try check(c.km_slice_download(stream, slice, 0, &numbers, @sizeOf(@TypeOf(numbers))));
    std.debug.print("{any}\n", .{numbers});
}
