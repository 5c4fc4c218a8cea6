//! What the compiler cannot refuse is an error that says what was wrong; nothing panics.

mod common;

use std::collections::HashSet;

use common::{context, expect_error, function, module};
use kernelmill::{
    Category, Context, Device, Error, LaunchConfig, Program, Result, Slice, Status, sys,
};

const ONE: LaunchConfig =
    LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };

#[test]
fn devices_that_are_not_there() {
    let (argument, missing) = (Status::ERROR_INVALID_ARGUMENT, Status::ERROR_NO_DEVICE);
    expect_error(Device::open("cpu:999"), missing, "cpu:999");
    expect_error(Device::open("nonsense::"), argument, "nonsense::");
    expect_error(Device::open("cpu\0"), argument, "zero byte");
    expect_error(Context::open("warp:0"), Status::ERROR_BACKEND_UNAVAILABLE, "warp");
    expect_error(Device::count(Some("warp")), Status::ERROR_BACKEND_UNAVAILABLE, "warp");
}

#[test]
fn ranges_out_of_bounds() -> Result<()> {
    let mut slice = context().alloc_zeros::<u32>(10)?;
    let bounds = Status::ERROR_OUT_OF_BOUNDS;
    expect_error(slice.view(5..11), bounds, "slice of 10");
    expect_error(slice.view(11..), bounds, "slice of 10");
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = 6..5;
    expect_error(slice.view(reversed), bounds, "slice of 10");
    expect_error(slice.view(..=usize::MAX), bounds, "slice of 10");
    expect_error(slice.view_mut(0..=10), bounds, "slice of 10");
    expect_error(slice.split_at_mut(11), bounds, "slice of 10");
    expect_error(slice.view(2..4)?.view(1..3), bounds, "slice of 2");
    Ok(())
}

#[test]
fn lengths_that_differ() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let mut slice = stream.alloc_zeros::<u32>(10)?;
    let other = stream.alloc_zeros::<u32>(9)?;
    let argument = Status::ERROR_INVALID_ARGUMENT;
    expect_error(stream.memcpy_htod(&[1; 11], &mut slice), argument, "11 elements");
    expect_error(stream.memcpy_dtoh(&slice, &mut [1; 9]), argument, "destination 9");
    expect_error(stream.memcpy_dtod(&other, &mut slice), argument, "source has 9");
    let pinned = context.alloc_pinned::<u32>(3)?;
    expect_error(stream.memcpy_htod_async(pinned, &mut slice), argument, "3 elements");
    let pinned = context.alloc_pinned::<u32>(3)?;
    expect_error(stream.memcpy_dtoh_async(&slice, pinned), argument, "destination 3");
    Ok(())
}

#[test]
fn sizes_that_cannot_be() {
    let context = context();
    expect_error(context.alloc::<u64>(usize::MAX), Status::ERROR_INVALID_ARGUMENT, "");
    expect_error(context.alloc::<u8>(1 << 60), Status::ERROR_OUT_OF_DEVICE_MEMORY, "");
    expect_error(context.alloc::<[u8; 0]>(1), Status::ERROR_INVALID_ARGUMENT, "element_size");
    expect_error(context.alloc_pinned::<u64>(usize::MAX), Status::ERROR_INVALID_ARGUMENT, "");
    expect_error(context.alloc_pinned::<u64>(0), Status::ERROR_INVALID_ARGUMENT, "size_bytes");
    expect_error(
        Slice::from_vec(&context, Vec::<u32>::new()),
        Status::ERROR_INVALID_ARGUMENT,
        "empty",
    );
}

#[test]
fn arguments_that_do_not_fit() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let scale = function(&context, "scale");
    let mut data = context.alloc_zeros::<f32>(4)?;
    let invalid = Status::ERROR_INVALID_LAUNCH;
    let launch = || stream.launch_builder(&scale);
    expect_error(unsafe { launch().launch(ONE) }, invalid, "'scale' has 3 parameters; 0");
    expect_error(
        unsafe { launch().arg(&data).arg(&1.0f64).arg(&4i32).launch(ONE) },
        invalid,
        "; 'double' was given: give a float of 4 bytes",
    );
    expect_error(
        unsafe { launch().arg(&data).arg(&1i32).arg(&4i32).launch(ONE) },
        invalid,
        "; 'int' was given: give a float of 4 bytes",
    );
    expect_error(
        unsafe { launch().arg(&data).arg(&1f32).arg(&4f32).launch(ONE) },
        invalid,
        "; 'float' was given: give an integer of 4 bytes",
    );
    expect_error(
        unsafe { launch().arg(&1f64).arg(&1f32).arg(&4i32).launch(ONE) },
        invalid,
        "; 'double' was given: give a slice",
    );
    expect_error(
        unsafe { launch().arg(&data).arg(&data).arg(&4i32).launch(ONE) },
        invalid,
        "launch: parameter 1 'factor' of kernel 'scale' is ",
    );
    expect_error(
        unsafe { launch().arg(&data).arg(&1f32).arg(&4i32).arg(&4i32).launch(ONE) },
        invalid,
        "has 3 parameters; more",
    );
    let mut good = launch();
    good.arg(&mut data).arg(&1f32).arg(&4i32);
    let shape = |grid, block| LaunchConfig { grid_dim: grid, block_dim: block, ..ONE };
    expect_error(unsafe { good.launch(shape((0, 1, 1), (1, 1, 1))) }, invalid, "grid.x is 0");
    expect_error(unsafe { good.launch(shape((1, 1, 1), (1024, 2, 1))) }, invalid, "2048");
    let shared = LaunchConfig { shared_mem_bytes: 1 << 40, ..ONE };
    expect_error(unsafe { good.launch(shared) }, invalid, "shared_bytes");
    unsafe { good.launch(ONE) }
}

#[test]
fn objects_of_different_contexts() -> Result<()> {
    let (one, two) = (context(), context());
    let stream = one.default_stream()?;
    let mut foreign = two.alloc_zeros::<f32>(4)?;
    let mismatch = Status::ERROR_CONTEXT_MISMATCH;
    expect_error(stream.memcpy_htod(&[0.0; 4], &mut foreign), mismatch, "context");
    stream.wait(&two.new_event()?)?; // events order streams of all contexts
    let scale = function(&one, "scale");
    let mut launch = stream.launch_builder(&scale);
    launch.arg(&mut foreign).arg(&1f32).arg(&4i32);
    expect_error(unsafe { launch.launch(ONE) }, mismatch, "context");
    Ok(())
}

#[test]
fn modules_without_what_is_asked_for() -> Result<()> {
    let context = context();
    let module = module(&context);
    expect_error(module.load_function("scales"), Status::ERROR_NOT_FOUND, "scale");
    expect_error(module.global::<u32>("counter"), Status::ERROR_NOT_FOUND, "'counter'");
    expect_error(module.global::<[u8; 7]>("counters"), Status::ERROR_INVALID_ARGUMENT, "16 bytes");
    expect_error(context.load_ptx("no PTX"), Status::ERROR_INVALID_PTX, "");
    expect_error(context.load_ptx(""), Status::ERROR_INVALID_PTX, "");
    let ptx = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n\0";
    context.load_ptx(ptx)?.load_function("k")?;
    expect_error(context.load_ptx(&ptx[..0]), Status::ERROR_INVALID_PTX, "");
    expect_error(context.load_source("int x = ;"), Status::ERROR_COMPILATION_FAILED, "");
    expect_error(context.load_file("no/such.cu"), Status::ERROR_NOT_FOUND, "no/such.cu");
    let program = Program::new("")?;
    expect_error(program.ptx(), Status::ERROR_NOT_FOUND, "");
    expect_error(program.add_option("-D\0"), Status::ERROR_INVALID_ARGUMENT, "zero byte at 2");
    program.add_option("--no-such-option")?;
    expect_error(program.compile(), Status::ERROR_INVALID_ARGUMENT, "no-such-option");
    Ok(())
}

#[test]
fn events_without_times() -> Result<()> {
    let context = context();
    let (timed, untimed) = (context.new_event()?, context.new_event_without_timing()?);
    expect_error(timed.elapsed_ns(&untimed), Status::ERROR_INVALID_ARGUMENT, "");
    expect_error(
        context.new_stream_with_priority(i32::MAX),
        Status::ERROR_INVALID_ARGUMENT,
        "priority",
    );
    Ok(())
}

#[test]
fn errors_say_it_all() -> Result<()> {
    let context = context();
    let error = context.load_file("no/such.cu").expect_err("no such file");
    assert_eq!(error.status_name(), "KM_ERROR_NOT_FOUND");
    assert_eq!(error.category(), Category::USAGE);
    assert!(!error.suggestion().is_empty());
    assert_eq!(error.to_string(), format!("{} [KM_ERROR_NOT_FOUND]", error.message()));
    assert!(format!("{error:?}").contains("suggestion"));
    // The context remembers its last error, until it is taken.
    let same = |other: Option<Error>| other.is_some_and(|e| e.message() == error.message());
    assert!(same(context.error()?) && same(context.take_error()?));
    assert!(context.take_error()?.is_none() && context.error()?.is_none());
    let names: HashSet<&str> = [Status::ERROR_IO, Status::TIMEOUT, Status(12345)]
        .map(|status| unsafe { status_name(status) })
        .into();
    assert_eq!(names, HashSet::from(["KM_ERROR_IO", "KM_TIMEOUT", ""]));
    Ok(())
}

/// # Safety
///
/// None needed: the texts are static.
unsafe fn status_name(status: Status) -> &'static str {
    let mut text = c"".as_ptr();
    // SAFETY: the out-parameter lives through the call, and stays a text when that fails.
    let text = unsafe {
        sys::km_status_name(status, &mut text);
        std::ffi::CStr::from_ptr(text)
    };
    text.to_str().unwrap_or_default()
}

#[test]
fn handles_behind_the_back() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    // SAFETY: that is the point of this test: a handle is no pointer.
    assert_eq!(unsafe { sys::km_stream_destroy(stream.as_raw()) }, Status::SUCCESS);
    expect_error(stream.synchronize(), Status::ERROR_INVALID_HANDLE, "destroyed already");
    expect_error(stream.alloc::<u8>(1), Status::ERROR_INVALID_HANDLE, "stream");
    let raw = context.new_event()?.into_raw();
    // SAFETY: into_raw() gave the handle away.
    drop(unsafe { kernelmill::Event::from_raw(raw) });
    // SAFETY: nothing is destroyed by a handle that is not live.
    expect_error(
        unsafe { Slice::<u8>::from_raw(raw.cast()) },
        Status::ERROR_INVALID_HANDLE,
        "slice",
    );
    Ok(())
}
