//! Kernels, memory, copies and streams of one device for the whole process, by the names of a Zig
//! GPU driver. `init` opens the device "auto": the one that KM_DEVICE names, else the first CUDA
//! device that works, else the CPU; `backendName` and `isFallback` tell which, and nothing changes
//! it afterwards. `initDevice` opens a certain one. All may be called by any thread. Calls before
//! `init` give error.NotInitialized. The text of a failure is `km.Diagnostics.ofLastError`.
const std = @import("std");
const km = @import("kernelmill");

/// The failures of this part.
pub const Error = km.Error || std.mem.Allocator.Error ||
    error{ NotInitialized, AlreadyInitialized };

/// Memory of the device: a handle that is checked, so that no wrong one is used or freed twice. It
/// is an argument of kernels.
pub const DevicePtr = km.Slice(u8);

/// A queue of work.
pub const Stream = km.Stream;

/// The shape of a launch, and the stream that it joins; null: the default stream.
pub const KernelConfig = struct {
    grid_dim: [3]u32 = .{ 1, 1, 1 },
    block_dim: [3]u32 = .{ 1, 1, 1 },
    shared_memory_bytes: u64 = 0,
    stream: ?Stream = null,
};

/// A source with the kernel to take of it: its name in the PTX, or a name expression of a template
/// ("scale<float>"); null: the only one that there is.
pub const KernelSource = struct {
    code: []const u8,
    entry_point: ?[:0]const u8 = null,
};

/// A compiled kernel.
pub const Kernel = struct {
    module: km.Module,
    function: km.Function,
};

const State = struct {
    context: km.Context,
    stream: km.Stream,
    info: km.DeviceInfo,
    users: usize,
};

var mutex: std.atomic.Mutex = .unlocked;
var state: ?State = null;
/// The handle of the default stream, for launches without the lock; 0 when nothing is open.
var default_stream: std.atomic.Value(usize) = .init(0);

fn lock() void {
    while (!mutex.tryLock()) std.Thread.yield() catch std.atomic.spinLoopHint();
}

/// Opens the device "auto" with a context and a default stream. Once for each `deinit`: a second
/// call only counts.
pub fn init() Error!void {
    return open(null);
}

/// Like `init` for a certain device, by its URI; error.AlreadyInitialized while another one is
/// open.
pub fn initDevice(uri: [:0]const u8) Error!void {
    return open(uri);
}

fn open(uri: ?[:0]const u8) Error!void {
    lock();
    defer mutex.unlock();
    if (state) |*opened| {
        if (uri) |wanted| try requireSame(opened.info, wanted);
        opened.users += 1;
        return;
    }
    const device = try km.Device.open(uri orelse "auto", null);
    defer device.deinit();
    const context = try km.Context.init(device);
    errdefer context.deinit();
    const stream = try km.Stream.defaultOf(context);
    errdefer stream.deinit();
    state = .{ .context = context, .stream = stream, .info = try device.info(), .users = 1 };
    default_stream.store(@intFromPtr(stream.handle), .release);
    const name = km.text(&state.?.info.uri);
    std.log.scoped(.kernelmill).info("cuda_native runs on {s}", .{name});
}

fn requireSame(info: km.DeviceInfo, uri: [:0]const u8) Error!void {
    const device = try km.Device.open(uri, null);
    defer device.deinit();
    const wanted = try device.info();
    if (!std.mem.eql(u8, &wanted.uri, &info.uri)) return error.AlreadyInitialized;
}

/// Closes context and default stream with the last user; fine when nothing is open. Objects that
/// were made before stay usable until they are freed.
pub fn deinit() void {
    lock();
    defer mutex.unlock();
    const opened = if (state) |*found| found else return;
    opened.users -= 1;
    if (opened.users > 0) return;
    default_stream.store(0, .release);
    opened.stream.deinit();
    opened.context.deinit();
    state = null;
}

/// Tells whether the device is open.
pub fn isInitialized() bool {
    lock();
    defer mutex.unlock();
    return state != null;
}

fn current() error{NotInitialized}!State {
    lock();
    defer mutex.unlock();
    return state orelse error.NotInitialized;
}

/// The context, which is not the caller's to deinit.
pub fn getContext() Error!km.Context {
    return (try current()).context;
}

/// The default stream, which is not the caller's to destroy.
pub fn getDefaultStream() Error!Stream {
    const handle = default_stream.load(.acquire);
    if (handle == 0) return error.NotInitialized;
    return .{ .handle = @ptrFromInt(handle) };
}

/// Name and limits of the device.
pub fn getDeviceInfo() Error!km.DeviceInfo {
    return (try current()).info;
}

/// Tells whether the device is a CPU, which a GPU would have been preferred to.
pub fn isFallback() Error!bool {
    const info = (try current()).info;
    return std.mem.eql(u8, km.text(&info.backend), "cpu");
}

/// Compiles CUDA C++ or loads PTX, and takes a kernel of it. `source` is a text, or a
/// `KernelSource`. error.InvalidArgument when it has several kernels and none is named. The
/// allocator gives room for the time of the call.
pub fn compileKernel(allocator: std.mem.Allocator, source: anytype) Error!Kernel {
    const given: KernelSource = switch (@TypeOf(source)) {
        KernelSource => source,
        else => .{ .code = source },
    };
    const context = (try current()).context;
    const module = if (isPtx(given.code))
        try km.Module.loadPtx(context, given.code, "kernel.ptx")
    else
        try compileSource(context, given);
    errdefer module.deinit();
    const function = if (given.entry_point) |name|
        try module.function(name)
    else
        try onlyFunction(allocator, module);
    return .{ .module = module, .function = function };
}

fn compileSource(context: km.Context, source: KernelSource) Error!km.Module {
    const program = try km.Program.init(source.code, "kernel.cu", null);
    defer program.deinit();
    // Names with template arguments have to be known to the compiler.
    if (source.entry_point) |name| {
        if (std.mem.indexOfScalar(u8, name, '<') != null) try program.addNameExpression(name);
    }
    try program.compile();
    return km.Module.loadProgram(context, program);
}

/// PTX begins with .version, after comments.
fn isPtx(code: []const u8) bool {
    var at: usize = 0;
    while (at < code.len) {
        const rest = code[at..];
        if (std.ascii.isWhitespace(rest[0])) {
            at += 1;
        } else if (std.mem.startsWith(u8, rest, "//")) {
            at = std.mem.indexOfScalarPos(u8, code, at, '\n') orelse code.len;
        } else if (std.mem.startsWith(u8, rest, "/*")) {
            at = if (std.mem.indexOfPos(u8, code, at + 2, "*/")) |end| end + 2 else code.len;
        } else return std.mem.startsWith(u8, rest, ".version");
    }
    return false;
}

fn onlyFunction(allocator: std.mem.Allocator, module: km.Module) Error!km.Function {
    const count = try module.functionCount();
    if (count != 1) {
        std.log.scoped(.kernelmill).info("the source has {d} kernels: name one", .{count});
        return error.InvalidArgument;
    }
    const name = try module.functionName(allocator, 0);
    defer allocator.free(name);
    return module.function(name);
}

/// Drops a kernel; launches under way go on.
pub fn destroyKernel(allocator: std.mem.Allocator, kernel: Kernel) void {
    _ = allocator; // a kernel owns handles only
    kernel.function.deinit();
    kernel.module.deinit();
}

/// Queues a kernel with a tuple of arguments, which are checked against its parameters: a wrong
/// count or size is error.InvalidLaunch, and nothing is run.
pub inline fn launchKernel(
    allocator: std.mem.Allocator,
    kernel: Kernel,
    config: KernelConfig,
    args: anytype,
) Error!void {
    _ = allocator; // arguments go to the library one by one
    const stream = config.stream orelse try getDefaultStream();
    return stream.launch(kernel.function, .{
        .grid = config.grid_dim,
        .block = config.block_dim,
        .shared_bytes = config.shared_memory_bytes,
    }, args);
}

/// Memory for `size` bytes; a size of 0 is error.InvalidArgument.
pub fn allocateDeviceMemory(size: usize) Error!DevicePtr {
    if (size == 0) return error.InvalidArgument;
    return DevicePtr.init((try current()).context, size);
}

/// Frees memory when the work that uses it is done. Memory that was freed already stays so, and is
/// logged.
pub fn freeDeviceMemory(memory: DevicePtr) void {
    _ = memory.info() catch |failure| if (failure != error.ContextLost) {
        std.log.scoped(.kernelmill).warn("freeDeviceMemory: {t}", .{failure});
    };
    memory.deinit();
}

/// Copies `size` bytes to the device in the order of the default stream; the source has been read
/// when the call returns, unless it is page-locked.
pub fn memcpyHostToDevice(
    destination: DevicePtr,
    source: *const anyopaque,
    size: usize,
) Error!void {
    const bytes: [*]const u8 = @ptrCast(source);
    return destination.upload(try getDefaultStream(), bytes[0..size]);
}

/// Copies `size` bytes to the host in the order of the default stream; the destination has been
/// written when the call returns, unless it is page-locked.
pub fn memcpyDeviceToHost(destination: *anyopaque, source: DevicePtr, size: usize) Error!void {
    const bytes: [*]u8 = @ptrCast(destination);
    return source.download(try getDefaultStream(), bytes[0..size]);
}

/// Copies `size` bytes within the device in the order of the stream; null: the default stream.
pub fn memcpyDeviceToDevice(
    destination: DevicePtr,
    source: DevicePtr,
    size: usize,
    stream: ?Stream,
) Error!void {
    const part = try source.view(0, size);
    defer part.deinit();
    return destination.copyFrom(stream orelse try getDefaultStream(), 0, part);
}

/// A new stream.
pub fn createStream() Error!Stream {
    return Stream.init((try current()).context);
}

/// Drops a stream; its work goes on to its end.
pub fn destroyStream(stream: Stream) void {
    stream.deinit();
}

/// Waits for the work of a stream; the error of a kernel that failed comes from here.
pub fn synchronizeStream(stream: Stream) Error!void {
    return stream.synchronize();
}
