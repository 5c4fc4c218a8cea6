//! The facade's slices and views, and copies of them.

#[path = "common/facade.rs"]
mod facade;

use std::sync::Arc;

use facade::{Tested, expect_error, function, own_context};
use kernelmill::driver::{
    CudaContext, CudaSlice, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig,
    PushKernelArg,
};

fn is_send_and_sync<T: Send + Sync>() {}

#[test]
fn slices_own_their_memory_and_keep_their_context() -> Tested {
    is_send_and_sync::<CudaSlice<f32>>();
    is_send_and_sync::<CudaView<'static, f32>>();
    is_send_and_sync::<CudaViewMut<'static, f32>>();
    let slice = {
        let context = own_context()?;
        context.default_stream().clone_htod(&[1.0f32, 2.0])?
    };
    assert_eq!((slice.len(), slice.num_bytes(), slice.is_empty()), (2, 8, false));
    assert_eq!(slice.ordinal(), 0);
    let back =
        std::thread::spawn(move || slice.stream().clone_dtoh(&slice)).join().expect("a thread");
    assert_eq!(back?, [1.0, 2.0]);
    Ok(())
}

#[test]
fn dropped_slices_are_freed_after_their_last_use() -> Tested {
    let context = own_context()?;
    let stream = context.new_stream()?;
    let slow = function(&context, "slow");
    let config = LaunchConfig { block_dim: (1, 1, 1), ..LaunchConfig::for_num_elems(1) };
    let size = 256 << 20;
    for _ in 0..50 {
        // Other programs take and free memory too, so that not every round shows it.
        let (before, _) = context.mem_get_info()?;
        let slice = stream.alloc_zeros::<u32>(size / 4)?;
        let (during, _) = context.mem_get_info()?;
        unsafe { stream.launch_builder(&slow).arg(&slice).arg(&1_000_000u32).launch(config) }?;
        drop(slice); // the kernel goes on
        context.synchronize()?;
        let (after, _) = context.mem_get_info()?;
        if during + size / 2 < before && before < after + size / 2 {
            return Ok(());
        }
    }
    panic!("no round shows that the slice's memory is freed");
}

#[test]
fn memory_is_allocated_zeroed_or_as_it_is() -> Tested {
    let stream = CudaContext::new(0)?.default_stream();
    assert_eq!(stream.clone_dtoh(&stream.alloc_zeros::<f64>(1000)?)?, vec![0.0; 1000]);
    assert_eq!(stream.clone_dtoh(&stream.alloc_zeros::<bool>(3)?)?, [false; 3]);
    let mut slice = unsafe { stream.alloc::<u16>(3) }?;
    stream.memcpy_htod(&[1, 2, 3], &mut slice)?;
    assert_eq!(Vec::try_from(slice)?, [1, 2, 3]);
    assert!(stream.null::<u8>()?.is_empty());
    assert_eq!(stream.clone_dtoh(&stream.alloc_zeros::<u32>(0)?)?, []);
    expect_error(stream.alloc_zeros::<u64>(usize::MAX), DriverError::InvalidValue, "elements of 8");
    Ok(())
}

#[test]
fn views_are_parts_of_slices() -> Tested {
    let stream = CudaContext::new(0)?.default_stream();
    let mut slice = stream.clone_htod(&[0u32, 1, 2, 3, 4, 5, 6, 7, 8, 9])?;
    let view = slice.as_view();
    assert_eq!(stream.clone_dtoh(&view.slice(2..5).slice(1..))?, [3, 4]);
    let (left, right) = slice.split_at(7);
    assert_eq!((left.len(), stream.clone_dtoh(&right)?), (7, vec![7, 8, 9]));
    let chunks: Vec<_> = slice.as_view().chunks_exact(4).map(|one| one.len()).collect();
    assert_eq!(chunks, [4, 4]);
    for mut chunk in slice.as_view_mut().chunks_exact_mut(4).skip(1) {
        stream.memset_zeros(&mut chunk)?;
    }
    let (mut left, mut right) = slice.split_at_mut(1);
    stream.memcpy_htod(&[90], &mut left)?;
    stream.memcpy_htod(&[91], &mut right.slice_mut(8..))?;
    assert_eq!(stream.clone_dtoh(&slice)?, [90, 1, 2, 3, 0, 0, 0, 0, 8, 91]);
    let mut bytes = stream.alloc_zeros::<u8>(100)?;
    assert!(unsafe { bytes.transmute::<f32>(25) }.is_some());
    assert!(unsafe { bytes.transmute::<f32>(26) }.is_none());
    let mut four = bytes.slice_mut(0..4);
    assert!(unsafe { four.transmute_mut::<u64>(1) }.is_none());
    Ok(())
}

#[test]
fn parts_that_do_not_exist_are_errors() -> Tested {
    fn checked(slice: &mut CudaSlice<f32>, n: usize) -> Result<usize, DriverError> {
        let read = slice.try_slice(..n)?.len();
        Ok(read + slice.try_slice_mut(n..)?.len())
    }
    let stream = CudaContext::new(0)?.default_stream();
    let mut slice = stream.alloc_zeros::<f32>(10)?;
    assert_eq!(checked(&mut slice, 4)?, 10);
    expect_error(checked(&mut slice, 11), DriverError::InvalidValue, "of a slice of 10");
    #[allow(clippy::reversed_empty_ranges)]
    let backwards = slice.try_slice(5..2).map(|view| view.len());
    expect_error(backwards, DriverError::InvalidValue, "5");
    expect_error(slice.try_split_at(11).map(drop), DriverError::InvalidValue, "11");
    expect_error(slice.try_split_at_mut(11).map(drop), DriverError::InvalidValue, "11");
    Ok(())
}

#[test]
#[should_panic(expected = "of a slice of 10")]
fn slice_panics_as_those_of_the_host() {
    let stream = CudaContext::new(0).expect("a device").default_stream();
    let slice = stream.alloc_zeros::<f32>(10).expect("memory");
    let _ = slice.slice(5..11);
}

#[test]
fn copies_from_the_host_go_under_both_names() -> Tested {
    let stream = CudaContext::new(0)?.default_stream();
    let host = vec![1.0f32, 2.0, 3.0];
    let mut whole = stream.htod_copy(&host)?;
    assert_eq!(stream.memcpy_dtov(&whole)?, host);
    stream.htod_copy_into(&[7.0], &mut whole.try_slice_mut(1..2)?)?;
    assert_eq!(stream.dtoh_sync_copy(&whole)?, [1.0, 7.0, 3.0]);
    assert_eq!(stream.clone_dtoh(&stream.memcpy_stod(&host[1..])?)?, [2.0, 3.0]);
    Ok(())
}

#[test]
fn copies_need_room_and_fill_the_beginning_of_more() -> Tested {
    let stream = CudaContext::new(0)?.default_stream();
    let source = stream.clone_htod(&[1u32, 2, 3])?;
    let mut longer = stream.clone_htod(&[9u32; 4])?;
    let mut shorter = stream.alloc_zeros::<u32>(2)?;
    stream.memcpy_dtod(&source, &mut longer)?;
    assert_eq!(stream.memcpy_dtov(&longer)?, [1, 2, 3, 9]);
    let mut host = [8; 5];
    stream.memcpy_dtoh(&source, &mut host)?;
    assert_eq!(host, [1, 2, 3, 8, 8]);
    stream.memcpy_htod(&[5], &mut longer)?;
    assert_eq!(stream.memcpy_dtov(&longer)?, [5, 2, 3, 9]);
    let wrong = "the source has 3 elements and the destination 2";
    expect_error(stream.memcpy_dtod(&source, &mut shorter), DriverError::InvalidValue, wrong);
    expect_error(stream.memcpy_dtoh(&source, &mut [0; 2]), DriverError::InvalidValue, wrong);
    expect_error(stream.memcpy_htod(&[1, 2, 3], &mut shorter), DriverError::InvalidValue, wrong);
    assert_eq!(stream.memcpy_dtov(&shorter)?, [0, 0]);
    Ok(())
}

#[test]
fn large_copies_are_exact() -> Tested {
    let stream = CudaContext::new(0)?.new_stream()?;
    let host: Vec<u64> = (0..1 << 18).collect();
    let slice = stream.clone_htod(&host)?;
    let copy = slice.clone();
    drop(slice);
    assert_eq!(stream.clone_dtoh(&copy)?, host);
    Ok(())
}

/// The signature that functions of programs have.
fn doubled(stream: &CudaStream, host: &[f32]) -> Result<Vec<f32>, DriverError> {
    let mut slice = stream.htod_copy(host)?;
    let scale = function(stream.context(), "scale");
    let n = host.len() as u32;
    let config = LaunchConfig::for_num_elems(n);
    unsafe { stream.launch_builder(&scale).arg(&mut slice).arg(&2.0f32).arg(&n).launch(config) }?;
    assert_eq!(**slice.stream(), *stream);
    stream.memcpy_dtov(&slice)
}

#[test]
fn a_plain_reference_to_a_stream_does_everything() -> Tested {
    let stream = CudaContext::new(0)?.new_stream()?;
    assert_eq!(doubled(&stream, &[1.0, 2.0])?, [2.0, 4.0]);
    // Also one that was taken out of its Arc.
    let owned = Arc::try_unwrap(stream).expect("the only one");
    assert_eq!(doubled(&owned, &[3.0])?, [6.0]);
    Ok(())
}

#[test]
fn memory_is_given_away_and_taken_back() -> Tested {
    let context = own_context()?;
    let stream = context.default_stream();
    let address = stream.clone_htod(&[1.0f32, 2.0, 3.0, 4.0, 5.0])?.leak();
    let part = unsafe { stream.upgrade_device_ptr::<f32>(address, 3) };
    assert_eq!(stream.clone_dtoh(&part)?, [1.0, 2.0, 3.0]);
    let whole = unsafe { stream.upgrade_device_ptr::<f32>(part.leak(), 5) };
    assert_eq!(stream.clone_dtoh(&whole)?, [1.0, 2.0, 3.0, 4.0, 5.0]);
    context.check_err()?;
    assert!(unsafe { stream.upgrade_device_ptr::<f32>(address, 5) }.is_empty());
    expect_error(context.check_err(), DriverError::InvalidValue, "no memory that leak() gave away");
    let address = whole.leak();
    assert!(unsafe { stream.upgrade_device_ptr::<f32>(address, 6) }.is_empty());
    assert_eq!(context.check_err(), Err(DriverError::InvalidValue));
    drop(unsafe { stream.upgrade_device_ptr::<f32>(address, 5) });
    context.check_err()?;
    Ok(())
}

#[test]
fn contexts_copy_to_each_other() -> Tested {
    let (here, there) = (own_context()?, own_context()?);
    let (one, other) = (here.default_stream(), there.new_stream()?);
    let source = one.clone_htod(&[1u32, 2, 3])?;
    let copy = other.clone_dtod(&source)?;
    assert_eq!(copy.context(), &there);
    assert_eq!(other.clone_dtoh(&copy)?, [1, 2, 3]);
    let foreign = one.memset_zeros(&mut other.alloc_zeros::<u32>(1)?);
    assert_eq!(foreign, Err(DriverError::InvalidContext));
    Ok(())
}

#[test]
fn addresses_are_those_of_the_elements() -> Tested {
    use kernelmill::driver::{DevicePtr, DevicePtrMut};
    let context = own_context()?;
    let stream = context.default_stream();
    let mut slice = stream.clone_htod(&[1u32, 2, 3])?;
    let whole = slice.device_ptr(&stream).0;
    assert_ne!(whole, 0);
    assert_eq!(slice.slice(1..).device_ptr(&stream).0, whole + 4);
    let other = stream.fork()?;
    let (address, guard) = slice.device_ptr_mut(&other);
    assert_eq!(address, whole);
    drop(guard);
    context.check_err()?;
    Ok(())
}
