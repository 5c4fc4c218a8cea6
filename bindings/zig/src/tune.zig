//! Tuning: which of several ways to launch a kernel is the fastest, by measurement. docs/guide/tuning.md.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const Context = @import("context.zig").Context;
const Device = @import("device.zig").Device;
const Diagnostics = errors.Diagnostics;
const Error = errors.Error;
const Function = @import("function.zig").Function;
const LaunchConfig = @import("launch.zig").Config;
const requirePlain = @import("memory.zig").requirePlain;
const textPtr = @import("program.zig").textPtr;

/// The fate of a candidate: times of one launch, or the status for which it was left out.
pub const TuneResult = c.km_tune_result;

/// The comparison of a candidate's outputs with those of the first one that ran.
pub const TuneCheck = union(enum) {
    off,
    /// Byte by byte.
    exact,
    /// Outputs are f32 and may differ by this, relative to the larger magnitude, absolute below 1.
    f32: f64,
    f64: f64,
};

/// A tuning of one kernel on a device. Arguments are added in the order of the parameters.
pub const Tune = struct {
    handle: c.km_tune,
    diagnostics: ?*Diagnostics = null,

    /// A tuning of `kernel`, its name in the source (CUDA C++ or PTX) or a name expression like
    /// "scale<float>". C: km_tune_create.
    pub fn init(device: Device, source: []const u8, kernel: [:0]const u8) Error!Tune {
        var handle: c.km_tune = undefined;
        const create = c.km_tune_create;
        const got = create(device.handle, textPtr(source), source.len, kernel.ptr, &handle);
        try check(got, device.diagnostics);
        return .{ .handle = handle, .diagnostics = device.diagnostics };
    }

    /// Drops the handle. C: km_tune_destroy.
    pub fn deinit(tune: Tune) void {
        _ = c.km_tune_destroy(tune.handle);
    }

    /// One more way to launch: a shape, and options of the compiler, one a line ("-DTILE=16"),
    /// which PTX does not have. Gives its number, from 0. C: km_tune_add_candidate.
    pub fn addCandidate(tune: Tune, config: LaunchConfig, options: ?[:0]const u8) Error!u32 {
        const raw = config.raw();
        var number: u32 = undefined;
        const text: [*c]const u8 = if (options) |given| given.ptr else null;
        const got = c.km_tune_add_candidate(tune.handle, &raw, text, &number);
        try check(got, tune.diagnostics);
        return number;
    }

    /// The next argument: device memory that holds a copy of `elements` when a candidate starts. C:
    /// km_tune_add_buffer.
    pub fn addBuffer(tune: Tune, comptime T: type, elements: []const T) Error!void {
        return tune.addBytes(std.mem.sliceAsBytes(elements), c.KM_TUNE_BUFFER_DEFAULT);
    }

    /// The same, compared by the check.
    pub fn addOutput(tune: Tune, comptime T: type, elements: []const T) Error!void {
        return tune.addBytes(std.mem.sliceAsBytes(elements), c.KM_TUNE_BUFFER_OUTPUT);
    }

    /// The next argument: zeros, compared by the check.
    pub fn addZeroedOutput(tune: Tune, size_bytes: u64) Error!void {
        const flags: c.km_tune_buffer_flags = c.KM_TUNE_BUFFER_OUTPUT;
        try check(c.km_tune_add_buffer(tune.handle, null, size_bytes, flags), tune.diagnostics);
    }

    fn addBytes(tune: Tune, bytes: []const u8, flags: c.km_tune_buffer_flags) Error!void {
        const add = c.km_tune_add_buffer;
        try check(add(tune.handle, bytes.ptr, bytes.len, flags), tune.diagnostics);
    }

    /// The next argument, by value. C: km_tune_add_scalar.
    pub fn addScalar(tune: Tune, value: anytype) Error!void {
        const T = @TypeOf(value);
        comptime requirePlain(T);
        const got = c.km_tune_add_scalar(tune.handle, &value, @sizeOf(T));
        try check(got, tune.diagnostics);
    }

    /// The check of the outputs; off at the start. C: km_tune_set_check.
    pub fn setCheck(tune: Tune, kind: TuneCheck) Error!void {
        const set = c.km_tune_set_check;
        const got = switch (kind) {
            .off => set(tune.handle, c.KM_TUNE_CHECK_OFF, 0),
            .exact => set(tune.handle, c.KM_TUNE_CHECK_EXACT, 0),
            .f32 => |tolerance| set(tune.handle, c.KM_TUNE_CHECK_F32, tolerance),
            .f64 => |tolerance| set(tune.handle, c.KM_TUNE_CHECK_F64, tolerance),
        };
        try check(got, tune.diagnostics);
    }

    /// The time that measuring all candidates may take together (a second at the start), and the
    /// launches before each one is measured (1). C: km_tune_set_budget.
    pub fn setBudget(tune: Tune, budget_ns: u64, warmup_count: u32) Error!void {
        try check(c.km_tune_set_budget(tune.handle, budget_ns, warmup_count), tune.diagnostics);
    }

    /// Calls `callback(data, done, count)` after each candidate, on the thread that runs the
    /// tuning. `data` has to stay until another progress is set or the tuning is gone. C:
    /// km_tune_set_progress.
    pub fn setProgress(
        tune: Tune,
        comptime Data: type,
        data: *Data,
        comptime callback: fn (data: *Data, done: u32, count: u32) void,
    ) Error!void {
        const wrapper = struct {
            fn call(user_data: ?*anyopaque, done: u32, count: u32) callconv(.c) void {
                callback(@ptrCast(@alignCast(user_data.?)), done, count);
            }
        };
        const got = c.km_tune_set_progress(tune.handle, wrapper.call, data);
        try check(got, tune.diagnostics);
    }

    /// Calls nothing any more.
    pub fn clearProgress(tune: Tune) Error!void {
        try check(c.km_tune_set_progress(tune.handle, null, null), tune.diagnostics);
    }

    /// Settings of a run.
    pub const RunOptions = struct {
        /// A text that stands for size and kind of the data: the choice is kept on disk for it, and
        /// taken from there the next time.
        problem: ?[:0]const u8 = null,
        /// Measures, whatever is kept.
        again: bool = false,
    };

    /// Measures the candidates and gives the number of the one with the best median; waits until
    /// that is done. Candidates that fail are left out, as `result` tells; when none works, the
    /// failure is that of the first. C: km_tune_run.
    pub fn run(tune: Tune, options: RunOptions) Error!u32 {
        var best: u32 = undefined;
        const again: c.km_tune_run_flags = c.KM_TUNE_RUN_AGAIN;
        const flags: c.km_tune_run_flags = if (options.again) again else c.KM_TUNE_RUN_DEFAULT;
        const problem: [*c]const u8 = if (options.problem) |given| given.ptr else null;
        try check(c.km_tune_run(tune.handle, problem, flags, &best), tune.diagnostics);
        return best;
    }

    /// The fate of a candidate the last time that it was measured. C: km_tune_result_get.
    pub fn result(tune: Tune, candidate: u32) Error!TuneResult {
        var found = errors.sized(TuneResult);
        try check(c.km_tune_result_get(tune.handle, candidate, &found), tune.diagnostics);
        return found;
    }

    /// The reason for which a candidate was left out, or an empty text; the caller's to free. C:
    /// km_tune_result_message.
    pub fn resultMessage(
        tune: Tune,
        allocator: std.mem.Allocator,
        candidate: u32,
    ) errors.AllocatingError![:0]u8 {
        const arguments = .{ tune.handle, candidate };
        const call = c.km_tune_result_message;
        return errors.copyText(allocator, tune.diagnostics, call, arguments);
    }

    /// The kernel as a candidate has it, in a context of the caller's. C: km_tune_function.
    pub fn function(tune: Tune, candidate: u32, context: Context) Error!Function {
        var handle: c.km_function = undefined;
        const got = c.km_tune_function(tune.handle, candidate, context.handle, &handle);
        try check(got, tune.diagnostics);
        return Function.fromHandle(handle, tune.diagnostics);
    }
};

test Tune {
    const device = try Device.open("cpu", null);
    defer device.deinit();
    const source = "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }";
    const tune = try Tune.init(device, source, "twice");
    defer tune.deinit();
    try tune.addOutput(f32, &.{ 1, 2, 3, 4 });
    _ = try tune.addCandidate(.{ .block = .{ 4, 1, 1 } }, null);
    try tune.setBudget(1_000_000, 0);
    try std.testing.expectEqual(0, try tune.run(.{ .again = true }));
}
