//! Objects of the facade are made and dropped, 10^4 times each, and 10^5 times with KM_TEST_LONG=1:
//! memory, files and threads stay as they were. A program of its own, because it measures the process.

#[path = "common/facade.rs"]
mod facade;
#[path = "common/flat.rs"]
mod flat;

use facade::{KERNELS, function, own_context};
use flat::{few_cycles, stays_flat};
use kernelmill::cublas::CudaBlas;
use kernelmill::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use kernelmill::driver::{CudaContext, DriverError, LaunchConfig, PushKernelArg};
use kernelmill::nvrtc::compile_ptx;

/// Cycles of calls of the facade.
fn flat(what: &str, mut make: impl FnMut() -> Result<(), DriverError>) -> kernelmill::Result<()> {
    stays_flat(what, few_cycles(), || {
        make().map_err(|error| error.details().expect("an error of this thread"))
    })
}

#[test]
fn objects_of_the_facade_do_not_leak() -> kernelmill::Result<()> {
    let context = own_context().expect("a device");
    let stream = context.new_stream().expect("a stream");
    let scale = function(&context, "scale");
    let module = context.load_module(compile_ptx(KERNELS).expect("PTX")).expect("a module");
    let mut data = stream.alloc_zeros::<f32>(100).expect("memory");

    flat("context", || own_context().map(drop))?;
    flat("primary context", || CudaContext::new(0).map(drop))?;
    flat("stream", || context.new_stream().map(drop))?;
    flat("fork", || stream.fork().map(drop))?;
    flat("event", || stream.record_event(None).map(drop))?;
    flat("slice", || {
        drop(stream.alloc_zeros::<u32>(100)?);
        stream.synchronize()
    })?;
    flat("copy", || stream.clone_dtoh(&stream.clone_htod(&[1u32, 2])?).map(drop))?;
    flat("pinned", || {
        let pinned = stream.pin_memory(&[1.0f32; 100])?;
        stream.htod_copy_async(&pinned, &mut data)?;
        stream.synchronize()
    })?;
    flat("unified", || unsafe { context.alloc_unified::<u32>(100, true) }.map(drop))?;
    flat("leaked and taken back", || {
        let address = stream.alloc_zeros::<u32>(100)?.leak();
        drop(unsafe { stream.upgrade_device_ptr::<u32>(address, 100) });
        stream.synchronize()
    })?;
    flat("function", || module.load_function("add").map(drop))?;
    flat("launch", || {
        let mut temporary = stream.alloc_zeros::<f32>(100)?;
        let mut launch = stream.launch_builder(&scale);
        launch.arg(&mut temporary).arg(&2.0f32).arg(&100u32);
        unsafe { launch.launch(LaunchConfig::for_num_elems(100)) }?;
        stream.synchronize()
    })?;
    flat("graph", || {
        stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
        stream.memset_zeros(&mut data)?;
        stream.end_capture(CUgraphInstantiate_flags(0))?.expect("a graph").launch()?;
        stream.synchronize()
    })?;
    flat("error", || {
        assert_eq!(stream.alloc_zeros::<u64>(usize::MAX).map(drop), Err(DriverError::InvalidValue));
        Ok(())
    })?;
    flat("BLAS", || CudaBlas::new(stream.clone()).map(drop).map_err(|_| DriverError::Unknown))
}
