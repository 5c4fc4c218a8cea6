//! Transforms have one type of real numbers.
const km = @import("kernelmill");

export fn wrong(stream: *const km.Stream) void {
    const fft = km.Fft(km.Complex(f32), f64).init(stream.*, .{ .sizes = &.{8} }) catch return;
    fft.deinit();
}
