//! CUDA C++ to PTX, modules, kernels.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const Context = @import("device.zig").Context;
const Diagnostics = errors.Diagnostics;
const Error = errors.Error;
const Slice = @import("memory.zig").Slice;
const TextError = Error || std.mem.Allocator.Error;

/// The library reads a text of size 0 up to its closing zero, which an empty slice lacks.
fn textPtr(text: []const u8) [*]const u8 {
    return if (text.len == 0) "" else text.ptr;
}

/// A CUDA C++ source on its way to PTX.
pub const Program = struct {
    handle: c.km_program,
    diagnostics: ?*Diagnostics = null,

    /// `name` is for messages.
    pub fn init(
        source: []const u8,
        name: [:0]const u8,
        diagnostics: ?*Diagnostics,
    ) Error!Program {
        var handle: c.km_program = undefined;
        const got = c.km_program_create(textPtr(source), source.len, name.ptr, &handle);
        try check(got, diagnostics);
        return .{ .handle = handle, .diagnostics = diagnostics };
    }

    pub fn deinit(program: Program) void {
        _ = c.km_program_destroy(program.handle);
    }

    /// As NVRTC spells it, for example "--use_fast_math" or "-DN=4".
    pub fn addOption(program: Program, option: [:0]const u8) Error!void {
        try check(c.km_program_add_option(program.handle, option.ptr), program.diagnostics);
    }

    /// Found by `#include "name"`.
    pub fn addHeader(program: Program, name: [:0]const u8, source: []const u8) Error!void {
        const add = c.km_program_add_header;
        const got = add(program.handle, name.ptr, textPtr(source), source.len);
        try check(got, program.diagnostics);
    }

    /// A C++ name to keep, such as "scale<float>", by which the module then finds the kernel.
    pub fn addNameExpression(program: Program, expression: [:0]const u8) Error!void {
        const got = c.km_program_add_name_expression(program.handle, expression.ptr);
        try check(got, program.diagnostics);
    }

    /// error.CompilationFailed when the source has errors, which `log` lists.
    pub fn compile(program: Program) Error!void {
        try check(c.km_program_compile(program.handle), program.diagnostics);
    }

    /// What the compiler said last; the caller's to free, like the other texts.
    pub fn log(program: Program, allocator: std.mem.Allocator) TextError![:0]u8 {
        const arguments = .{program.handle};
        return errors.copyText(allocator, program.diagnostics, c.km_program_log, arguments);
    }

    pub fn ptx(program: Program, allocator: std.mem.Allocator) TextError![:0]u8 {
        const arguments = .{program.handle};
        return errors.copyText(allocator, program.diagnostics, c.km_program_ptx, arguments);
    }

    /// The name in the PTX of a name expression.
    pub fn loweredName(
        program: Program,
        allocator: std.mem.Allocator,
        expression: [:0]const u8,
    ) TextError![:0]u8 {
        const arguments = .{ program.handle, expression.ptr };
        const call = c.km_program_lowered_name;
        return errors.copyText(allocator, program.diagnostics, call, arguments);
    }
};

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

    pub fn loadPtx(context: Context, ptx: []const u8, name: [:0]const u8) Error!Module {
        var handle: c.km_module = undefined;
        const load = c.km_module_load_ptx;
        const got = load(context.handle, textPtr(ptx), ptx.len, name.ptr, &handle);
        try check(got, context.diagnostics);
        return .{ .handle = handle, .diagnostics = context.diagnostics };
    }

    /// CUDA C++, compiled for the context's device.
    pub fn loadSource(context: Context, source: []const u8, name: [:0]const u8) Error!Module {
        var handle: c.km_module = undefined;
        const load = c.km_module_load_source;
        const got = load(context.handle, textPtr(source), source.len, name.ptr, &handle);
        try check(got, context.diagnostics);
        return .{ .handle = handle, .diagnostics = context.diagnostics };
    }

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
        return .{ .handle = handle, .diagnostics = module.diagnostics };
    }

    /// A global or constant variable.
    pub fn global(module: Module, comptime T: type, name: [:0]const u8) Error!Slice(T) {
        var handle: c.km_slice = undefined;
        const got = c.km_module_global(module.handle, name.ptr, &handle);
        try check(got, module.diagnostics);
        errdefer _ = c.km_slice_destroy(handle);
        return Slice(T).fromHandle(handle, module.diagnostics);
    }

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

/// A kernel of a module.
pub const Function = struct {
    handle: c.km_function,
    diagnostics: ?*Diagnostics = null,

    pub fn deinit(function: Function) void {
        _ = c.km_function_destroy(function.handle);
    }

    pub fn name(function: Function, allocator: std.mem.Allocator) TextError![:0]u8 {
        const arguments = .{function.handle};
        return errors.copyText(allocator, function.diagnostics, c.km_function_name, arguments);
    }

    /// One of c.KM_FUNCTION_ATTRIBUTE_...
    pub fn attribute(function: Function, which: c.km_function_attribute) Error!i64 {
        var value: i64 = undefined;
        const got = c.km_function_attribute_get(function.handle, which, &value);
        try check(got, function.diagnostics);
        return value;
    }

    pub fn setAttribute(
        function: Function,
        which: c.km_function_attribute,
        value: i64,
    ) Error!void {
        const got = c.km_function_attribute_set(function.handle, which, value);
        try check(got, function.diagnostics);
    }

    pub fn paramCount(function: Function) Error!u32 {
        var count: u32 = undefined;
        const got = c.km_function_param_count(function.handle, &count);
        try check(got, function.diagnostics);
        return count;
    }
};
