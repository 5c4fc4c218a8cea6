//! Launches through module `kernelmill` against the same calls of the C ABI, batch by batch in turn
//! within one process: prints nanoseconds a launch and the difference to C.
const std = @import("std");
const c = @import("c");
const km = @import("kernelmill");
const cuda_native = km.cuda_native;

const batches = 400;
const launches = 2560;
const launches_per_wait = 256;
const ptx =
    \\.version 7.0
    \\.target sm_70
    \\.address_size 64
    \\.visible .entry none(.param .u64 .ptr .global data, .param .u32 base, .param .f32 factor)
    \\{ ret; }
;
const Kernels = km.embedKernels(ptx);

const Subject = struct {
    stream: km.Stream,
    data: km.Slice(u8),
    kernel: km.Function,
    checked: km.Kernel(Kernels.entries[0]),
    prepared: km.Launch,
    facade: cuda_native.Kernel,

    fn submitC(subject: Subject, base: u32) !void {
        _ = base;
        if (c.km_launch_submit(subject.prepared.handle) != c.KM_SUCCESS) return error.Failed;
    }

    fn submit(subject: Subject, base: u32) !void {
        _ = base;
        try subject.prepared.submit();
    }

    /// The arguments are laid out as a program in C does.
    fn launchC(subject: Subject, base: u32) !void {
        const Arguments = extern struct { data: u64, base: u32, factor: f32 };
        const arguments: Arguments = .{ .data = 0, .base = base, .factor = 2 };
        const config: c.km_launch_config = .{
            .grid = .{ 1, 1, 1 },
            .block = .{ 1, 1, 1 },
            .shared_bytes = 0,
        };
        const operand: c.km_launch_operand = .{
            .parameter = 0,
            .access = c.KM_ACCESS_UNKNOWN,
            .slice = @intFromPtr(subject.data.handle),
            .offset_bytes = 0,
            .size_bytes = 0,
        };
        const call = c.km_launch_kernel_operands;
        const stream = subject.stream.handle;
        const function = subject.kernel.handle;
        const size = @sizeOf(Arguments);
        const got = call(stream, function, &config, &arguments, size, &operand, 1);
        if (got != c.KM_SUCCESS) return error.Failed;
    }

    fn launch(subject: Subject, base: u32) !void {
        const arguments = .{ subject.data, base, @as(f32, 2) };
        try subject.stream.launch(subject.kernel, .{}, arguments);
    }

    fn launchChecked(subject: Subject, base: u32) !void {
        const arguments = .{ subject.data, base, @as(f32, 2) };
        try subject.checked.launch(subject.stream, .{}, arguments);
    }

    fn launchFacade(subject: Subject, base: u32) !void {
        const arguments = .{ subject.data, base, @as(f32, 2) };
        const allocator = std.heap.smp_allocator;
        try cuda_native.launchKernel(allocator, subject.facade, .{}, arguments);
    }
};

fn nowNs() f64 {
    var now: std.c.timespec = undefined;
    _ = std.c.clock_gettime(.MONOTONIC, &now);
    return @as(f64, @floatFromInt(now.sec)) * 1e9 + @as(f64, @floatFromInt(now.nsec));
}

fn batch(subject: Subject, comptime run: anytype) !f64 {
    const start = nowNs();
    for (1..launches + 1) |i| {
        try run(subject, @intCast(i));
        if (i % launches_per_wait == 0) try subject.stream.synchronize();
    }
    return (nowNs() - start) / launches;
}

const runs = .{
    .{ "submit", Subject.submitC, Subject.submit },
    .{ "launch", Subject.launchC, Subject.launch },
    .{ "launch_checked", Subject.launchC, Subject.launchChecked },
    .{ "launch_facade", Subject.launchC, Subject.launchFacade },
};

pub fn main(init: std.process.Init) !void {
    errdefer std.log.err("{f}", .{&km.Diagnostics.ofLastError()});
    try cuda_native.initDevice("cpu:0");
    defer cuda_native.deinit();
    const context = try cuda_native.getContext();
    const stream = try cuda_native.getDefaultStream();
    const data = try cuda_native.allocateDeviceMemory(64);
    defer data.deinit();
    const kernels = try Kernels.load(context);
    defer kernels.deinit();
    const kernel = try kernels.get("none");
    defer kernel.deinit();
    const prepared = try km.Launch.init(stream, kernel.function);
    defer prepared.deinit();
    try prepared.configure(.{});
    try prepared.setArguments(.{ data, @as(u32, 1), @as(f32, 2) });
    const facade = try cuda_native.compileKernel(init.gpa, ptx);
    defer cuda_native.destroyKernel(init.gpa, facade);
    const subject: Subject = .{
        .stream = stream,
        .data = data,
        .kernel = kernel.function,
        .checked = kernel,
        .prepared = prepared,
        .facade = facade,
    };
    var buffer: [256]u8 = undefined;
    var writer: std.Io.File.Writer = .initStreaming(.stdout(), init.io, &buffer);
    inline for (runs) |run| {
        var least: [2]f64 = @splat(std.math.inf(f64));
        for (0..batches) |_| {
            inline for (.{ run[1], run[2] }, &least) |way, *best| {
                best.* = @min(best.*, try batch(subject, way));
            }
        }
        const line = "{{\"metric\": \"{s}\", \"unit\": \"ns\", \"c\": {d:.2}, \"zig\": {d:.2}, " ++
            "\"over_c\": {d:.2}}}\n";
        try writer.interface.print(line, .{ run[0], least[0], least[1], least[1] - least[0] });
    }
    try writer.interface.flush();
}
