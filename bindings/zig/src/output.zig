//! The output of kernels: printf and failed assertions. Methods of `Context`.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const Context = @import("context.zig").Context;

/// Calls `callback(data, text)` with what kernels print, on the thread that synchronises, one call
/// at a time. `data` has to stay until another output is set or the context is gone. The callback
/// may not make calls that wait. C: km_context_set_output.
pub fn setOutput(
    context: Context,
    comptime Data: type,
    data: *Data,
    comptime callback: fn (data: *Data, text: []const u8) void,
) errors.Error!void {
    const wrapper = struct {
        fn call(
            user_data: ?*anyopaque,
            text: [*c]const u8,
            size_bytes: u64,
        ) callconv(.c) void {
            callback(@ptrCast(@alignCast(user_data.?)), text[0..@intCast(size_bytes)]);
        }
    };
    const got = c.km_context_set_output(context.handle, wrapper.call, data);
    try errors.check(got, context.diagnostics);
}

/// A writer that takes the output of kernels. `failure` is the first error of the writer; text that
/// came after it is dropped. The writer is not flushed.
pub const OutputSink = struct {
    writer: *std.Io.Writer,
    failure: ?std.Io.Writer.Error = null,

    fn write(sink: *OutputSink, text: []const u8) void {
        if (sink.failure != null) return;
        sink.writer.writeAll(text) catch |failure| {
            sink.failure = failure;
        };
    }
};

/// Writes what kernels print to the sink, which has to stay like the data of `setOutput`.
pub fn setOutputSink(context: Context, sink: *OutputSink) errors.Error!void {
    return setOutput(context, OutputSink, sink, OutputSink.write);
}

/// Standard output and standard error again, as at the start. C: km_context_set_output.
pub fn resetOutput(context: Context) errors.Error!void {
    const got = c.km_context_set_output(context.handle, null, null);
    try errors.check(got, context.diagnostics);
}
