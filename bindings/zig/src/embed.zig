//! Kernels of a PTX text that is known at compile time: launches that are checked by the compiler.
const std = @import("std");
const c = @import("c");
const arguments_file = @import("arguments.zig");
const errors = @import("errors.zig");
const check = errors.check;
const Context = @import("context.zig").Context;
const DeviceAddress = @import("address.zig").DeviceAddress;
const Error = errors.Error;
const Function = @import("function.zig").Function;
const Graph = @import("graph.zig").Graph;
const launch_file = @import("launch.zig");
const Module = @import("module.zig").Module;
const Node = @import("graph.zig").Node;
const ptx_entries = @import("ptx_entries.zig");
const reflect = @import("reflect.zig");
const Stream = @import("stream.zig").Stream;
const Entry = ptx_entries.Entry;
const Param = ptx_entries.Param;

/// The kernels of a PTX text. A launch with a wrong number, size or kind of arguments does not
/// compile, and the message names the parameter.
///
/// ```zig
/// const Kernels = km.embedKernels(@embedFile("scale.ptx"));
/// const kernels = try Kernels.load(context);
/// defer kernels.deinit();
/// const scale = try kernels.get("scale");
/// defer scale.deinit();
/// try scale.launch(stream, .forElements(n), .{ data, @as(f32, 2), n });
/// ```
pub fn embedKernels(comptime ptx: []const u8) type {
    return struct {
        module: Module,

        const Self = @This();

        /// The entry points with their parameters, in the order of the text.
        pub const entries = ptx_entries.entries(ptx);

        /// Loads the text into a context. C: km_module_load_ptx.
        pub fn load(context: Context) Error!Self {
            return .{ .module = try Module.loadPtx(context, ptx, "embedded.ptx") };
        }

        /// Drops the module; kernels keep it.
        pub fn deinit(kernels: Self) void {
            kernels.module.deinit();
        }

        /// The kernel of this name; one that the text does not have does not compile.
        pub fn get(kernels: Self, comptime name: []const u8) Error!Kernel(entryOf(name)) {
            return .{ .function = try kernels.module.function(comptime entryOf(name).name) };
        }

        inline fn entryOf(comptime name: []const u8) Entry {
            return comptime ptx_entries.find(entries, name) orelse @compileError(
                "the PTX has no kernel '" ++ name ++ "'; it has: " ++ ptx_entries.names(entries),
            );
        }
    };
}

/// A kernel whose parameters are known at compile time.
pub fn Kernel(comptime entry: Entry) type {
    return struct {
        function: Function,

        const Self = @This();
        pub const params = entry.params;

        /// Drops the function; launches under way go on.
        pub fn deinit(kernel: Self) void {
            kernel.function.deinit();
        }

        /// Queues the kernel with a tuple of arguments: slices, views, `readOnly` or `part` of
        /// those, `DeviceAddress`es, numbers and structures. One call of the library, and nothing
        /// is allocated here. C: km_launch_kernel, km_launch_kernel_operands.
        pub inline fn launch(
            kernel: Self,
            stream: Stream,
            config: launch_file.Config,
            arguments: anytype,
        ) Error!void {
            const T = @TypeOf(arguments);
            comptime checkArguments(entry, T);
            var bytes: [@max(entry.argumentsSize(), 1)]u8 align(16) = undefined;
            var operands: [@max(sliceCount(T), 1)]c.km_launch_operand = undefined;
            comptime var given: usize = 0;
            inline for (arguments, entry.params, 0..) |argument, param, index| {
                put(&bytes, param, argument);
                if (comptime arguments_file.hasSlice(@TypeOf(argument))) {
                    operands[given] = arguments_file.operandOf(index, argument);
                    given += 1;
                }
            }
            const raw = config.raw();
            const call = c.km_launch_kernel_operands;
            const function = kernel.function.handle;
            const size = comptime entry.argumentsSize();
            const got = call(stream.handle, function, &raw, &bytes, size, &operands, given);
            return check(got, stream.diagnostics);
        }

        /// Adds the kernel to a graph, with arguments that are checked like those of `launch`.
        pub fn addNode(
            kernel: Self,
            graph: Graph,
            after: []const Node,
            config: launch_file.Config,
            arguments: anytype,
        ) Error!Node {
            comptime checkArguments(entry, @TypeOf(arguments));
            return graph.addKernel(after, kernel.function, config, arguments);
        }
    };
}

inline fn put(bytes: [*]u8, comptime param: Param, argument: anytype) void {
    const place = bytes[param.offset_bytes..][0..param.size_bytes];
    const T = @TypeOf(argument);
    if (comptime arguments_file.hasSlice(T)) return; // the library fills it in
    place.* = std.mem.toBytes(if (T == DeviceAddress) argument.value else argument);
}

fn sliceCount(comptime T: type) usize {
    var count: usize = 0;
    for (reflect.fieldTypes(T)) |Field| count += @intFromBool(arguments_file.hasSlice(Field));
    return count;
}

/// Fails the compilation unless a tuple of this type fits the parameters.
fn checkArguments(comptime entry: Entry, comptime T: type) void {
    if (!reflect.isTuple(T)) {
        @compileError("the arguments of " ++ entry.name ++ " are a tuple, not " ++ @typeName(T));
    }
    const given = reflect.fieldTypes(T);
    if (given.len != entry.params.len) {
        @compileError(std.fmt.comptimePrint("{s} has {d} parameters ({s}), and was given {d}", .{
            entry.name, entry.params.len, paramNames(entry), given.len,
        }));
    }
    for (given, entry.params, 0..) |Field, param, index| {
        if (misfit(param, Field)) |wanted| @compileError(std.fmt.comptimePrint(
            "parameter {d} '{s}' of {s} is {s}: {s}, not {s}",
            .{ index, param.name, entry.name, declaration(param), wanted, @typeName(Field) },
        ));
    }
}

fn paramNames(comptime entry: Entry) []const u8 {
    var text: []const u8 = "";
    for (entry.params, 0..) |param, i| {
        text = text ++ (if (i == 0) "" else ", ") ++ declaration(param) ++ " " ++ param.name;
    }
    return if (text.len == 0) "none" else text;
}

fn declaration(comptime param: Param) []const u8 {
    return switch (param.kind) {
        .bytes => std.fmt.comptimePrint("{d} bytes", .{param.size_bytes}),
        .pointer => param.type_name ++ " .ptr",
        else => param.type_name,
    };
}

/// The argument that a parameter takes, when it is not one of type T.
fn misfit(comptime param: Param, comptime T: type) ?[]const u8 {
    if (arguments_file.hasSlice(T) or T == DeviceAddress) {
        const takes_address = param.kind == .pointer or
            (param.size_bytes == 8 and param.kind != .float and param.kind != .bytes);
        return if (takes_address) null else wantedBy(param);
    }
    launch_file.requireArgument(T);
    if (@sizeOf(T) != param.size_bytes) return wantedBy(param);
    const fits = switch (param.kind) {
        .integer => isKind(T, .integer),
        .float => isKind(T, .float),
        .pointer => false,
        .bits, .bytes => true,
    };
    return if (fits) null else wantedBy(param);
}

fn isKind(comptime T: type, comptime kind: ptx_entries.Kind) bool {
    return switch (@typeInfo(T)) {
        .int, .bool, .@"enum" => kind == .integer,
        .float => kind == .float,
        // Structures and arrays of one number are passed as that number.
        .@"struct", .@"union", .array, .vector => true,
        else => false,
    };
}

fn wantedBy(comptime param: Param) []const u8 {
    return switch (param.kind) {
        .pointer => "a slice, a view or a DeviceAddress",
        .integer => if (param.size_bytes == 8)
            "a slice, a view, a DeviceAddress or an integer of 8 bytes"
        else
            std.fmt.comptimePrint("an integer of {d} bytes", .{param.size_bytes}),
        .float => std.fmt.comptimePrint("a float of {d} bytes", .{param.size_bytes}),
        .bits, .bytes => std.fmt.comptimePrint("a value of {d} bytes", .{param.size_bytes}),
    };
}

test embedKernels {
    const Kernels = embedKernels(
        \\.version 7.0
        \\.target sm_70
        \\.address_size 64
        \\.visible .entry nothing(.param .u64 data, .param .f32 factor)
        \\{ ret; }
    );
    const context = try Context.open("cpu", null);
    defer context.deinit();
    const stream = try Stream.init(context);
    defer stream.deinit();
    const kernels = try Kernels.load(context);
    defer kernels.deinit();
    const nothing = try kernels.get("nothing");
    defer nothing.deinit();
    const address: DeviceAddress = .{ .value = 0 };
    try nothing.launch(stream, .forElements(1000), .{ address, @as(f32, 2) });
    try stream.synchronize();
}
