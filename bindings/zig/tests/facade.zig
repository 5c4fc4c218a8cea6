//! The tests of the namespaces of a Zig GPU driver.
test {
    _ = @import("facade/errors.zig");
    _ = @import("facade/leaks.zig");
    _ = @import("facade/memory.zig");
    _ = @import("facade/native.zig");
    _ = @import("facade/nvrtc.zig");
    _ = @import("facade/profiling.zig");
    _ = @import("facade/query.zig");
}
