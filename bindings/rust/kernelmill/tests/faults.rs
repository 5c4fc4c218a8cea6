//! Kernels that fail, callbacks that panic, and Rust's own faults beside them.

mod common;

use std::process::Command;
use std::sync::mpsc;

use common::{context, expect_error, function};
use kernelmill::{Category, Context, Device, LaunchConfig, Result, Status};

const ONE: LaunchConfig =
    LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };

/// Runs the kernel that writes to no memory, or `trap`, and waits for it.
fn fail(context: &Context, kernel: &str) -> Result<()> {
    let stream = context.default_stream()?;
    let function = function(context, kernel);
    let mut launch = stream.launch_builder(&function);
    if kernel == "wild" {
        launch.arg(&0x10u64);
    }
    unsafe { launch.launch(ONE) }?;
    stream.synchronize()
}

#[test]
fn a_fault_sticks_to_its_context() -> Result<()> {
    let (bad, good) = (context(), context());
    let stream = bad.new_stream()?;
    let mut slice = bad.alloc_zeros::<u32>(4)?;
    let fault = Status::ERROR_ILLEGAL_ADDRESS;
    expect_error(fail(&bad, "wild"), fault, "wild");
    expect_error(stream.fill(&mut slice, 1), fault, "wild");
    expect_error(bad.alloc_zeros::<u32>(4), fault, "wild");
    let pinned = bad.alloc_pinned::<u32>(4);
    expect_error(pinned, fault, "wild");
    let sticky = bad.take_error()?.expect("a sticky error");
    assert_eq!((sticky.status(), sticky.category()), (fault, Category::KERNEL_FAULT));
    assert!(bad.take_error()?.is_some());
    // Another context goes on.
    let other = good.default_stream()?;
    assert_eq!(other.clone_dtoh(&other.clone_htod(&[1, 2])?)?, [1, 2]);

    bad.reset()?;
    assert!(bad.error()?.is_none());
    expect_error(stream.fill(&mut slice, 1), Status::ERROR_CONTEXT_LOST, "reset");
    let stream = bad.new_stream()?;
    assert_eq!(stream.clone_dtoh(&stream.clone_htod(&[3, 4])?)?, [3, 4]);
    expect_error(fail(&bad, "trap"), Status::ERROR_TRAP, "trap");
    Ok(())
}

#[test]
fn debug_builds_find_wrong_accesses() -> Result<()> {
    assert_eq!(context().is_checked()?, cfg!(debug_assertions));
    let device = Device::open("cpu")?;
    assert!(!Context::new_checked(&device, false)?.is_checked()?);
    let context = Context::new_checked(&device, true)?;
    assert!(context.is_checked()? && context.is_ordered()?);
    let stream = context.default_stream()?;
    let _before = context.alloc_zeros::<f32>(1024)?;
    let mut data = context.alloc_zeros::<f32>(1024)?;
    let _after = context.alloc_zeros::<f32>(1024)?;
    let scale = function(&context, "scale");
    let mut launch = stream.launch_builder(&scale);
    launch.arg(&mut data).arg(&2f32).arg(&1034i32);
    unsafe { launch.launch(LaunchConfig::for_num_elems(1034)) }?;
    let error = stream.synchronize().unwrap_err();
    assert_eq!(error.status(), Status::ERROR_ILLEGAL_ADDRESS);
    for part in ["past the end of the 4096-byte allocation", "(parameter 0 'data')", "(0,0,0)"] {
        assert!(error.message().contains(part), "{error}");
    }
    assert!(error.suggestion().ends_with("then call Context::reset."), "{}", error.suggestion());
    Ok(())
}

#[test]
fn host_memory_survives_a_reset() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let mut pinned = context.alloc_pinned::<u32>(1 << 18)?;
    let moving = context.alloc_pinned::<u32>(1 << 18)?;
    let mut slice = context.alloc_zeros::<u32>(1 << 18)?;
    let (open_gate, gate) = mpsc::channel::<()>();
    stream.add_callback(move |_| assert!(gate.recv().is_err()))?; // until it is dropped
    let pending = stream.memcpy_htod_async(moving, &mut slice)?;
    drop(open_gate);
    context.reset()?;
    pinned.fill(7);
    assert!(pinned.iter().all(|value| *value == 7));
    expect_error(pending.wait(), Status::ERROR_CONTEXT_LOST, "reset");
    expect_error(stream.memcpy_dtoh(&slice, &mut pinned), Status::ERROR_CONTEXT_LOST, "reset");
    Ok(())
}

#[test]
fn callbacks_get_the_error() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let function = function(&context, "trap");
    let (sender, receiver) = mpsc::channel();
    let (open_gate, gate) = mpsc::channel::<()>();
    stream.add_callback(move |_| assert!(gate.recv().is_err()))?; // until it is dropped
    unsafe { stream.launch_builder(&function).launch(ONE) }?;
    stream.add_callback(move |result| assert!(sender.send(result).is_ok()))?;
    drop(open_gate);
    assert!(stream.synchronize().is_err());
    let result = receiver.recv().expect("the callback runs after errors too");
    expect_error(result, Status::ERROR_TRAP, "");
    // A callback that cannot be added is dropped, with what it holds.
    let (sender, receiver) = mpsc::channel::<()>();
    let refused = stream.add_callback(move |_| drop(sender));
    expect_error(refused, Status::ERROR_TRAP, "trap");
    assert!(receiver.recv().is_err());
    Ok(())
}

#[test]
fn a_callback_may_panic_but_not_wait() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let inner = context.new_stream()?;
    let (sender, receiver) = mpsc::channel();
    stream.add_callback(|_| panic!("a panic on purpose"))?;
    stream.add_callback(move |_| assert!(sender.send(inner.synchronize()).is_ok()))?;
    stream.synchronize()?;
    let result = receiver.recv().expect("the second callback");
    expect_error(result, Status::ERROR_NOT_PERMITTED, "");
    Ok(())
}

/// Runs the test of this name again, alone in a process of its own, and gives what that printed.
fn in_child(test: &str) -> (bool, String) {
    let program = std::env::current_exe().expect("the path of this program");
    let output = Command::new(program)
        .args([test, "--exact", "--nocapture"])
        .env("KM_TEST_IN_CHILD", "1")
        .output()
        .expect("a child process");
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// Rust's handler of stack overflows still speaks when the library has put its own before it.
#[test]
fn a_stack_overflow_is_reported_by_rust() {
    #[allow(unconditional_recursion)]
    fn endless(depth: u64) -> u64 {
        std::hint::black_box(endless(std::hint::black_box(depth + 1)) + 1)
    }
    if std::env::var_os("KM_TEST_IN_CHILD").is_some() {
        expect_error(fail(&context(), "wild"), Status::ERROR_ILLEGAL_ADDRESS, "wild");
        endless(0);
    }
    let (success, text) = in_child("a_stack_overflow_is_reported_by_rust");
    assert!(!success && text.contains("has overflowed its stack"), "{text}");
}
