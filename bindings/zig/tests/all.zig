//! All tests of the package.
test {
    _ = @import("blas.zig");
    _ = @import("comm.zig");
    _ = @import("contexts.zig");
    _ = @import("declarations.zig");
    _ = @import("devices.zig");
    _ = @import("element_types.zig");
    _ = @import("embed.zig");
    _ = @import("errors.zig");
    _ = @import("fft.zig");
    _ = @import("files.zig");
    _ = @import("functions.zig");
    _ = @import("graphs.zig");
    _ = @import("handles.zig");
    _ = @import("launch.zig");
    _ = @import("leaks.zig");
    _ = @import("library.zig");
    _ = @import("memory.zig");
    _ = @import("order.zig");
    _ = @import("pools.zig");
    _ = @import("profiler.zig");
    _ = @import("rows.zig");
    _ = @import("sparse.zig");
    _ = @import("solve.zig");
    _ = @import("threads.zig");
    _ = @import("tunings.zig");
    _ = @import("waits.zig");
}
