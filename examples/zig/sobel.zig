//! Finds the edges of a picture by a CUDA C++ kernel: sobel INPUT.png OUTPUT.pgm
const std = @import("std");
const km = @import("kernelmill");
const png = @import("png");

const kernels_of_sobel = @import("generated/sobel.zig");
const tile = 16;
const Picture = struct { width: u32, height: u32, grey: []u8 };

fn readGrey(arena: std.mem.Allocator, path: [:0]const u8) !Picture {
    var image = std.mem.zeroes(png.png_image);
    image.version = png.PNG_IMAGE_VERSION;
    errdefer std.log.err("{s}: {s}", .{ path, std.mem.sliceTo(&image.message, 0) });
    if (png.png_image_begin_read_from_file(&image, path.ptr) == 0) return error.CannotRead;
    image.format = png.PNG_FORMAT_RGB;
    const size = @as(usize, image.width) * image.height;
    const rgb = try arena.alloc([3]u8, size);
    if (png.png_image_finish_read(&image, null, rgb.ptr, 0, null) == 0) return error.CannotRead;
    const grey = try arena.alloc(u8, size);
    for (grey, rgb) |*luma, pixel| {
        const sum = 77 * @as(u32, pixel[0]) + 150 * @as(u32, pixel[1]) + 29 * @as(u32, pixel[2]);
        luma.* = @intCast((sum + 128) >> 8);
    }
    return .{ .width = image.width, .height = image.height, .grey = grey };
}

/// Runs the kernel, in place.
fn findEdges(picture: Picture, diagnostics: *km.Diagnostics) km.Error!void {
    // What KM_DEVICE says, else a GPU, else the CPU.
    const context = try km.Context.open("auto", diagnostics);
    defer context.deinit();
    const stream = try km.Stream.init(context);
    defer stream.deinit();
    const kernels = try kernels_of_sobel.Kernels.load(context);
    defer kernels.deinit();
    const in = try km.Slice(u8).initCopy(context, stream, picture.grey);
    defer in.deinit();
    const out = try km.Slice(u8).init(context, picture.grey.len);
    defer out.deinit();
    try kernels.launchSobel(stream, .{
        .grid = .{ (picture.width + tile - 1) / tile, (picture.height + tile - 1) / tile, 1 },
        .block = .{ tile, tile, 1 },
    }, in, out, @intCast(picture.width), @intCast(picture.height));
    try out.download(stream, picture.grey);
}

pub fn main(init: std.process.Init) !void {
    const arena = init.arena.allocator();
    const arguments = try init.minimal.args.toSlice(arena);
    if (arguments.len != 3) return error.UsageIsSobelInputPngOutputPgm;
    const picture = try readGrey(arena, arguments[1]);
    var diagnostics: km.Diagnostics = .{};
    errdefer std.log.err("{s}", .{diagnostics.message()});
    try findEdges(picture, &diagnostics);
    const header = "P5\n{d} {d}\n255\n{s}";
    const file = try std.fmt.allocPrint(arena, header, .{ picture.width, picture.height, picture.grey });
    try std.Io.Dir.cwd().writeFile(init.io, .{ .sub_path = arguments[2], .data = file });
}
