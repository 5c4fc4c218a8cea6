//! Fourier transforms in the order of a stream. docs/guide/fft.md.
const c = @import("c");
const errors = @import("errors.zig");
const types = @import("blas/types.zig");
const check = errors.check;
const Diagnostics = errors.Diagnostics;
const DeviceAddress = @import("address.zig").DeviceAddress;
const Error = errors.Error;
const Slice = @import("memory.zig").Slice;
const Stream = @import("stream.zig").Stream;

/// The places of the elements of one side.
pub const FftLayout = struct {
    /// Elements in memory for each dimension, of which the first is not used.
    extents: [3]u64 = .{ 0, 0, 0 },
    /// Elements from one of the last dimension to the next.
    stride: u64 = 0,
    /// Elements from one transform to the next.
    distance: u64 = 0,

    fn raw(layout: FftLayout) c.km_fft_layout {
        return .{
            .extents = layout.extents,
            .stride = layout.stride,
            .distance = layout.distance,
        };
    }
};

/// The shape of transforms.
pub const FftShape = struct {
    /// One to three, the slowest dimension first, of the real side.
    sizes: []const u64,
    batch_count: u64 = 1,
    /// Without a layout elements lie densely. Those of the output lie apart: each dimension, and
    /// the batch, steps over all elements of those that have smaller steps.
    input: FftLayout = .{},
    output: FftLayout = .{},
};

/// Elements of a slice from `offset` on, or from an address on.
pub fn Array(comptime T: type) type {
    return struct {
        raw: c.km_array,

        const Self = @This();

        /// The elements of a slice from element `first` on.
        pub fn from(slice: Slice(T), first: u64) Self {
            return .{ .raw = .{
                .slice = @intFromPtr(slice.handle),
                .address = 0,
                .offset = first,
                .stride = 0,
            } };
        }

        /// The elements from an address on.
        pub fn at(address: DeviceAddress) Self {
            return .{ .raw = .{ .slice = 0, .address = address.value, .offset = 0, .stride = 0 } };
        }
    };
}

/// The array that a `Slice` or an `Array` is.
pub fn asArray(comptime T: type, given: anytype) Array(T) {
    if (@TypeOf(given) == Slice(T)) return Array(T).from(given, 0);
    return given;
}

fn isComplex(comptime T: type) bool {
    return @typeInfo(T) == .@"struct" and @hasDecl(T, "Real");
}

/// A plan of transforms in a stream, from elements of type `In` to those of type `Out`: `Complex` of
/// f32, f64, f16 or `Bf16`, and such real numbers on one side. Calls return at once; what they use
/// is kept until they are done. Results are not scaled: forward and then inverse gives the numbers
/// times the number of elements of one transform.
pub fn Fft(comptime In: type, comptime Out: type) type {
    if (types.Real(In) != types.Real(Out) or !isComplex(In) and !isComplex(Out)) {
        @compileError("there is no transform from " ++ @typeName(In) ++ " to " ++ @typeName(Out));
    }
    const kind = if (!isComplex(In))
        c.KM_FFT_KIND_REAL_TO_COMPLEX
    else if (!isComplex(Out))
        c.KM_FFT_KIND_COMPLEX_TO_REAL
    else
        c.KM_FFT_KIND_COMPLEX;
    return struct {
        handle: c.km_fft,
        diagnostics: ?*Diagnostics = null,

        const Self = @This();

        /// Plans transforms. Blocks while tables are computed. error.BlasUnavailable when the
        /// library of the device is missing. C: km_fft_create.
        pub fn init(stream: Stream, shape: FftShape) Error!Self {
            var raw: c.km_fft_shape = .{
                .kind = kind,
                .type = types.dataType(types.Real(In)),
                .rank = @intCast(@min(shape.sizes.len, 4)),
                .reserved = 0,
                .sizes = .{ 0, 0, 0 },
                .batch_count = shape.batch_count,
                .input = shape.input.raw(),
                .output = shape.output.raw(),
            };
            for (shape.sizes, 0..) |size, i| {
                if (i < raw.sizes.len) raw.sizes[i] = size;
            }
            var handle: c.km_fft = undefined;
            try check(c.km_fft_create(stream.handle, &raw, &handle), stream.diagnostics);
            return .{ .handle = handle, .diagnostics = stream.diagnostics };
        }

        /// Drops the handle; queued calls go on. C: km_fft_destroy.
        pub fn deinit(fft: Self) void {
            _ = c.km_fft_destroy(fft.handle);
        }

        /// The transform with exp(-2 pi i j k / n) of a `Slice` or `Array` to another, or in place.
        /// C: km_fft_execute.
        pub fn forward(fft: Self, input: anytype, output: anytype) Error!void {
            if (comptime !isComplex(Out)) @compileError("a transform to real numbers is inverse");
            try fft.execute(c.KM_FFT_DIRECTION_FORWARD, input, output);
        }

        /// The transform with exp(2 pi i j k / n). C: km_fft_execute.
        pub fn inverse(fft: Self, input: anytype, output: anytype) Error!void {
            if (comptime !isComplex(In)) @compileError("a transform of real numbers is forward");
            try fft.execute(c.KM_FFT_DIRECTION_INVERSE, input, output);
        }

        fn execute(
            fft: Self,
            direction: c.km_fft_direction,
            input: anytype,
            output: anytype,
        ) Error!void {
            const from = asArray(In, input);
            const to = asArray(Out, output);
            const got = c.km_fft_execute(fft.handle, direction, &from.raw, &to.raw);
            try check(got, fft.diagnostics);
        }
    };
}
