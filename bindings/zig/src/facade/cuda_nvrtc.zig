//! CUDA C++ to PTX, by the names of a Zig GPU driver. Needs no device. Calls before `init` give
//! error.NotInitialized.
const std = @import("std");
const km = @import("kernelmill");

/// The failures of this part; `CacheUnusable` when the folder of a cache cannot be made or written.
pub const Error = km.Error || std.mem.Allocator.Error || error{ NotInitialized, CacheUnusable };

/// The effort of the compiler. NVRTC always optimises fully, which is `.O3` and the default, and
/// has no levels below; what it has is a scale of faster compilation, to which they are mapped.
pub const OptimizationLevel = enum {
    /// `--Ofast-compile=max`: the fastest compilation, with many optimisations left out.
    O0,
    /// `--Ofast-compile=mid`
    O1,
    /// `--Ofast-compile=min`
    O2,
    /// No option.
    O3,
};

/// Settings of a compilation.
pub const CompileOptions = struct {
    optimization_level: OptimizationLevel = .O3,
    /// The most registers that a thread may have: `.maxnreg` in the PTX of kernels that have none,
    /// because NVRTC's own option changes machine code only; null: the device's choice.
    max_registers: ?u32 = null,
    /// The most threads that a block of any kernel may have: `.maxntid` in the PTX of kernels that
    /// have no __launch_bounds__; null: none.
    max_threads_per_block: ?u32 = null,
    /// Debug information, and no optimisation.
    debug: bool = false,
    /// Line numbers only.
    line_info: bool = false,
    /// The architecture, "compute_90"; null: NVRTC's default.
    architecture: ?[]const u8 = null,
    /// Other options, as NVRTC spells them, "-DN=4".
    extra: []const [:0]const u8 = &.{},
    /// A folder that keeps PTX by all that it depends on: source, options, NVRTC and library; null:
    /// the library's own cache, which KM_CACHE_DIR names.
    cache_dir: ?[]const u8 = null,
};

/// PTX, and what the compiler said, warnings of a success included.
pub const CompileResult = struct {
    ptx: [:0]u8,
    log: [:0]u8,
    /// It came from `CompileOptions.cache_dir`.
    from_cache: bool = false,

    /// Frees both texts.
    pub fn deinit(result: CompileResult, allocator: std.mem.Allocator) void {
        allocator.free(result.ptx);
        allocator.free(result.log);
    }
};

var users: std.atomic.Value(usize) = .init(0);

/// Makes NVRTC ready; error.NvrtcUnavailable when it is not installed. A second call only counts.
pub fn init() Error!void {
    const probe = try km.Program.init("", "probe.cu", null);
    defer probe.deinit();
    try probe.compile();
    _ = users.fetchAdd(1, .acq_rel);
}

/// Ends what one `init` began; fine when nothing is open.
pub fn deinit() void {
    var found = users.load(.acquire);
    while (found > 0) {
        found = users.cmpxchgWeak(found, found - 1, .acq_rel, .acquire) orelse return;
    }
}

/// Compiles a source; the result is the caller's to deinit. error.CompilationFailed when it has
/// errors; `compileWithLog` gives the list. `name` is for messages.
pub fn compileToPTX(
    allocator: std.mem.Allocator,
    source: []const u8,
    name: [:0]const u8,
    options: CompileOptions,
) Error!CompileResult {
    return compileWithLog(allocator, source, name, options, null);
}

/// The same, and gives the log of a failure, which is the caller's to free.
pub fn compileWithLog(
    allocator: std.mem.Allocator,
    source: []const u8,
    name: [:0]const u8,
    options: CompileOptions,
    failure_log: ?*?[:0]u8,
) Error!CompileResult {
    if (users.load(.acquire) == 0) return error.NotInitialized;
    const program = try km.Program.init(source, name, null);
    defer program.deinit();
    var texts: std.ArrayList(u8) = .empty;
    defer texts.deinit(allocator);
    try addOptions(allocator, program, options, &texts);
    if (options.cache_dir) |folder| {
        const cache: Cache = .{ .folder = folder, .allocator = allocator };
        return cache.compile(program, source, name, options, texts.items, failure_log);
    }
    return compileProgram(allocator, program, options, failure_log);
}

fn compileProgram(
    allocator: std.mem.Allocator,
    program: km.Program,
    options: CompileOptions,
    failure_log: ?*?[:0]u8,
) Error!CompileResult {
    program.compile() catch |failure| {
        if (failure_log) |log| log.* = try program.log(allocator);
        return failure;
    };
    const log = try program.log(allocator);
    errdefer allocator.free(log);
    const ptx = try program.ptx(allocator);
    if (options.max_threads_per_block == null and options.max_registers == null) {
        return .{ .ptx = ptx, .log = log };
    }
    defer allocator.free(ptx);
    return .{ .ptx = try withBounds(allocator, ptx, options), .log = log };
}

/// Gives the options to the program, and to `texts`, one a line.
fn addOptions(
    allocator: std.mem.Allocator,
    program: km.Program,
    options: CompileOptions,
    texts: *std.ArrayList(u8),
) Error!void {
    var buffer: [128]u8 = undefined;
    switch (options.optimization_level) {
        .O0 => try add(allocator, program, texts, "--Ofast-compile=max"),
        .O1 => try add(allocator, program, texts, "--Ofast-compile=mid"),
        .O2 => try add(allocator, program, texts, "--Ofast-compile=min"),
        .O3 => {},
    }
    if (options.debug) try add(allocator, program, texts, "--device-debug");
    if (options.line_info) try add(allocator, program, texts, "--generate-line-info");
    if (options.architecture) |architecture| {
        const form = "--gpu-architecture={s}";
        const text = std.fmt.bufPrintSentinel(&buffer, form, .{architecture}, 0);
        try add(allocator, program, texts, text catch return error.InvalidArgument);
    }
    for (options.extra) |option| try add(allocator, program, texts, option);
}

fn add(
    allocator: std.mem.Allocator,
    program: km.Program,
    texts: *std.ArrayList(u8),
    option: [:0]const u8,
) Error!void {
    try program.addOption(option);
    try texts.appendSlice(allocator, option);
    try texts.append(allocator, '\n');
}

/// The PTX with the bounds of the options for each kernel that has none of its own: before the
/// brace that opens its body.
fn withBounds(
    allocator: std.mem.Allocator,
    ptx: []const u8,
    options: CompileOptions,
) Error![:0]u8 {
    var out: std.ArrayList(u8) = .empty;
    errdefer out.deinit(allocator);
    var rest = ptx;
    while (std.mem.indexOf(u8, rest, ".entry")) |at| {
        const body = std.mem.indexOfScalarPos(u8, rest, at, '{') orelse break;
        const head = rest[at..body];
        try out.appendSlice(allocator, rest[0..body]);
        if (options.max_threads_per_block) |count| {
            const has_own = has(head, ".maxntid") or has(head, ".reqntid");
            if (!has_own) try out.print(allocator, ".maxntid {d}, 1, 1\n", .{count});
        }
        if (options.max_registers) |count| {
            if (!has(head, ".maxnreg")) try out.print(allocator, ".maxnreg {d}\n", .{count});
        }
        rest = rest[body..];
    }
    try out.appendSlice(allocator, rest);
    return out.toOwnedSliceSentinel(allocator, 0);
}

fn has(text: []const u8, part: []const u8) bool {
    return std.mem.indexOf(u8, text, part) != null;
}

/// A folder of PTX. A file has the name of the hash of its key, and holds the key, the log and the
/// text, so that another key of the same hash is no hit.
const Cache = struct {
    folder: []const u8,
    allocator: std.mem.Allocator,

    fn compile(
        cache: Cache,
        program: km.Program,
        source: []const u8,
        name: []const u8,
        options: CompileOptions,
        texts: []const u8,
        failure_log: ?*?[:0]u8,
    ) Error!CompileResult {
        const key = try cache.keyOf(source, name, options, texts);
        defer cache.allocator.free(key);
        var threaded: std.Io.Threaded = .init(cache.allocator, .{});
        defer threaded.deinit();
        const io = threaded.io();
        if (try cache.load(io, key)) |found| return found;
        const made = try compileProgram(cache.allocator, program, options, failure_log);
        errdefer made.deinit(cache.allocator);
        try cache.store(io, key, made);
        return made;
    }

    /// All that the PTX depends on.
    fn keyOf(
        cache: Cache,
        source: []const u8,
        name: []const u8,
        options: CompileOptions,
        texts: []const u8,
    ) Error![]u8 {
        const version = try compilerVersion(cache.allocator);
        defer cache.allocator.free(version);
        const info = try km.buildInfo();
        const threads = options.max_threads_per_block orelse 0;
        const registers = options.max_registers orelse 0;
        const form = "{s}\n{s}\n{s}\n{d} {d}\n{d} {s}\n{d} {s}";
        return std.fmt.allocPrint(cache.allocator, form, .{
            version,
            km.text(&info.build_id),
            texts,
            threads,
            registers,
            name.len,
            name,
            source.len,
            source,
        });
    }

    fn pathOf(cache: Cache, key: []const u8) Error![]u8 {
        var digest: [std.crypto.hash.Blake3.digest_length]u8 = undefined;
        std.crypto.hash.Blake3.hash(key, &digest, .{});
        const short = std.fmt.bytesToHex(digest[0..16], .lower);
        return std.fmt.allocPrint(cache.allocator, "{s}/{s}.ptx", .{ cache.folder, &short });
    }

    const Header = extern struct { key_size: u64, log_size: u64, ptx_size: u64 };

    /// A file that is not there, or that is no whole one of this key, is no hit.
    fn load(cache: Cache, io: std.Io, key: []const u8) Error!?CompileResult {
        const path = try cache.pathOf(key);
        defer cache.allocator.free(path);
        const cwd = std.Io.Dir.cwd();
        const data = cwd.readFileAlloc(io, path, cache.allocator, .limited(1 << 30)) catch |failure|
            return if (failure == error.OutOfMemory) error.OutOfMemory else null;
        defer cache.allocator.free(data);
        if (data.len < @sizeOf(Header)) return null;
        const header = std.mem.bytesToValue(Header, data[0..@sizeOf(Header)]);
        const texts = data[@sizeOf(Header)..];
        if (header.key_size +| header.log_size +| header.ptx_size != texts.len) return null;
        const log_at: usize = @intCast(header.key_size);
        const ptx_at = log_at + @as(usize, @intCast(header.log_size));
        if (!std.mem.eql(u8, texts[0..log_at], key)) return null;
        const log = try copyText(cache.allocator, texts[log_at..ptx_at]);
        errdefer cache.allocator.free(log);
        const ptx = try copyText(cache.allocator, texts[ptx_at..]);
        return .{ .ptx = ptx, .log = log, .from_cache = true };
    }

    /// Writes beside the place and renames, so that no reader sees half a file.
    fn store(cache: Cache, io: std.Io, key: []const u8, made: CompileResult) Error!void {
        const path = try cache.pathOf(key);
        defer cache.allocator.free(path);
        const header: Header = .{
            .key_size = key.len,
            .log_size = made.log.len,
            .ptx_size = made.ptx.len,
        };
        const parts = .{ std.mem.asBytes(&header), key, made.log, made.ptx };
        const data = try std.mem.concat(cache.allocator, u8, &parts);
        defer cache.allocator.free(data);
        const serial = serials.fetchAdd(1, .acq_rel);
        const process = std.c.getpid();
        const beside = try std.fmt.allocPrint(cache.allocator, "{s}.{d}.{d}", .{
            path, process, serial,
        });
        defer cache.allocator.free(beside);
        const cwd = std.Io.Dir.cwd();
        cwd.createDirPath(io, cache.folder) catch return error.CacheUnusable;
        cwd.writeFile(io, .{ .sub_path = beside, .data = data }) catch return error.CacheUnusable;
        cwd.rename(beside, cwd, path, io) catch {
            cwd.deleteFile(io, beside) catch {};
            return error.CacheUnusable;
        };
    }
};

fn copyText(allocator: std.mem.Allocator, text: []const u8) std.mem.Allocator.Error![:0]u8 {
    const copy = try allocator.allocSentinel(u8, text.len, 0);
    @memcpy(copy, text);
    return copy;
}

var serials: std.atomic.Value(u64) = .init(0);

/// The comment at the beginning of NVRTC's PTX, which names its version.
fn compilerVersion(allocator: std.mem.Allocator) Error![]u8 {
    const probe = try km.Program.init("", "probe.cu", null);
    defer probe.deinit();
    try probe.compile();
    const ptx = try probe.ptx(allocator);
    defer allocator.free(ptx);
    const end = std.mem.indexOf(u8, ptx, ".version") orelse ptx.len;
    return allocator.dupe(u8, ptx[0..end]);
}
