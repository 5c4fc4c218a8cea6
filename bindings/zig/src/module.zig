//! Modules: compiled PTX.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const Diagnostics = errors.Diagnostics;
const Error = errors.Error;
const TextError = errors.AllocatingError;
const Context = @import("context.zig").Context;
const Function = @import("function.zig").Function;
const Slice = @import("memory.zig").Slice;
const Program = @import("program.zig").Program;
const textPtr = @import("program.zig").textPtr;

/// Compiled PTX with its kernels and global variables.
pub const Module = struct {
    handle: c.km_module,
    diagnostics: ?*Diagnostics = null,

    /// A file of PTX or CUDA C++.
    pub fn loadFile(context: Context, path: [:0]const u8) Error!Module {
        var handle: c.km_module = undefined;
        const got = c.km_module_load_file(context.handle, path.ptr, &handle);
        try check(got, context.diagnostics);
        return .{ .handle = handle, .diagnostics = context.diagnostics };
    }

    /// PTX, which is copied; `name` is for messages. error.InvalidPtx says line and column. C:
    /// km_module_load_ptx.
    pub fn loadPtx(context: Context, ptx: []const u8, name: [:0]const u8) Error!Module {
        var handle: c.km_module = undefined;
        const load = c.km_module_load_ptx;
        const got = load(context.handle, textPtr(ptx), ptx.len, name.ptr, &handle);
        try check(got, context.diagnostics);
        return .{ .handle = handle, .diagnostics = context.diagnostics };
    }

    /// The contents of an object file that `saveObject` made, copied: nothing is compiled for the
    /// block sizes that it has. Object files are executed: take them from where programs come from.
    /// error.BuildMismatch when another build of the library made it. C: km_module_from_object.
    pub fn fromObject(context: Context, data: []const u8, name: [:0]const u8) Error!Module {
        var handle: c.km_module = undefined;
        const load = c.km_module_from_object;
        const got = load(context.handle, textPtr(data), data.len, name.ptr, &handle);
        try check(got, context.diagnostics);
        return .{ .handle = handle, .diagnostics = context.diagnostics };
    }

    /// Compiles all kernels for blocks of these sizes (x, y, z) and of any size, and writes them to
    /// a file, for this machine's instruction set and this build of the library. C:
    /// km_module_save_object.
    pub fn saveObject(module: Module, path: [:0]const u8, blocks: []const [3]u32) Error!void {
        const save = c.km_module_save_object;
        const numbers: [*c]const u32 = @ptrCast(blocks.ptr);
        const sizes = if (blocks.len == 0) null else numbers;
        try check(save(module.handle, path.ptr, sizes, blocks.len), module.diagnostics);
    }

    /// CUDA C++, compiled for the context's device.
    pub fn loadSource(context: Context, source: []const u8, name: [:0]const u8) Error!Module {
        var handle: c.km_module = undefined;
        const load = c.km_module_load_source;
        const got = load(context.handle, textPtr(source), source.len, name.ptr, &handle);
        try check(got, context.diagnostics);
        return .{ .handle = handle, .diagnostics = context.diagnostics };
    }

    /// A compiled program, whose name expressions find its kernels, too. C: km_module_load_program.
    pub fn loadProgram(context: Context, program: Program) Error!Module {
        var handle: c.km_module = undefined;
        const got = c.km_module_load_program(context.handle, program.handle, &handle);
        try check(got, context.diagnostics);
        return .{ .handle = handle, .diagnostics = context.diagnostics };
    }

    /// Functions and variables of the module keep it.
    pub fn deinit(module: Module) void {
        _ = c.km_module_destroy(module.handle);
    }

    /// A kernel by its name in the PTX, or by a name expression of the program.
    pub fn function(module: Module, kernel: [:0]const u8) Error!Function {
        var handle: c.km_function = undefined;
        const got = c.km_module_function(module.handle, kernel.ptr, &handle);
        try check(got, module.diagnostics);
        return Function.fromHandle(handle, module.diagnostics);
    }

    /// A global or constant variable.
    pub fn global(module: Module, comptime T: type, name: [:0]const u8) Error!Slice(T) {
        var handle: c.km_slice = undefined;
        const got = c.km_module_global(module.handle, name.ptr, &handle);
        try check(got, module.diagnostics);
        errdefer _ = c.km_slice_destroy(handle);
        return Slice(T).fromHandle(handle, module.diagnostics);
    }

    /// The number of kernels. C: km_module_function_count.
    pub fn functionCount(module: Module) Error!u32 {
        var count: u32 = undefined;
        const got = c.km_module_function_count(module.handle, &count);
        try check(got, module.diagnostics);
        return count;
    }

    /// The name of a kernel, in the order of the text.
    pub fn functionName(
        module: Module,
        allocator: std.mem.Allocator,
        index: u32,
    ) TextError![:0]u8 {
        const arguments = .{ module.handle, index };
        const call = c.km_module_function_name;
        return errors.copyText(allocator, module.diagnostics, call, arguments);
    }
};

test Module {
    const context = try Context.open("cpu", null);
    defer context.deinit();
    const source = "__device__ int counter = 5; extern \"C\" __global__ void nothing() {}";
    const module = try Module.loadSource(context, source, "nothing.cu");
    defer module.deinit();
    const nothing = try module.function("nothing");
    defer nothing.deinit();
    const counter = try module.global(i32, "counter");
    defer counter.deinit();
    try std.testing.expectEqual(5, (try counter.hostElements())[0]);
}
