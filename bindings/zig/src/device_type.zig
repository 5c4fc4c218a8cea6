//! The types that kernels have for elements: launches check them.
const c = @import("c");

/// A type of CUDA C++ that elements and parameters have.
pub const ElementType = enum(i32) {
    unknown = c.KM_ELEMENT_TYPE_UNKNOWN,
    void = c.KM_ELEMENT_TYPE_VOID,
    named = c.KM_ELEMENT_TYPE_NAMED,
    pointer = c.KM_ELEMENT_TYPE_POINTER,
    bool = c.KM_ELEMENT_TYPE_BOOL,
    char = c.KM_ELEMENT_TYPE_CHAR,
    i8 = c.KM_ELEMENT_TYPE_I8,
    u8 = c.KM_ELEMENT_TYPE_U8,
    i16 = c.KM_ELEMENT_TYPE_I16,
    u16 = c.KM_ELEMENT_TYPE_U16,
    i32 = c.KM_ELEMENT_TYPE_I32,
    u32 = c.KM_ELEMENT_TYPE_U32,
    i64 = c.KM_ELEMENT_TYPE_I64,
    u64 = c.KM_ELEMENT_TYPE_U64,
    i128 = c.KM_ELEMENT_TYPE_I128,
    u128 = c.KM_ELEMENT_TYPE_U128,
    f16 = c.KM_ELEMENT_TYPE_F16,
    bf16 = c.KM_ELEMENT_TYPE_BF16,
    f32 = c.KM_ELEMENT_TYPE_F32,
    f64 = c.KM_ELEMENT_TYPE_F64,
    f8_e4m3 = c.KM_ELEMENT_TYPE_F8_E4M3,
    f8_e5m2 = c.KM_ELEMENT_TYPE_F8_E5M2,
    _,
};

/// A type of CUDA C++ in full. A container that has a declaration `cuda_type` of this type is taken
/// for that; numbers need none, and slices of all else fit every kernel.
pub const DeviceType = struct {
    element: ElementType,
    /// 2 to 4 for a vector such as float4.
    lanes: u32 = 1,
    /// Of a named type: "ns::Point".
    name: ?[:0]const u8 = null,
};

/// The type that kernels have for elements of `T`; null: one that launches do not check.
pub fn deviceTypeOf(comptime T: type) ?DeviceType {
    return switch (@typeInfo(T)) {
        .bool => .{ .element = .bool },
        .float => floatOf(@bitSizeOf(T)),
        .int => integerOf(@bitSizeOf(T)),
        .@"struct", .@"union", .@"enum" => if (@hasDecl(T, "cuda_type")) T.cuda_type else null,
        else => null,
    };
}

fn floatOf(comptime bits: usize) ?DeviceType {
    return switch (bits) {
        16 => .{ .element = .f16 },
        32 => .{ .element = .f32 },
        64 => .{ .element = .f64 },
        else => null,
    };
}

/// Integers that differ in the sign fit each other.
fn integerOf(comptime bits: usize) ?DeviceType {
    return switch (bits) {
        8 => .{ .element = .i8 },
        16 => .{ .element = .i16 },
        32 => .{ .element = .i32 },
        64 => .{ .element = .i64 },
        128 => .{ .element = .i128 },
        else => null,
    };
}

/// The number that an argument of type `T` is to the library; null for structures and the rest.
pub fn numberOf(comptime T: type) ?ElementType {
    return switch (@typeInfo(T)) {
        .bool, .float, .int => if (deviceTypeOf(T)) |found| found.element else null,
        else => null,
    };
}

/// Arguments or parameters that are floating-point numbers, and those that are integers or
/// addresses: a bit for each of the first 32.
pub const Kinds = struct {
    floats: u32 = 0,
    others: u32 = 0,

    /// Notes what one of them is.
    pub fn add(kinds: *Kinds, index: usize, kind: enum { float, other, unknown }) void {
        if (index >= 32) return;
        const bit = @as(u32, 1) << @intCast(index);
        switch (kind) {
            .float => kinds.floats |= bit,
            .other => kinds.others |= bit,
            .unknown => {},
        }
    }

    /// Tells whether an argument is known to be of another kind than its parameter.
    pub inline fn conflicts(arguments: Kinds, parameters: Kinds) bool {
        const floats = arguments.floats & parameters.others;
        return floats | (arguments.others & parameters.floats) != 0;
    }
};

/// Has launches check a new slice of `T`, if its type is known.
pub fn setDeviceType(comptime T: type, slice: c.km_slice) void {
    if (comptime deviceTypeOf(T)) |found| {
        const name: ?[*:0]const u8 = if (found.name) |text| text.ptr else null;
        _ = c.km_slice_set_element_type(slice, @intFromEnum(found.element), found.lanes, name);
    }
}
