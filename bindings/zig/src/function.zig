//! Functions: the kernels of a module.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const Diagnostics = errors.Diagnostics;
const Error = errors.Error;
const TextError = errors.AllocatingError;
const Context = @import("context.zig").Context;
const ElementType = @import("device_type.zig").ElementType;
const Kinds = @import("device_type.zig").Kinds;
const Module = @import("module.zig").Module;
const occupancy_file = @import("occupancy.zig");

/// A property of a kernel.
pub const FunctionAttribute = enum(i32) {
    max_threads_per_block = c.KM_FUNCTION_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    /// Static shared memory.
    shared_bytes = c.KM_FUNCTION_ATTRIBUTE_SHARED_BYTES,
    constant_bytes = c.KM_FUNCTION_ATTRIBUTE_CONSTANT_BYTES,
    /// Local memory of a thread.
    local_bytes = c.KM_FUNCTION_ATTRIBUTE_LOCAL_BYTES,
    registers = c.KM_FUNCTION_ATTRIBUTE_REGISTERS,
    /// 90 for ISA 9.0.
    ptx_version = c.KM_FUNCTION_ATTRIBUTE_PTX_VERSION,
    /// 80 for sm_80.
    target = c.KM_FUNCTION_ATTRIBUTE_TARGET,
    /// Settable.
    max_dynamic_shared_bytes = c.KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES,
    /// An `ExecutionMode` by number; CPU only.
    execution_mode = c.KM_FUNCTION_ATTRIBUTE_EXECUTION_MODE,
    binary_version = c.KM_FUNCTION_ATTRIBUTE_BINARY_VERSION,
    cache_globals = c.KM_FUNCTION_ATTRIBUTE_CACHE_GLOBALS,
    /// Settable; -1: the driver's choice.
    shared_carveout_percent = c.KM_FUNCTION_ATTRIBUTE_SHARED_CARVEOUT_PERCENT,
    cluster_required = c.KM_FUNCTION_ATTRIBUTE_CLUSTER_REQUIRED,
    cluster_x = c.KM_FUNCTION_ATTRIBUTE_CLUSTER_X,
    cluster_y = c.KM_FUNCTION_ATTRIBUTE_CLUSTER_Y,
    cluster_z = c.KM_FUNCTION_ATTRIBUTE_CLUSTER_Z,
    /// Settable: clusters of more than 8 blocks.
    non_portable_cluster = c.KM_FUNCTION_ATTRIBUTE_NON_PORTABLE_CLUSTER,
    /// Settable: a CUclusterSchedulingPolicy.
    cluster_policy = c.KM_FUNCTION_ATTRIBUTE_CLUSTER_POLICY,
    _,
};

/// The way in which the CPU runs a kernel.
pub const ExecutionMode = enum(i64) {
    unknown = c.KM_EXECUTION_MODE_UNKNOWN,
    run_to_completion = c.KM_EXECUTION_MODE_RUN_TO_COMPLETION,
    fibers = c.KM_EXECUTION_MODE_FIBERS,
    independent_threads = c.KM_EXECUTION_MODE_INDEPENDENT_THREADS,
    _,
};

/// Size, alignment, offset and kind of a parameter; `kind` is a `ParamKind`, `value_type` a
/// `ParamType` by number.
pub const Param = c.km_param_info;

/// The type of a parameter in its source; `kind` is a `SignatureKind`, `element` an `ElementType` by
/// number.
pub const ParamSignature = c.km_param_signature;

/// The kind of a parameter in its source.
pub const SignatureKind = enum(i32) {
    unknown = c.KM_SIGNATURE_KIND_UNKNOWN,
    /// A pointer or a reference.
    pointer = c.KM_SIGNATURE_KIND_POINTER,
    value = c.KM_SIGNATURE_KIND_VALUE,
    _,
};

/// The kind of a parameter, as far as PTX tells.
pub const ParamKind = enum(i32) {
    /// 64 bits that may be an address: CUDA C++ declares no more.
    unknown = c.KM_PARAM_KIND_UNKNOWN,
    pointer = c.KM_PARAM_KIND_POINTER,
    value = c.KM_PARAM_KIND_VALUE,
    _,
};

/// The type that PTX declares a parameter to have.
pub const ParamType = enum(i32) {
    /// Bits, an array or a structure.
    unknown = c.KM_PARAM_TYPE_UNKNOWN,
    integer = c.KM_PARAM_TYPE_INTEGER,
    float = c.KM_PARAM_TYPE_FLOAT,
    _,
};

/// Kernels of up to this many parameters are launched by one call.
const few = 24;

/// The places of the parameters of a kernel, for launches by one call.
pub const Layout = struct {
    /// More than `few` when the places are not here.
    count: u16 = few + 1,
    size_bytes: u16 = 0,
    offsets: [few]u16 = undefined,
    sizes: [few]u16 = undefined,
    kinds: Kinds = .{},

    /// Tells whether arguments of these sizes and kinds are those of the kernel, and have room.
    pub inline fn fits(
        layout: *const Layout,
        comptime sizes: []const usize,
        comptime kinds: Kinds,
        room: usize,
    ) bool {
        if (layout.count != sizes.len or layout.size_bytes > room) return false;
        if (kinds.conflicts(layout.kinds)) return false;
        inline for (sizes, 0..) |size, index| if (layout.sizes[index] != size) return false;
        return true;
    }

    fn of(handle: c.km_function, diagnostics: ?*Diagnostics) Error!Layout {
        var made: Layout = .{};
        var count: u32 = undefined;
        try check(c.km_function_param_count(handle, &count), diagnostics);
        if (count > few) return made;
        for (0..count) |index| {
            var param_info = errors.sized(Param);
            try check(c.km_function_param(handle, @intCast(index), &param_info), diagnostics);
            const end = param_info.offset_bytes +| param_info.size_bytes;
            if (end > std.math.maxInt(u16)) return .{};
            made.offsets[index] = @intCast(param_info.offset_bytes);
            made.sizes[index] = @intCast(param_info.size_bytes);
            made.size_bytes = @intCast(end);
            made.kinds.add(index, if (param_info.value_type == c.KM_PARAM_TYPE_FLOAT)
                .float
            else if (param_info.value_type == c.KM_PARAM_TYPE_INTEGER or
                param_info.kind == c.KM_PARAM_KIND_POINTER) .other else .unknown);
        }
        made.count = @intCast(count);
        return made;
    }
};

/// A kernel of a module.
pub const Function = struct {
    handle: c.km_function,
    diagnostics: ?*Diagnostics = null,
    layout: Layout = .{},

    /// A handle from elsewhere, which the function takes over, even on failure.
    pub fn fromHandle(handle: c.km_function, diagnostics: ?*Diagnostics) Error!Function {
        errdefer _ = c.km_function_destroy(handle);
        const layout = try Layout.of(handle, diagnostics);
        return .{ .handle = handle, .diagnostics = diagnostics, .layout = layout };
    }

    pub const occupancy = occupancy_file.occupancy;
    pub const bestBlock = occupancy_file.bestBlock;
    pub const bestBlockWith = occupancy_file.bestBlockWith;
    pub const availableSharedBytes = occupancy_file.availableSharedBytes;
    pub const maxActiveClusters = occupancy_file.maxActiveClusters;

    /// Drops the handle; launches under way go on. C: km_function_destroy.
    pub fn deinit(function: Function) void {
        _ = c.km_function_destroy(function.handle);
    }

    /// The name in the PTX; the caller's to free. C: km_function_name.
    pub fn name(function: Function, allocator: std.mem.Allocator) TextError![:0]u8 {
        const arguments = .{function.handle};
        return errors.copyText(allocator, function.diagnostics, c.km_function_name, arguments);
    }

    /// One property; error.NotSupported when the device cannot tell. C:
    /// km_function_attribute_get.
    pub fn attribute(function: Function, which: FunctionAttribute) Error!i64 {
        var value: i64 = undefined;
        const get = c.km_function_attribute_get;
        try check(get(function.handle, @intFromEnum(which), &value), function.diagnostics);
        return value;
    }

    /// Sets an attribute that is settable: `.max_dynamic_shared_bytes`, which allows launches with
    /// more dynamic shared memory than the default limit, or a hint. C: km_function_attribute_set.
    pub fn setAttribute(function: Function, which: FunctionAttribute, value: i64) Error!void {
        const set = c.km_function_attribute_set;
        try check(set(function.handle, @intFromEnum(which), value), function.diagnostics);
    }

    /// The number of parameters. C: km_function_param_count.
    pub fn paramCount(function: Function) Error!u32 {
        var count: u32 = undefined;
        const got = c.km_function_param_count(function.handle, &count);
        try check(got, function.diagnostics);
        return count;
    }

    /// Size, alignment, place and kind of a parameter, from 0. C: km_function_param.
    pub fn param(function: Function, index: u32) Error!Param {
        var found = errors.sized(Param);
        try check(c.km_function_param(function.handle, index, &found), function.diagnostics);
        return found;
    }

    /// The type of a parameter, from 0, as CUDA C++ declares it; perhaps unknown. C:
    /// km_function_param_signature.
    pub fn paramSignature(function: Function, index: u32) Error!ParamSignature {
        var found = errors.sized(ParamSignature);
        const get = c.km_function_param_signature;
        try check(get(function.handle, index, &found), function.diagnostics);
        return found;
    }

    /// Fails with error.InvalidLaunch, and a message that says what to give, if a value of so many
    /// bytes does not fit a parameter, from 0; `.pointer` stands for slices and addresses,
    /// `.unknown` for structures. C: km_function_check_argument.
    pub fn checkArgument(
        function: Function,
        index: u32,
        element: ElementType,
        size_bytes: u64,
    ) Error!void {
        const ask = c.km_function_check_argument;
        const lanes = @intFromBool(element != .unknown);
        const got = ask(function.handle, index, @intFromEnum(element), lanes, size_bytes);
        try check(got, function.diagnostics);
    }

    /// The name of a parameter's element type in CUDA C++, empty where it is unknown; the caller's
    /// to free. C: km_function_param_type_name.
    pub fn paramTypeName(
        function: Function,
        allocator: std.mem.Allocator,
        index: u32,
    ) TextError![:0]u8 {
        const arguments = .{ function.handle, index };
        const call = c.km_function_param_type_name;
        return errors.copyText(allocator, function.diagnostics, call, arguments);
    }

    /// Makes machine code for blocks of this size now, so that the first launch need not wait for
    /// it. C: km_function_prepare.
    pub fn prepare(function: Function, block: [3]u32) Error!void {
        const got = c.km_function_prepare(function.handle, block[0], block[1], block[2]);
        try check(got, function.diagnostics);
    }

    /// Says what each launch counts as in profiles: so many operations, and so many bytes of memory
    /// traffic. C: km_profiler_set_work.
    pub fn setWork(function: Function, operations: u64, size_bytes: u64) Error!void {
        const got = c.km_profiler_set_work(function.handle, operations, size_bytes);
        try check(got, function.diagnostics);
    }
};

test Function {
    const context = try Context.open("cpu", null);
    defer context.deinit();
    const source = "extern \"C\" __global__ void scale(float* data, float factor) {}";
    const module = try Module.loadSource(context, source, "scale.cu");
    defer module.deinit();
    const scale = try module.function("scale");
    defer scale.deinit();
    try std.testing.expectEqual(2, try scale.paramCount());
    try std.testing.expectEqual(c.KM_ELEMENT_TYPE_F32, (try scale.paramSignature(0)).element);
    const type_name = try scale.paramTypeName(std.testing.allocator, 1);
    defer std.testing.allocator.free(type_name);
    try std.testing.expectEqualStrings("float", type_name);
    const best = try scale.bestBlock(0, 0);
    try std.testing.expect((try scale.occupancy(best.block_threads, 0)).active_blocks > 0);
}
