//! CUDA C++ to PTX.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const Diagnostics = errors.Diagnostics;
const Error = errors.Error;
const TextError = errors.AllocatingError;

/// The library reads a text of size 0 up to its closing zero, which an empty slice lacks.
pub fn textPtr(text: []const u8) [*]const u8 {
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

    /// Drops the handle; modules made from it stay. C: km_program_destroy.
    pub fn deinit(program: Program) void {
        _ = c.km_program_destroy(program.handle);
    }

    /// Adds an option, as NVRTC spells it, for example "--use_fast_math" or "-DN=4".
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

    /// The compiler's last messages; the caller's to free, like the other texts. C: km_program_log.
    pub fn log(program: Program, allocator: std.mem.Allocator) TextError![:0]u8 {
        const arguments = .{program.handle};
        return errors.copyText(allocator, program.diagnostics, c.km_program_log, arguments);
    }

    /// The PTX of the last compilation; error.NotFound when there was none. C: km_program_ptx.
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

test Program {
    const source = "template <class T> __global__ void put(T* out, T v) { *out = v; }";
    const program = try Program.init(source, "put.cu", null);
    defer program.deinit();
    try program.addNameExpression("put<float>");
    try program.compile();
    const allocator = std.testing.allocator;
    const text = try program.ptx(allocator);
    defer allocator.free(text);
    try std.testing.expect(std.mem.indexOf(u8, text, ".entry") != null);
}
