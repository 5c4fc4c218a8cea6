//! Copies and fills of rows: pictures (2D) and volumes (3D). Methods of `Slice`.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const Context = @import("context.zig").Context;
const Diagnostics = errors.Diagnostics;
const Error = errors.Error;
const memory = @import("memory.zig");
const Stream = @import("stream.zig").Stream;

/// The rows and layers of a copy, all in bytes and rows as c_api.h has them. Offsets count from the
/// beginning of the slices or of the host's memory; pitches go from row to row (0: no gap), layers
/// are `..._layer_rows` rows apart (0: `height`).
pub const RowCopy = struct {
    width_bytes: u64,
    height: u64 = 1,
    depth: u64 = 1,
    destination_offset_bytes: u64 = 0,
    destination_pitch_bytes: u64 = 0,
    destination_layer_rows: u64 = 0,
    source_offset_bytes: u64 = 0,
    source_pitch_bytes: u64 = 0,
    source_layer_rows: u64 = 0,

    /// The structure of the library.
    pub fn raw(copy: RowCopy) c.km_copy_3d {
        return .{
            .width_bytes = copy.width_bytes,
            .height = copy.height,
            .depth = copy.depth,
            .destination_offset_bytes = copy.destination_offset_bytes,
            .destination_pitch_bytes = copy.destination_pitch_bytes,
            .destination_layer_rows = copy.destination_layer_rows,
            .source_offset_bytes = copy.source_offset_bytes,
            .source_pitch_bytes = copy.source_pitch_bytes,
            .source_layer_rows = copy.source_layer_rows,
        };
    }

    /// The rows of a structure of the library.
    pub fn fromRaw(raw_copy: c.km_copy_3d) RowCopy {
        return .{
            .width_bytes = raw_copy.width_bytes,
            .height = raw_copy.height,
            .depth = raw_copy.depth,
            .destination_offset_bytes = raw_copy.destination_offset_bytes,
            .destination_pitch_bytes = raw_copy.destination_pitch_bytes,
            .destination_layer_rows = raw_copy.destination_layer_rows,
            .source_offset_bytes = raw_copy.source_offset_bytes,
            .source_pitch_bytes = raw_copy.source_pitch_bytes,
            .source_layer_rows = raw_copy.source_layer_rows,
        };
    }

    /// The bytes of the host's memory that the copy reaches to, of its source or destination; null
    /// when they do not fit 64 bits.
    fn reach(copy: RowCopy, offset: u64, pitch: u64, layer_rows: u64) ?u64 {
        if (copy.width_bytes == 0 or copy.height == 0 or copy.depth == 0) return offset;
        const row = if (pitch == 0) copy.width_bytes else pitch;
        const rows = if (layer_rows == 0) copy.height else layer_rows;
        const layers = std.math.mul(u64, rows, copy.depth - 1) catch return null;
        const before = std.math.add(u64, layers, copy.height - 1) catch return null;
        const start = std.math.mul(u64, before, row) catch return null;
        const end = std.math.add(u64, start, copy.width_bytes) catch return null;
        return std.math.add(u64, end, offset) catch null;
    }

    /// error.OutOfBounds when the copy reads beyond the host's `size_bytes`.
    pub fn requireSource(copy: RowCopy, size_bytes: u64, diagnostics: ?*Diagnostics) Error!void {
        const end = copy.reach(
            copy.source_offset_bytes,
            copy.source_pitch_bytes,
            copy.source_layer_rows,
        );
        return requireRoom(end, size_bytes, "source", diagnostics);
    }

    /// error.OutOfBounds when the copy writes beyond the host's `size_bytes`.
    pub fn requireDestination(
        copy: RowCopy,
        size_bytes: u64,
        diagnostics: ?*Diagnostics,
    ) Error!void {
        const end = copy.reach(
            copy.destination_offset_bytes,
            copy.destination_pitch_bytes,
            copy.destination_layer_rows,
        );
        return requireRoom(end, size_bytes, "destination", diagnostics);
    }
};

fn requireRoom(
    end: ?u64,
    size_bytes: u64,
    comptime side: []const u8,
    diagnostics: ?*Diagnostics,
) Error!void {
    const needed = end orelse std.math.maxInt(u64);
    if (needed <= size_bytes) return;
    if (diagnostics) |wanted| wanted.explain(
        .error_out_of_bounds,
        "the rows reach to byte {d} of the " ++ side ++ ", which has {d}",
        .{ needed, size_bytes },
    );
    return error.OutOfBounds;
}

/// The methods of a type of slices.
pub fn Methods(comptime S: type) type {
    return struct {
        /// Rows from the host, whose memory is checked to reach. Blocks as `Slice.upload` does. C:
        /// km_slice_upload_3d.
        pub fn uploadRows(
            slice: S,
            stream: Stream,
            source: []const S.Element,
            copy: RowCopy,
        ) Error!void {
            const bytes = std.mem.sliceAsBytes(source);
            try copy.requireSource(bytes.len, slice.diagnostics);
            const raw = copy.raw();
            const got = c.km_slice_upload_3d(stream.handle, slice.handle, bytes.ptr, &raw);
            try check(got, slice.diagnostics);
        }

        /// Rows to the host, whose memory is checked to reach. Blocks as `Slice.download` does. C:
        /// km_slice_download_3d.
        pub fn downloadRows(
            slice: S,
            stream: Stream,
            destination: []S.Element,
            copy: RowCopy,
        ) Error!void {
            const bytes = std.mem.sliceAsBytes(destination);
            try copy.requireDestination(bytes.len, slice.diagnostics);
            const raw = copy.raw();
            const got = c.km_slice_download_3d(stream.handle, slice.handle, bytes.ptr, &raw);
            try check(got, slice.diagnostics);
        }

        /// Rows between slices of one context, or within one. C: km_slice_copy_3d.
        pub fn copyRowsFrom(slice: S, stream: Stream, source: S, copy: RowCopy) Error!void {
            const raw = copy.raw();
            const got = c.km_slice_copy_3d(stream.handle, slice.handle, source.handle, &raw);
            try check(got, slice.diagnostics);
        }

        /// Writes `value` to `width` elements of each of `height` rows that begin `pitch_bytes`
        /// apart (0: no gap), from element `first` on. C: km_slice_fill_2d.
        pub fn fillRows(
            slice: S,
            stream: Stream,
            first: u64,
            pitch_bytes: u64,
            value: S.Element,
            width: u64,
            height: u64,
        ) Error!void {
            const Bits = memory.FillBits(S.Element);
            const bits: u32 = std.mem.bytesToValue(Bits, std.mem.asBytes(&value));
            const offset = first *| @sizeOf(S.Element);
            const size = @sizeOf(S.Element);
            const fill = c.km_slice_fill_2d;
            const place = slice.handle;
            const got = fill(stream.handle, place, offset, pitch_bytes, bits, size, width, height);
            try check(got, slice.diagnostics);
        }
    };
}

/// Memory for rows that begin `pitch_bytes` apart.
pub const Pitched = struct {
    slice: memory.Slice(u8),
    pitch_bytes: u64,

    /// Room for `row_count` rows of `row_bytes`. The slice is the caller's to deinit. C:
    /// km_slice_create_pitched.
    pub fn init(context: Context, row_bytes: u64, row_count: u64) Error!Pitched {
        var handle: c.km_slice = undefined;
        var pitch: u64 = undefined;
        const flags: c.km_slice_flags = c.KM_SLICE_DEFAULT;
        const create = c.km_slice_create_pitched;
        const got = create(context.handle, row_bytes, row_count, flags, &handle, &pitch);
        try check(got, context.diagnostics);
        errdefer _ = c.km_slice_destroy(handle);
        const slice = try memory.sliceOfBytes(handle, context.diagnostics);
        return .{ .slice = slice, .pitch_bytes = pitch };
    }

    /// Drops the memory.
    pub fn deinit(pitched: Pitched) void {
        pitched.slice.deinit();
    }
};
