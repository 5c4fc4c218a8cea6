//! Objects of the facade are shared by threads.

#[path = "common/facade.rs"]
mod facade;

use std::sync::Arc;

use facade::{Tested, function, own_context};
use kernelmill::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use kernelmill::driver::{
    CudaContext, CudaFunction, CudaGraph, CudaModule, CudaStream, DriverError, LaunchArgs,
    LaunchConfig, PushKernelArg,
};

fn is_send_and_sync<T: Send + Sync>() {}

/// All kinds of work on a stream of the thread's own, or on one that it shares.
fn work(
    context: &Arc<CudaContext>,
    stream: &CudaStream,
    scale: &CudaFunction,
    first: f32,
) -> Result<(), DriverError> {
    let captured = context.new_stream()?;
    for round in 0..30 {
        let number = first + round as f32;
        let pinned = stream.pin_memory(&vec![number; 1000])?;
        let mut data = stream.alloc_zeros::<f32>(1000)?;
        stream.htod_copy_async(&pinned, &mut data)?;
        let config = LaunchConfig::for_num_elems(1000);
        let mut launch = stream.launch_builder(scale);
        launch.arg(&mut data).arg(&2.0f32).arg(&1000u32);
        unsafe { launch.launch(config) }?;
        let mut copy = context.default_stream().clone_dtod(&data)?;
        captured.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
        captured.memcpy_dtod(&data.slice(..500), &mut copy.slice_mut(500..))?;
        let graph = captured.end_capture(CUgraphInstantiate_flags(0))?.expect("a graph");
        graph.launch()?;
        context.per_thread_stream().join(&captured)?;
        assert_eq!(stream.clone_dtoh(&copy)?, vec![2.0 * number; 1000]);
        let mut shared = unsafe { context.alloc_unified::<u32>(10, true) }?;
        shared.as_mut_slice()?.fill(7);
        assert_eq!(stream.clone_dtoh(&shared)?, [7; 10]);
    }
    Ok(())
}

#[test]
fn one_context_on_eight_threads() -> Tested {
    is_send_and_sync::<CudaModule>();
    is_send_and_sync::<CudaFunction>();
    is_send_and_sync::<CudaGraph>();
    is_send_and_sync::<LaunchArgs<'static>>();
    let context = own_context()?;
    let scale = function(&context, "scale");
    let shared = context.new_stream()?;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|index| {
                let (context, scale, shared) = (&context, &scale, &shared);
                scope.spawn(move || match index % 2 {
                    0 => work(context, &*context.new_stream()?, scale, index as f32),
                    _ => work(context, shared, scale, index as f32),
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a thread"))
    })?;
    Ok(())
}
