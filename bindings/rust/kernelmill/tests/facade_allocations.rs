//! Launches of the facade allocate nothing, up to 16 slices. A program of its own, because it has an
//! allocator of its own.

#[path = "common/counting.rs"]
mod counting;
#[path = "common/facade.rs"]
mod facade;

use counting::allocations_of;
use facade::{Tested, function};
use kernelmill::driver::{CudaContext, LaunchConfig, PushKernelArg};

#[test]
fn launches_waits_and_copies_into_place_allocate_nothing() -> Tested {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let add = function(&context, "add");
    let data = stream.clone_htod(&[1.0f32, 2.0, 3.0, 4.0])?;
    let mut sum = stream.alloc_zeros::<f32>(4)?;
    let launches = allocations_of(|| {
        let mut launch = stream.launch_builder(&add);
        launch.arg(&data.slice(..2)).arg(&data.slice(2..)).arg(&mut sum).arg(&2u32);
        unsafe { launch.launch(LaunchConfig::for_num_elems(2)) }.map(drop)
    })?;
    assert_eq!(launches, 0);
    let event = context.create_event()?;
    let others = allocations_of(|| {
        stream.record_event(&event)?;
        stream.wait_event(&event)?;
        let _ = event.try_is_complete()?;
        stream.memcpy_htod(&[5.0, 6.0], &mut sum.try_slice_mut(2..)?)?;
        stream.memcpy_dtoh(&sum, &mut [0.0; 4])
    })?;
    assert_eq!(others, 0);
    assert_eq!(stream.clone_dtoh(&sum)?, [4.0, 6.0, 5.0, 6.0]);
    Ok(())
}
