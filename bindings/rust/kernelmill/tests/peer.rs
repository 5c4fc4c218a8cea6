//! Two devices of one backend. A program of its own, because the number of devices is set for all
//! of it.

mod common;

use common::{expect_error, function};
use kernelmill::{Context, Device, LaunchConfig, Result, Status};

fn devices_share_memory() -> Result<()> {
    let (first, second) = (Device::open("cpu:0")?, Device::open("cpu:1")?);
    assert!(first.can_access_peer(&second)? && second.can_access_peer(&first)?);
    assert!(!first.can_access_peer(&first)?);
    let (here, there) = (Context::new(&first)?, Context::new(&second)?);
    let (stream, other) = (here.default_stream()?, there.default_stream()?);
    let source = stream.clone_htod(&[1f32, 2.0, 3.0])?;
    let mut destination = there.alloc_zeros::<f32>(3)?;
    stream.memcpy_peer(&source.view(1..)?, &mut destination.view_mut(..2)?)?;
    other.wait(&stream.record_event()?)?;
    assert_eq!(other.clone_dtoh(&destination)?, [2.0, 3.0, 0.0]);
    let short = stream.memcpy_peer(&source, &mut destination.view_mut(..2)?);
    expect_error(short, Status::ERROR_INVALID_ARGUMENT, "source has 3");

    let scale = function(&here, "scale");
    let launch = |data: &kernelmill::Slice<f32>| {
        let mut launch = stream.launch_builder(&scale);
        launch.arg(data).arg(&10f32).arg(&3i32);
        // SAFETY: the kernel stays within three elements, which nothing else uses.
        unsafe { launch.launch(LaunchConfig::for_num_elems(3)) }
    };
    expect_error(launch(&destination), Status::ERROR_CONTEXT_MISMATCH, "context");
    here.enable_peer_access(&there)?;
    here.enable_peer_access(&there)?;
    launch(&destination)?;
    stream.synchronize()?;
    assert_eq!(other.clone_dtoh(&destination)?, [20.0, 30.0, 0.0]);
    here.disable_peer_access(&there)?;
    expect_error(launch(&destination), Status::ERROR_CONTEXT_MISMATCH, "context");
    expect_error(here.enable_peer_access(&here), Status::ERROR_INVALID_ARGUMENT, "");
    expect_error(here.disable_peer_access(&here), Status::ERROR_INVALID_ARGUMENT, "");
    let (from, to) = (source.address()?, destination.address()?);
    // SAFETY: nothing else uses the memory.
    unsafe {
        stream.memcpy_peer_address((&here, from + 4), (&there, to), 8)?;
        let far = stream.memcpy_peer_address((&here, from + 4), (&there, to), 12);
        expect_error(far, Status::ERROR_OUT_OF_BOUNDS, "12 bytes");
    }
    stream.synchronize()?;
    assert_eq!(other.clone_dtoh(&destination)?, [2.0, 3.0, 0.0]);
    Ok(())
}

#[test]
fn two_devices_share_memory() -> Result<()> {
    // SAFETY: this is the only thread that looks at the environment, and the library has not yet.
    unsafe { std::env::set_var("KM_CPU_DEVICES", "2") };
    devices_share_memory()
}
