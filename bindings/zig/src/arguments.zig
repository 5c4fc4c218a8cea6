//! Arguments of kernels in one buffer: for launches by one call, and for nodes of graphs.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const device_type = @import("device_type.zig");
const DeviceAddress = @import("address.zig").DeviceAddress;
const Error = errors.Error;
const Function = @import("function.zig").Function;
const launch = @import("launch.zig");
const reflect = @import("reflect.zig");

/// A launch by one call, for kernels whose `Function.layout` the arguments fit.
pub fn Direct(comptime Arguments: type) type {
    return struct {
        const sizes = sizesOf(Arguments);
        const kinds = kindsOf(Arguments);
        const room = bufferSize(Arguments);

        /// Tells whether count, sizes and kinds of the arguments are those of the kernel.
        pub inline fn fits(function: *const Function) bool {
            return function.layout.fits(sizes, kinds, room);
        }

        /// Queues the kernel.
        pub inline fn submit(
            stream: c.km_stream,
            function: *const Function,
            config: launch.Config,
            arguments: Arguments,
        ) c.km_status {
            var bytes: [room]u8 align(16) = undefined;
            var operands: [@max(slice_count, 1)]c.km_launch_operand = undefined;
            comptime var given: usize = 0;
            inline for (arguments, 0..) |argument, index| {
                if (comptime hasSlice(@TypeOf(argument))) {
                    // The library puts the address into the buffer.
                    operands[given] = operandOf(index, argument);
                    given += 1;
                } else {
                    const place = bytes[function.layout.offsets[index]..];
                    place[0..sizes[index]].* = std.mem.toBytes(valueOf(argument));
                }
            }
            const raw = config.raw();
            const size = function.layout.size_bytes;
            const call = c.km_launch_kernel_operands;
            return call(stream, function.handle, &raw, &bytes, size, &operands, given);
        }

        const slice_count = count: {
            var found: usize = 0;
            for (reflect.fieldTypes(Arguments)) |T| found += @intFromBool(hasSlice(T));
            break :count found;
        };
    };
}

fn sizesOf(comptime Arguments: type) []const usize {
    comptime {
        var sizes: []const usize = &.{};
        for (reflect.fieldTypes(Arguments)) |T| sizes = sizes ++ &[_]usize{@sizeOf(ValueOf(T))};
        return sizes;
    }
}

fn kindsOf(comptime Arguments: type) device_type.Kinds {
    comptime {
        var kinds: device_type.Kinds = .{};
        for (reflect.fieldTypes(Arguments), 0..) |T, index| {
            const is_address = hasSlice(T) or T == DeviceAddress;
            kinds.add(index, switch (@typeInfo(T)) {
                .float => .float,
                .int => .other,
                else => if (is_address) .other else .unknown,
            });
        }
        return kinds;
    }
}

/// The number that an argument is to the library.
fn elementOf(comptime T: type) device_type.ElementType {
    if (hasSlice(T) or T == DeviceAddress) return .pointer;
    return device_type.numberOf(T) orelse .unknown;
}

/// A slice as the library takes it: with what the kernel does with it.
pub inline fn operandOf(index: u32, argument: anytype) c.km_launch_operand {
    const T = @TypeOf(argument);
    var operand: c.km_launch_operand = .{
        .parameter = index,
        .access = if (T == launch.ReadOnly) c.KM_ACCESS_READ else c.KM_ACCESS_UNKNOWN,
        .slice = @intFromPtr(argument.handle),
        .offset_bytes = 0,
        .size_bytes = 0,
    };
    if (T == launch.Part) {
        operand.access = argument.access;
        operand.offset_bytes = argument.offset_bytes;
        operand.size_bytes = argument.size_bytes;
    }
    return operand;
}

/// The arguments of a kernel at their offsets, and the slices among them.
pub fn Packed(comptime Arguments: type) type {
    const count = reflect.fieldTypes(Arguments).len;
    return struct {
        bytes: [bufferSize(Arguments)]u8 align(16) = undefined,
        size_bytes: u64 = 0,
        slices: [@max(count, 1)]c.km_launch_slice = undefined,
        slice_count: u64 = 0,

        const Self = @This();

        /// Lays the arguments out as the kernel's parameters are; error.InvalidLaunch when count or
        /// a size does not fit.
        pub fn init(function: Function, arguments: Arguments) Error!Self {
            var made: Self = .{};
            try requireCount(function, count);
            inline for (arguments, 0..) |argument, index| {
                const param = try function.param(index);
                try made.put(function, index, param, argument);
            }
            return made;
        }

        fn put(
            self: *Self,
            function: Function,
            comptime index: u32,
            param: c.km_param_info,
            argument: anytype,
        ) Error!void {
            const value = valueOf(argument);
            const size = @sizeOf(@TypeOf(value));
            const end = param.offset_bytes + size;
            try function.checkArgument(index, comptime elementOf(@TypeOf(argument)), size);
            if (param.size_bytes != size or end > self.bytes.len) return error.InvalidLaunch;
            const at: usize = @intCast(param.offset_bytes);
            @memset(self.bytes[@intCast(self.size_bytes)..at], 0);
            @memcpy(self.bytes[at..][0..size], std.mem.asBytes(&value));
            self.size_bytes = end;
            if (comptime !hasSlice(@TypeOf(argument))) return;
            self.slices[@intCast(self.slice_count)] = .{
                .parameter = index,
                .reserved = 0,
                .slice = @intFromPtr(argument.handle),
                .offset_bytes = offsetOf(argument),
            };
            self.slice_count += 1;
        }
    };
}

fn requireCount(function: Function, count: u32) Error!void {
    const wanted = try function.paramCount();
    if (wanted == count) return;
    var buffer: NameBuffer = undefined;
    if (function.diagnostics) |diagnostics| diagnostics.explain(
        .error_invalid_launch,
        "kernel '{s}' has {d} parameters and was given {d} arguments",
        .{ nameOf(function, &buffer), wanted, count },
    );
    return error.InvalidLaunch;
}

const NameBuffer = [256]u8;

/// The kernel's name for a message; a longer one than the buffer takes is left out.
fn nameOf(function: Function, buffer: *NameBuffer) []const u8 {
    const got = c.km_function_name(function.handle, buffer, buffer.len, null);
    return if (got == c.KM_SUCCESS) std.mem.sliceTo(buffer, 0) else "...";
}

/// Room for the arguments with a gap of 15 bytes before each.
fn bufferSize(comptime Arguments: type) usize {
    var size: usize = 16;
    for (sizesOf(Arguments)) |each| size += 15 + each;
    return size;
}

/// Tells whether an argument is a slice, or a part of one.
pub fn hasSlice(comptime T: type) bool {
    return launch.isSlice(T) or T == launch.ReadOnly or T == launch.Part;
}

fn offsetOf(argument: anytype) u64 {
    return if (@TypeOf(argument) == launch.Part) argument.offset_bytes else 0;
}

/// The bytes of an argument; for slices, whose address the library fills in, 0.
inline fn valueOf(argument: anytype) ValueOf(@TypeOf(argument)) {
    const T = @TypeOf(argument);
    if (comptime hasSlice(T)) return 0;
    if (T == DeviceAddress) return argument.value;
    return argument;
}

fn ValueOf(comptime T: type) type {
    if (hasSlice(T) or T == DeviceAddress) return u64;
    launch.requireArgument(T);
    return T;
}
