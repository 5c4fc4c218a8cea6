//! Kernelmill: runs CUDA-style kernels on NVIDIA GPUs and on any CPU.
//!
//! ```zig
//! const km = @import("kernelmill");
//! var diagnostics: km.Diagnostics = .{};
//! errdefer std.log.err("{s}", .{diagnostics.message()});
//! const context = try km.Context.open("auto", &diagnostics);
//! defer context.deinit();
//! ```
//!
//! Each object owns one handle: give it to `deinit` once, in any order. Handles are checked ids: one
//! that was destroyed, or a copy of it, gives error.InvalidHandle and has no effect. What blocks,
//! units and statuses stand in c_api.h under the function's name; all of them may be called from any
//! number of threads at once, but see `Diagnostics`, and a `Launch` is for one thread at a time.
//!
//! Work on different streams runs side by side, except that each use of a slice waits for the earlier
//! uses on other streams that it conflicts with: docs/guide/ordering.md has the rules.
const device = @import("device.zig");
const errors = @import("errors.zig");
const launch = @import("launch.zig");
const memory = @import("memory.zig");
const program = @import("program.zig");
const stream = @import("stream.zig");

pub const Category = errors.Category;
pub const Context = device.Context;
pub const Device = device.Device;
pub const DeviceAddress = launch.DeviceAddress;
pub const Diagnostics = errors.Diagnostics;
pub const Error = errors.Error;
pub const Event = stream.Event;
pub const Function = program.Function;
pub const HostMemory = memory.HostMemory;
pub const Launch = launch.Launch;
pub const LaunchConfig = launch.Config;
pub const Module = program.Module;
pub const Program = program.Program;
pub const ReadOnly = launch.ReadOnly;
pub const Slice = memory.Slice;
pub const Status = errors.Status;
pub const Stream = stream.Stream;
pub const View = memory.View;
pub const readOnly = launch.readOnly;
