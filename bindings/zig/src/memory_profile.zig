//! Profiles of the memory in use. Methods of `Context`.
const std = @import("std");
const c = @import("c");
const errors = @import("errors.zig");
const check = errors.check;
const Context = @import("context.zig").Context;
const Error = errors.Error;

/// Peak, minimum, mean and samples of a profile.
pub const MemoryProfile = c.km_memory_profile;

/// A sample: the time since the profile began, and the bytes in use.
pub const MemorySample = c.km_memory_sample;

/// Samples the device memory in use every `interval_ns` on a thread of the library, until it is
/// stopped. error.NotPermitted while a profile runs. C: km_context_start_memory_profile.
pub fn startMemoryProfile(context: Context, interval_ns: u64) Error!void {
    const got = c.km_context_start_memory_profile(context.handle, interval_ns);
    try check(got, context.diagnostics);
}

/// Ends the profile and keeps its findings; fine when none runs. C:
/// km_context_stop_memory_profile.
pub fn stopMemoryProfile(context: Context) Error!void {
    try check(c.km_context_stop_memory_profile(context.handle), context.diagnostics);
}

/// The findings of the profile that runs or ran last. C: km_context_memory_profile.
pub fn memoryProfile(context: Context) Error!MemoryProfile {
    var found = errors.sized(MemoryProfile);
    try check(c.km_context_memory_profile(context.handle, &found), context.diagnostics);
    return found;
}

/// Its samples, at most 65536; the caller's to free. C: km_context_memory_samples.
pub fn memorySamples(
    context: Context,
    allocator: std.mem.Allocator,
) errors.AllocatingError![]MemorySample {
    const call = c.km_context_memory_samples;
    return errors.copyItems(MemorySample, allocator, context.diagnostics, call, context.handle);
}
