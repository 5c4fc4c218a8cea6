//! Elements, vectors and matrices of BLAS calls.
const std = @import("std");
const c = @import("c");
const DeviceAddress = @import("../address.zig").DeviceAddress;
const Slice = @import("../memory.zig").Slice;

/// A complex number: the real part first, as C, C++ and Fortran have it.
pub fn Complex(comptime T: type) type {
    return extern struct {
        re: T,
        im: T,

        const Self = @This();
        pub const Real = T;

        /// A number of these parts.
        pub fn init(re: T, im: T) Self {
            return .{ .re = re, .im = im };
        }
    };
}

/// The upper 16 bits of an f32 (bfloat16), by its bits.
pub const Bf16 = packed struct(u16) {
    bits: u16,

    /// The nearest number, of two the one with an even last bit; NaNs stay NaNs.
    pub fn fromF32(value: f32) Bf16 {
        const bits: u32 = @bitCast(value);
        if (std.math.isNan(value)) return .{ .bits = @as(u16, @truncate(bits >> 16)) | 0x40 };
        const half: u32 = 0x7fff + ((bits >> 16) & 1);
        return .{ .bits = @truncate((bits +% half) >> 16) };
    }

    /// The number as f32, which holds it exactly.
    pub fn toF32(number: Bf16) f32 {
        return @bitCast(@as(u32, number.bits) << 16);
    }
};

/// The library's number for a type of elements.
pub fn dataType(comptime T: type) c.km_data_type {
    return switch (T) {
        f32 => c.KM_DATA_TYPE_F32,
        f64 => c.KM_DATA_TYPE_F64,
        Complex(f32) => c.KM_DATA_TYPE_C32,
        Complex(f64) => c.KM_DATA_TYPE_C64,
        f16 => c.KM_DATA_TYPE_F16,
        Bf16 => c.KM_DATA_TYPE_BF16,
        else => @compileError("BLAS has f32, f64, km.Complex of them, and for gemm f16 and " ++
            "km.Bf16, not " ++ @typeName(T)),
    };
}

/// The real numbers of the width of an element.
pub fn Real(comptime T: type) type {
    return if (@typeInfo(T) == .@"struct" and @hasDecl(T, "Real")) T.Real else T;
}

/// The type of alpha and beta: f32 for elements of 16 bits.
pub fn Scalar(comptime T: type) type {
    return if (T == f16 or T == Bf16) f32 else T;
}

/// Elements of a slice, or from an address on, each `increment` elements after the one before; a
/// negative increment begins at the end.
pub fn Vector(comptime T: type) type {
    return struct {
        raw: c.km_blas_vector,
        len: u64,

        const Self = @This();
        pub const BlasElement = T;

        /// All of a slice.
        pub fn of(slice: Slice(T)) Self {
            return strided(slice, 0, slice.len, 1);
        }

        /// `count` elements, the first in memory at `first`.
        pub fn strided(slice: Slice(T), first: u64, count: u64, increment: i64) Self {
            return .{ .len = count, .raw = .{
                .slice = @intFromPtr(slice.handle),
                .address = 0,
                .offset = first,
                .increment = increment,
            } };
        }

        /// `count` elements from an address on.
        pub fn at(address: DeviceAddress, count: u64, increment: i64) Self {
            return .{ .len = count, .raw = .{
                .slice = 0,
                .address = address.value,
                .offset = 0,
                .increment = increment,
            } };
        }
    };
}

/// A matrix in a slice or from an address on.
pub fn Matrix(comptime T: type) type {
    return struct {
        rows: u64,
        columns: u64,
        slice: u64 = 0,
        address: u64 = 0,
        /// Elements from the beginning of the slice to the first one.
        offset: u64 = 0,
        /// Elements from line to line (column or row, by the layout); 0: no gap.
        leading_dimension: u64 = 0,
        /// Elements from one matrix of a batch to the next.
        stride: u64 = 0,

        const Self = @This();
        pub const BlasElement = T;

        /// A matrix from the beginning of a slice on, without gaps.
        pub fn of(slice: Slice(T), rows: u64, columns: u64) Self {
            return .{ .slice = @intFromPtr(slice.handle), .rows = rows, .columns = columns };
        }

        /// Like `of` from element `first` on.
        pub fn from(slice: Slice(T), first: u64, rows: u64, columns: u64) Self {
            var matrix = of(slice, rows, columns);
            matrix.offset = first;
            return matrix;
        }

        /// A matrix from an address on, without gaps.
        pub fn at(address: DeviceAddress, rows: u64, columns: u64) Self {
            return .{ .address = address.value, .rows = rows, .columns = columns };
        }

        /// This matrix with lines that are so many elements apart.
        pub fn withLeadingDimension(matrix: Self, elements: u64) Self {
            var other = matrix;
            other.leading_dimension = elements;
            return other;
        }

        /// A batch that begins with this matrix.
        pub fn withStride(matrix: Self, elements: u64) Self {
            var other = matrix;
            other.stride = elements;
            return other;
        }
    };
}

/// A slice or a vector as a vector.
pub fn asVector(comptime T: type, given: anytype) Vector(T) {
    if (@TypeOf(given) == Slice(T)) return Vector(T).of(given);
    return given;
}

/// A matrix or band or triangle as the library takes it, with `dense` elements a line when it says
/// nothing else.
pub fn rawMatrix(matrix: anytype, dense: u64) c.km_blas_matrix {
    return .{
        .slice = matrix.slice,
        .address = matrix.address,
        .offset = matrix.offset,
        .leading_dimension = if (matrix.leading_dimension == 0) dense else matrix.leading_dimension,
        .stride = matrix.stride,
    };
}
