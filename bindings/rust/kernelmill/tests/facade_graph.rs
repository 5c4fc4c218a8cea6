//! Captures, graphs, functions and modules of the facade.

#[path = "common/facade.rs"]
mod facade;

use std::sync::atomic::{AtomicBool, Ordering};

use facade::{Tested, expect_error, function, own_context};
use kernelmill::driver::sys::{
    CUfunc_cache, CUfunction_attribute, CUgraphInstantiate_flags, CUstreamCaptureMode,
    CUstreamCaptureStatus,
};
use kernelmill::driver::{CudaContext, DriverError, LaunchConfig, PushKernelArg};
use kernelmill::nvrtc::{Ptx, compile_ptx};

const GLOBAL: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
const NO_FLAGS: CUgraphInstantiate_flags = CUgraphInstantiate_flags(0);

#[test]
fn captured_work_runs_when_the_graph_is_launched() -> Tested {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let scale = function(&context, "scale");
    let mut data = stream.clone_htod(&[1.0f32, 2.0, 3.0])?;
    let mut copy = stream.alloc_zeros::<f32>(3)?;
    stream.begin_capture(GLOBAL)?;
    let active = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE;
    assert_eq!(stream.capture_status()?, active);
    let config = LaunchConfig::for_num_elems(3);
    unsafe { stream.launch_builder(&scale).arg(&mut data).arg(&2.0f32).arg(&3u32).launch(config) }?;
    stream.memcpy_dtod(&data, &mut copy)?;
    let graph = stream.end_capture(NO_FLAGS)?.expect("a graph");
    let none = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    assert_eq!(stream.capture_status()?, none);
    assert_eq!(stream.clone_dtoh(&copy)?, [0.0; 3]);
    graph.upload()?;
    for factor in [2.0, 4.0] {
        graph.launch()?;
        assert_eq!(stream.clone_dtoh(&copy)?, [1.0, 2.0, 3.0].map(|number| number * factor));
    }
    assert_eq!(graph.native().nodes()?.len(), 2);
    drop(data); // the graph keeps it
    graph.launch()?;
    assert_eq!(stream.clone_dtoh(&copy)?, [8.0, 16.0, 24.0]);
    Ok(())
}

#[test]
fn streams_that_wait_join_a_capture() -> Tested {
    let context = own_context()?;
    let (stream, branch) = (context.new_stream()?, context.new_stream()?);
    let mut a = stream.clone_htod(&[1u32; 4])?;
    let mut b = stream.clone_htod(&[2u32; 4])?;
    context.synchronize()?;
    stream.begin_capture(GLOBAL)?;
    branch.join(&stream)?;
    stream.memset_zeros(&mut a)?;
    branch.memset_zeros(&mut b)?;
    // A branch is captured as well: the host's memory would be used when it is no longer borrowed.
    let captured = branch.memcpy_htod(&[1, 2, 3, 4], &mut b);
    expect_error(captured, DriverError::StreamCaptureUnsupported, "begin_capture");
    stream.join(&branch)?;
    let graph = stream.end_capture(NO_FLAGS)?.expect("a graph");
    assert_eq!(stream.clone_dtoh(&b)?, [2; 4]);
    graph.launch()?;
    assert_eq!((stream.clone_dtoh(&a)?, stream.clone_dtoh(&b)?), (vec![0; 4], vec![0; 4]));
    Ok(())
}

#[test]
fn memory_of_the_host_is_not_captured() -> Tested {
    let context = own_context()?;
    let stream = context.new_stream()?;
    let mut slice = stream.clone_htod(&[1u32, 2, 3])?;
    let mut pinned = stream.pin_memory(&[1u32, 2, 3])?;
    let mut shared = unsafe { context.alloc_unified::<u32>(3, true) }?;
    let wrong = DriverError::StreamCaptureUnsupported;
    stream.begin_capture(GLOBAL)?;
    expect_error(stream.memcpy_htod(&[1, 2, 3], &mut slice), wrong, "host");
    expect_error(stream.memcpy_dtoh(&slice, &mut [0; 3]), wrong, "host");
    expect_error(stream.clone_dtoh(&slice), wrong, "host");
    expect_error(stream.memcpy_htod(&pinned, &mut slice), wrong, "host");
    expect_error(stream.memcpy_dtoh(&slice, &mut pinned), wrong, "host");
    expect_error(stream.memset_zeros(&mut shared), wrong, "host");
    let graph = stream.end_capture(NO_FLAGS)?.expect("a graph");
    assert!(graph.native().nodes()?.is_empty());
    stream.memcpy_htod(&pinned, &mut slice)?;
    Ok(())
}

/// One thread copies while another begins and ends captures of the same stream: a copy is made, or
/// is an error, and never becomes part of a graph.
#[test]
fn copies_and_captures_of_two_threads_do_not_mix() -> Tested {
    let context = own_context()?;
    let stream = context.new_stream()?;
    let is_over = AtomicBool::new(false);
    let mut slice = stream.alloc_zeros::<u32>(100)?;
    std::thread::scope(|scope| {
        let copies = scope.spawn(|| -> Result<u32, DriverError> {
            let mut made = 0;
            while !is_over.load(Ordering::Relaxed) {
                match stream.memcpy_htod(&vec![7; 100], &mut slice) {
                    Ok(()) => made += 1,
                    Err(DriverError::StreamCaptureUnsupported) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(made)
        });
        let capture = || -> Result<(), DriverError> {
            for _ in 0..2000 {
                stream.begin_capture(GLOBAL)?;
                let graph = stream.end_capture(NO_FLAGS)?.expect("a graph");
                assert!(graph.native().nodes().expect("nodes").is_empty());
            }
            Ok(())
        };
        let captured = capture();
        is_over.store(true, Ordering::Relaxed);
        let made = copies.join().expect("a thread")?;
        println!("{made} copies beside 2000 captures");
        captured
    })?;
    Ok(())
}

#[test]
fn captures_end_with_an_error_where_they_must() -> Tested {
    let context = own_context()?;
    let stream = context.new_stream()?;
    assert_eq!(stream.end_capture(NO_FLAGS).map(drop), Err(DriverError::NotPermitted));
    let event = context.new_event(None)?;
    stream.begin_capture(GLOBAL)?;
    assert_eq!(stream.begin_capture(GLOBAL), Err(DriverError::NotPermitted));
    let device_launch = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    expect_error(stream.end_capture(device_launch), DriverError::InvalidValue, "flags is 0x4");
    stream.begin_capture(GLOBAL)?; // that capture is over
    event.record(&stream)?;
    assert_eq!(event.try_is_complete(), Err(DriverError::CapturedEvent));
    let _ = stream.end_capture(NO_FLAGS);
    let both = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
        | CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    stream.begin_capture(GLOBAL)?;
    stream.end_capture(both)?.expect("a graph").launch()?;
    stream.synchronize()?;
    Ok(())
}

#[test]
fn functions_tell_their_needs_and_their_occupancy() -> Tested {
    extern "C" fn four_bytes_a_thread(threads: std::ffi::c_int) -> usize {
        threads as usize * 4
    }
    let context = CudaContext::new(0)?;
    let reverse = function(&context, "reverse");
    assert!(reverse.num_regs()? > 0);
    assert_eq!((reverse.shared_size_bytes()?, reverse.local_size_bytes()?), (0, 0));
    assert_eq!(reverse.max_threads_per_block()?, 1024);
    assert!(reverse.ptx_version()? >= 60 && reverse.binary_version()? >= 50);
    assert!(reverse.const_size_bytes()? >= 0);
    reverse.set_function_cache_config(CUfunc_cache::CU_FUNC_CACHE_PREFER_SHARED)?;
    let registers = CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS;
    assert_eq!(reverse.set_attribute(registers, 3), Err(DriverError::InvalidValue));
    let unknown = CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_MEMORY_MODE;
    expect_error(reverse.get_attribute(unknown), DriverError::InvalidValue, "SHARED_MEMORY_MODE");

    let blocks = reverse.occupancy_max_active_blocks_per_multiprocessor(256, 1024, None)?;
    assert_eq!(
        blocks,
        reverse.clone().occupancy_max_active_blocks_per_multiprocessor(256, 1024, None)?
    );
    assert!(blocks > 0);
    let (grid, block) =
        reverse.occupancy_max_potential_block_size(four_bytes_a_thread, 0, 512, None)?;
    assert!(grid > 0 && block <= 512 && block % 32 == 0);
    assert!(reverse.occupancy_available_dynamic_smem_per_block(1, 256)? >= 48 << 10);
    Ok(())
}

#[test]
fn modules_have_functions_and_variables() -> Tested {
    const SOURCE: &str = "
        __constant__ float factors[4];
        __device__ int counter = 7;
        extern \"C\" __global__ void use(float* out) { out[threadIdx.x] = factors[threadIdx.x] * counter; }";
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let module = context.load_module(compile_ptx(SOURCE)?)?;
    let mut factors = module.get_global("factors", &stream)?;
    assert_eq!(factors.len(), 16);
    let mut numbers = unsafe { factors.transmute_mut::<f32>(4) }.expect("16 bytes");
    stream.memcpy_htod(&[1.0, 2.0, 3.0, 4.0], &mut numbers)?;
    let counter = module.get_global("counter", &stream)?;
    let counter = unsafe { counter.transmute::<i32>(1) }.expect("4 bytes");
    assert_eq!(stream.clone_dtoh(&counter)?, [7]);
    assert_eq!(module.get_global("factors", &stream)?.len(), 16);
    let mut out = stream.alloc_zeros::<f32>(4)?;
    let config = LaunchConfig { block_dim: (4, 1, 1), ..LaunchConfig::for_num_elems(1) };
    let kernel = module.load_function("use")?;
    unsafe { stream.launch_builder(&kernel).arg(&mut out).launch(config) }?;
    assert_eq!(stream.clone_dtoh(&out)?, [7.0, 14.0, 21.0, 28.0]);

    expect_error(module.load_function("nothing"), DriverError::NotFound, "nothing");
    expect_error(module.get_global("nothing", &stream).map(drop), DriverError::NotFound, "nothing");
    expect_error(context.load_module("no PTX".into()), DriverError::InvalidPtx, "");
    let no_file = context.load_module(Ptx::from_file("/no/such/file.ptx"));
    expect_error(no_file, DriverError::FileNotFound, "/no/such/file.ptx");
    let cubin = context.load_module(Ptx::from_binary(vec![0x7f, b'E', b'L', b'F']));
    expect_error(cubin, DriverError::InvalidImage, "4 bytes");
    Ok(())
}
