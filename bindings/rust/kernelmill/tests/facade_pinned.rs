//! The facade's page-locked and unified memory.

#[path = "common/facade.rs"]
mod facade;

use facade::{Tested, expect_error, function, own_context};
use kernelmill::driver::sys::CUmemAttach_flags;
use kernelmill::driver::{
    CudaContext, DriverError, LaunchConfig, PinnedBuffer, PinnedHostSlice, PushKernelArg,
    UnifiedSlice,
};

const LEN: usize = 1 << 20;

fn is_send_and_sync<T: Send + Sync>() {}

/// A stream with so much to do that copies queued behind it are not done at once.
macro_rules! keep_busy {
    ($stream:expr) => {{
        let slow = function($stream.context(), "slow");
        let mut word = $stream.alloc_zeros::<u32>(1)?;
        let config = LaunchConfig { block_dim: (1, 1, 1), ..LaunchConfig::for_num_elems(1) };
        let steps = 20_000_000u32;
        unsafe { $stream.launch_builder(&slow).arg(&mut word).arg(&steps).launch(config) }?;
    }};
}

#[test]
fn a_buffer_is_not_changed_while_it_is_copied() -> Tested {
    let stream = CudaContext::new(0)?.new_stream()?;
    let mut pinned: PinnedBuffer<f32> = stream.pin_memory(&vec![1.5; LEN])?;
    let mut slice = stream.alloc_zeros::<f32>(LEN)?;
    keep_busy!(stream);
    stream.htod_copy_async(&pinned, &mut slice)?;
    let end = stream.record_event(None)?;
    assert!(!end.try_is_complete()?, "the copy was not queued, but made at once");
    pinned.as_mut_slice()?.fill(9.0); // waits
    assert!(end.try_is_complete()?);
    assert!(stream.clone_dtoh(&slice)?.iter().all(|number| *number == 1.5));
    Ok(())
}

#[test]
fn a_dropped_buffer_is_kept_until_its_copy_is_done() -> Tested {
    let stream = CudaContext::new(0)?.new_stream()?;
    for _ in 0..3 {
        let pinned = stream.pin_memory(&vec![2.5f32; LEN])?;
        let mut slice = stream.alloc_zeros::<f32>(LEN)?;
        keep_busy!(stream);
        stream.htod_copy_async(&pinned, &mut slice)?;
        drop(pinned);
        drop(stream.pin_memory(&vec![0.0f32; LEN])?); // perhaps in the same place
        assert!(stream.clone_dtoh(&slice)?.iter().all(|number| *number == 2.5));
    }
    Ok(())
}

#[test]
fn copies_to_a_buffer_are_waited_for() -> Tested {
    let context = CudaContext::new(0)?;
    let (one, other) = (context.new_stream()?, context.new_stream()?);
    let slice = one.clone_htod(&vec![7u32; LEN])?;
    let mut pinned = unsafe { context.alloc_pinned::<u32>(LEN) }?;
    assert!(pinned.as_slice()?.iter().all(|word| *word == 0));
    keep_busy!(one);
    one.memcpy_dtoh(&slice, &mut pinned)?;
    let copy = other.clone_htod(&pinned)?; // on another stream, behind the first copy
    assert!(pinned.as_slice()?.iter().all(|word| *word == 7));
    assert!(other.clone_dtoh(&copy)?.iter().all(|word| *word == 7));
    Ok(())
}

#[test]
fn plain_slices_of_a_buffer_are_copied_at_once() -> Tested {
    let stream = CudaContext::new(0)?.new_stream()?;
    let mut pinned = stream.pin_memory(&vec![3u32; LEN])?;
    keep_busy!(stream);
    let slice = stream.clone_htod(pinned.as_slice()?)?; // borrowed for the call only
    pinned.as_mut_slice()?.fill(4);
    assert!(stream.clone_dtoh(&slice)?.iter().all(|word| *word == 3));
    keep_busy!(stream);
    stream.memcpy_dtoh(&slice, pinned.as_mut_slice()?)?;
    assert!(pinned.as_slice()?.iter().all(|word| *word == 3));
    Ok(())
}

#[test]
fn buffers_say_what_they_are() -> Tested {
    is_send_and_sync::<PinnedHostSlice<f32>>();
    let context = CudaContext::new(0)?;
    let mut pinned = unsafe { context.alloc_pinned_with_flags::<u16>(3, 4) }?;
    assert_eq!((pinned.len(), pinned.num_bytes(), pinned.is_empty()), (3, 6, false));
    assert_eq!(pinned.as_ptr()?, pinned.as_mut_ptr()?.cast_const());
    assert_eq!(pinned.context(), &context);
    let unknown = unsafe { context.alloc_pinned_with_flags::<u16>(3, 8) };
    expect_error(unknown, DriverError::InvalidValue, "flags is 8");
    expect_error(
        unsafe { context.alloc_pinned::<u64>(usize::MAX) },
        DriverError::InvalidValue,
        "8",
    );
    let none = context.default_stream().pin_memory::<f32>(&[]);
    expect_error(none, DriverError::InvalidValue, "is 0");
    Ok(())
}

#[test]
fn unified_memory_is_used_by_host_and_device() -> Tested {
    is_send_and_sync::<UnifiedSlice<f32>>();
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let mut shared = unsafe { context.alloc_unified::<f32>(1000, true) }?;
    assert!(shared.as_slice()?.iter().all(|number| *number == 0.0));
    shared.as_mut_slice()?.fill(2.0);
    let scale = function(&context, "scale");
    let config = LaunchConfig::for_num_elems(1000);
    let mut launch = stream.launch_builder(&scale);
    launch.arg(&mut shared).arg(&4.0f32).arg(&1000u32);
    unsafe { launch.launch(config) }?;
    assert!(shared.as_slice()?.iter().all(|number| *number == 8.0));
    // The memory as the host's, and as the device's.
    let copy = stream.clone_htod(&shared)?;
    assert_eq!(stream.clone_dtoh(&copy)?, vec![8.0; 1000]);
    stream.memset_zeros(&mut shared.slice_mut(..500))?;
    assert_eq!(shared.as_slice()?[499..501], [0.0, 8.0]);
    stream.memcpy_dtoh(&copy, &mut shared)?;
    assert_eq!(shared.as_slice()?[0], 8.0);
    Ok(())
}

/// The host waits for what reads the memory before it writes, and for what writes it before it reads.
#[test]
fn the_host_waits_for_uses_of_unified_memory() -> Tested {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    for len in [1, 2, 1000] {
        let mut shared = unsafe { context.alloc_unified::<u8>(len, true) }?;
        shared.as_mut_slice()?.fill(1);
        let mut copy = stream.alloc_zeros::<u8>(len)?;
        keep_busy!(stream);
        stream.memcpy_dtod(&shared, &mut copy)?;
        shared.as_mut_slice()?.fill(2);
        assert_eq!(stream.clone_dtoh(&copy)?, vec![1; len]);
        keep_busy!(stream);
        stream.memset_zeros(&mut shared.slice_mut(len - 1..))?;
        assert_eq!(shared.as_slice()?[len - 1], 0);
    }
    Ok(())
}

#[test]
fn attached_memory_is_used_by_its_stream_only() -> Tested {
    let context = own_context()?;
    let (one, other) = (context.default_stream(), context.new_stream()?);
    let mut shared = unsafe { context.alloc_unified::<f32>(100, false) }?;
    assert_eq!(shared.attach_mode(), CUmemAttach_flags::CU_MEM_ATTACH_HOST);
    shared.attach(&other, CUmemAttach_flags::CU_MEM_ATTACH_SINGLE)?;
    assert_eq!(shared.attach_mode(), CUmemAttach_flags::CU_MEM_ATTACH_SINGLE);
    assert_eq!(other.clone_dtoh(&shared)?, [0.0; 100]);
    shared.check_device_access(&other)?;
    let wrong = "attached to another stream";
    expect_error(one.clone_dtoh(&shared), DriverError::NotPermitted, wrong);
    assert_eq!(context.check_err(), Err(DriverError::NotPermitted)); // where cudarc has it
    expect_error(one.memset_zeros(&mut shared.slice_mut(..3)), DriverError::NotPermitted, wrong);
    let scale = function(&context, "scale");
    let mut launch = one.launch_builder(&scale);
    launch.arg(&mut shared).arg(&4.0f32).arg(&100u32);
    let launched = unsafe { launch.launch(LaunchConfig::for_num_elems(100)) };
    expect_error(launched, DriverError::NotPermitted, wrong);
    shared.attach(&one, CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL)?;
    assert_eq!(one.clone_dtoh(&shared)?, [0.0; 100]);
    Ok(())
}
