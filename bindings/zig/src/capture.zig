//! Captures of streams into graphs. Methods of `Stream`.
const c = @import("c");
const errors = @import("errors.zig");
const Graph = @import("graph.zig").Graph;
const Stream = @import("stream.zig").Stream;

/// The state of a capture.
pub const CaptureStatus = enum(i32) {
    none = c.KM_CAPTURE_STATUS_NONE,
    active = c.KM_CAPTURE_STATUS_ACTIVE,
    /// `endCapture` ends it, without a graph.
    invalidated = c.KM_CAPTURE_STATUS_INVALIDATED,
    _,
};

/// Until `endCapture`, work that is queued in the stream becomes nodes of a graph and does not run.
/// Other streams that wait for an event recorded in it join. C: km_stream_begin_capture.
pub fn beginCapture(stream: Stream) errors.Error!void {
    try errors.check(c.km_stream_begin_capture(stream.handle), stream.diagnostics);
}

/// Ends the capture and gives the graph. C: km_stream_end_capture.
pub fn endCapture(stream: Stream) errors.Error!Graph {
    var handle: c.km_graph = undefined;
    try errors.check(c.km_stream_end_capture(stream.handle, &handle), stream.diagnostics);
    return .{ .handle = handle, .diagnostics = stream.diagnostics };
}

/// Tells whether the stream is being captured. C: km_stream_capture_status.
pub fn captureStatus(stream: Stream) errors.Error!CaptureStatus {
    var found: c.km_capture_status = undefined;
    try errors.check(c.km_stream_capture_status(stream.handle, &found), stream.diagnostics);
    return @enumFromInt(found);
}
