//! The package `kernelmill`: module `c` is include/kernelmill/c_api.h by translate-c, module `kernelmill` the
//! idiomatic layer on it; the namespaces of a Zig GPU driver are modules of their own as well.
//! `zig build test` runs the tests.
const std = @import("std");
const Library = @import("library.zig");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    const library = Library.find(b, target);

    const translated = b.addTranslateC(.{
        .root_source_file = b.path("src/c.h"),
        .target = target,
        .optimize = optimize,
    });
    translated.addIncludePath(library.include);
    const c = translated.addModule("c");
    library.link(c);
    b.addNamedLazyPath("include", library.include);

    const kernelmill = b.addModule("kernelmill", .{
        .root_source_file = b.path("src/root.zig"),
        .target = target,
        .optimize = optimize,
        .imports = &.{.{ .name = "c", .module = c }},
    });
    addFacade(b, kernelmill, .{ .target = target, .optimize = optimize });

    const test_step = b.step("test", "Run the tests, and compile what must not compile");
    const run_step = b.step("test-run", "Run the tests");
    test_step.dependOn(run_step);
    const imports: []const std.Build.Module.Import = &.{
        .{ .name = "c", .module = c },
        .{ .name = "kernelmill", .module = kernelmill },
    };
    // Tests put their files into a folder of the cache.
    const scratch = b.addWriteFiles();
    _ = scratch.add("README", "Files of tests.\n");
    for ([_][]const u8{ "all", "facade" }) |name| {
        addRun(b, run_step, scratch, b.addTest(.{ .name = name, .root_module = b.createModule(.{
            .root_source_file = b.path(b.fmt("tests/{s}.zig", .{name})),
            .target = target,
            .optimize = optimize,
            .imports = imports,
        }) }));
    }
    // The examples in the documentation.
    const examples = b.addTest(.{ .name = "examples", .root_module = kernelmill });
    addRun(b, run_step, scratch, examples);
    for (refused) |wrong| {
        const compile = b.addObject(.{ .name = wrong.name, .root_module = b.createModule(.{
            .root_source_file = b.path(b.fmt("tests/refused/{s}.zig", .{wrong.name})),
            .target = target,
            .optimize = optimize,
            .imports = imports,
        }) });
        compile.expect_errors = .{ .contains = wrong.message };
        test_step.dependOn(&compile.step);
    }
}

/// The kernels of one file, for `addKernels`.
pub const Kernels = struct {
    /// The name of the module that the program imports.
    name: []const u8,
    /// CUDA C++ or PTX.
    source: std.Build.LazyPath,
    /// The module `kernelmill` of this package.
    kernelmill: *std.Build.Module,
    /// Instances of template kernels: "scale<float>".
    instantiate: []const []const u8 = &.{},
    /// Files that the source includes: the wrapper is made again when one of them changes.
    includes: []const std.Build.LazyPath = &.{},
    /// Further options of `kernelmill wrap`, such as "-DNAME=VALUE".
    options: []const []const u8 = &.{},
};

/// Gives a program a module with a typed function for each kernel of a file. It is made by the
/// command `kernelmill`, which the variable KERNELMILL names or which lies on PATH; the build stops
/// with its message where it, or NVRTC, is missing.
pub fn addKernels(b: *std.Build, program: *std.Build.Module, kernels: Kernels) void {
    const command = b.graph.environ_map.get("KERNELMILL") orelse "kernelmill";
    const wrap = b.addSystemCommand(&.{ command, "wrap" });
    wrap.addFileArg(kernels.source);
    wrap.addArgs(&.{ "--lang", "zig", "--name", kernels.name });
    for (kernels.instantiate) |instance| wrap.addArgs(&.{ "--instantiate", instance });
    wrap.addArgs(kernels.options);
    for (kernels.includes) |file| wrap.addFileInput(file);
    wrap.addArg("-o");
    const file = wrap.addOutputFileArg(b.fmt("{s}.zig", .{kernels.name}));
    program.addImport(kernels.name, b.createModule(.{
        .root_source_file = file,
        .imports = &.{.{ .name = "kernelmill", .module = kernels.kernelmill }},
    }));
}

/// Runs tests in a folder of the cache.
fn addRun(
    b: *std.Build,
    step: *std.Build.Step,
    scratch: *std.Build.Step.WriteFile,
    tests: *std.Build.Step.Compile,
) void {
    const run = b.addRunArtifact(tests);
    run.has_side_effects = true; // the library may be another one than last time
    run.setCwd(scratch.getDirectory());
    step.dependOn(&run.step);
}

/// The namespaces of a Zig GPU driver: modules, so that programs can import each by itself.
fn addFacade(
    b: *std.Build,
    kernelmill: *std.Build.Module,
    options: std.Build.Module.CreateOptions,
) void {
    var modules: [facade.len]*std.Build.Module = undefined;
    for (facade, &modules) |name, *module| {
        var with_root = options;
        with_root.root_source_file = b.path(b.fmt("src/facade/{s}.zig", .{name}));
        module.* = b.addModule(name, with_root);
        module.*.addImport("kernelmill", kernelmill);
        kernelmill.addImport(name, module.*);
    }
    for (modules) |module| {
        for (facade, modules) |name, other| if (other != module) module.addImport(name, other);
    }
}

const facade = [_][]const u8{
    "cuda_device_query", "cuda_memory",    "cuda_native", "cuda_nvrtc",
    "cuda_stream",       "error_handling", "profiling",
};

/// Misuse that must not compile, and how the compiler's message ends.
const refused = [_]struct { name: []const u8, message: []const u8 }{
    .{
        .name = "pointer_argument",
        .message = "pointers are no arguments of kernels: give a Slice or a DeviceAddress",
    },
    .{
        .name = "untyped_argument",
        .message = "give the number a type, as in @as(u32, 1)",
    },
    .{
        .name = "slice_of_pointers",
        .message = "(numbers, arrays, extern or packed structs), not *u32",
    },
    .{
        .name = "hidden_pointer",
        .message = "(numbers, arrays, extern or packed structs), not *u32",
    },
    .{
        .name = "hidden_argument",
        .message = "(numbers, arrays, extern or packed structs), not ?*u32",
    },
    .{
        .name = "wrong_element",
        .message = "expected type '[1]f32', found '[1]u32'",
    },
    .{
        .name = "event_as_stream",
        .message = "expected type 'stream.Stream', found 'stream.Event'",
    },
    .{
        .name = "embedded_count",
        .message = "fill_index has 3 parameters (.u64 out, .u32 base, .u32 n), and was given 2",
    },
    .{
        .name = "embedded_size",
        .message = "parameter 1 'base' of fill_index is .u32: an integer of 4 bytes, not u64",
    },
    .{
        .name = "embedded_kind",
        .message = "parameter 2 'n' of fill_index is .u32: an integer of 4 bytes, not f32",
    },
    .{
        .name = "embedded_pointer",
        .message = "parameter 0 'data' of scale is .u64 .ptr: a slice, a view or a " ++
            "DeviceAddress, not u64",
    },
    .{
        .name = "embedded_slice",
        .message = "parameter 1 'factor' of scale is .f32: a float of 4 bytes, not " ++
            "memory.Slice(u32)",
    },
    .{
        .name = "embedded_name",
        .message = "the PTX has no kernel 'fill_indx'; it has: fill_index, scale",
    },
    .{
        .name = "embedded_text",
        .message = "the PTX ends in the middle of an entry point",
    },
    .{
        .name = "fill_wide",
        .message = "devices fill with 1, 2 or 4 bytes, not u64: upload the elements",
    },
    .{
        .name = "fft_elements",
        .message = "there is no transform from blas.types.Complex(f32) to f64",
    },
    .{
        .name = "blas_element",
        .message = "BLAS has f32, f64, km.Complex of them, and for gemm f16 and km.Bf16, not u32",
    },
};
