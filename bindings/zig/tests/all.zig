//! All tests of the package.
test {
    _ = @import("errors.zig");
    _ = @import("handles.zig");
    _ = @import("launch.zig");
    _ = @import("leaks.zig");
    _ = @import("memory.zig");
    _ = @import("order.zig");
}
