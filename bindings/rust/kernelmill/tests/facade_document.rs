//! The patterns that texts about cudarc show, each as a function of its own: types, transfers,
//! streams, launches, errors, a packed batch, properties, memory, times.

#[path = "common/facade.rs"]
mod facade;

use facade::{KERNELS, Tested, own_context};
use kernelmill as cudarc;

use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, CudaView, DeviceRepr, DriverError,
    LaunchConfig, PinnedBuffer, PushKernelArg,
};
use cudarc::nvrtc::compile_ptx;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn kernel(context: &std::sync::Arc<CudaContext>, name: &str) -> Result<CudaFunction> {
    Ok(context.load_module(compile_ptx(KERNELS)?)?.load_function(name)?)
}

#[test]
fn a_view_is_dropped_before_its_slice() -> Tested {
    let stream = CudaContext::new(0)?.default_stream();
    let slice: CudaSlice<f32> = stream.alloc_zeros(100)?;
    let view: CudaView<f32> = slice.as_view();
    assert_eq!(view.len(), 100);
    #[allow(dropping_copy_types)]
    drop(view);
    drop(slice);
    Ok(())
}

#[test]
fn transfers_go_in_all_directions() -> Tested {
    let stream = CudaContext::new(0)?.default_stream();
    // From host to device, by an allocation, into one, and asynchronously.
    let host_data: Vec<f32> = vec![1.0, 2.0, 3.0];
    let d_data: CudaSlice<f32> = stream.htod_copy(&host_data)?;
    let mut d_buffer: CudaSlice<f32> = stream.alloc_zeros(1000)?;
    stream.htod_copy_into(&host_data, &mut d_buffer.try_slice_mut(..3)?)?;
    let pinned: PinnedBuffer<f32> = stream.pin_memory(&host_data)?;
    stream.htod_copy_async(&pinned, &mut d_buffer)?;
    stream.synchronize()?;
    assert_eq!(stream.memcpy_dtov(&d_buffer.try_slice(..4)?)?, [1.0, 2.0, 3.0, 0.0]);
    // From device to host, into a vector and into a longer slice.
    let result: Vec<f32> = stream.memcpy_dtov(&d_data)?;
    assert_eq!(result, host_data);
    let mut host_buffer = vec![0.0f32; 100];
    stream.memcpy_dtoh(&d_data, &mut host_buffer)?;
    assert_eq!(host_buffer[..4], [1.0, 2.0, 3.0, 0.0]);
    // Within the device.
    let src: CudaSlice<f32> = stream.alloc_zeros(100)?;
    let mut dst: CudaSlice<f32> = stream.alloc_zeros(100)?;
    stream.memcpy_dtod(&src, &mut dst)?;
    Ok(())
}

#[test]
fn streams_work_side_by_side() -> Tested {
    let ctx = CudaContext::new(0)?;
    let kernel = kernel(&ctx, "slow")?;
    let cfg = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };
    let stream1 = ctx.fork_default_stream()?;
    let stream2 = ctx.fork_default_stream()?;
    let mut buf1 = stream1.alloc_zeros::<u32>(1000)?;
    let mut buf2 = stream2.alloc_zeros::<u32>(1000)?;
    unsafe {
        stream1.launch_builder(&kernel).arg(&mut buf1).arg(&1u32).launch(cfg)?;
        stream2.launch_builder(&kernel).arg(&mut buf2).arg(&1u32).launch(cfg)?;
    }
    stream1.synchronize()?;
    stream2.synchronize()?;
    assert_eq!(stream1.memcpy_dtov(&buf1)?[0], 1_013_904_223);
    assert_eq!(stream2.memcpy_dtov(&buf2)?, stream1.memcpy_dtov(&buf1)?);
    Ok(())
}

#[test]
fn an_event_holds_the_second_stream_until_the_first_has_written() -> Tested {
    let ctx = CudaContext::new(0)?;
    let kernel1 = kernel(&ctx, "scale")?;
    let kernel2 = kernel(&ctx, "add")?;
    let cfg = LaunchConfig::for_num_elems(4);
    let (stream1, stream2) = (ctx.fork_default_stream()?, ctx.fork_default_stream()?);
    let mut buf = stream1.htod_copy(&[1.0f32, 2.0, 3.0, 4.0])?;
    let mut out = stream2.alloc_zeros::<f32>(4)?;
    let event = ctx.create_event()?;
    unsafe {
        stream1.launch_builder(&kernel1).arg(&mut buf).arg(&10.0f32).arg(&4u32).launch(cfg)?;
    }
    stream1.record_event(&event)?;
    stream2.wait_event(&event)?;
    unsafe {
        stream2
            .launch_builder(&kernel2)
            .arg(&buf)
            .arg(&buf)
            .arg(&mut out)
            .arg(&4u32)
            .launch(cfg)?;
    }
    assert_eq!(stream2.memcpy_dtov(&out)?, [20.0, 40.0, 60.0, 80.0]);
    Ok(())
}

#[repr(C)]
struct Settings {
    gain: f32,
    shift: i32,
}
// SAFETY: numbers, laid out as in C.
unsafe impl DeviceRepr for Settings {}

/// Slices as a whole and by views, numbers and a structure, in statements of their own.
#[test]
fn all_kinds_of_arguments_in_statements_of_their_own() -> Tested {
    const SOURCE: &str = "
        struct Settings { float gain; int shift; };
        extern \"C\" __global__ void all(float* out, const float* in, float* part_out,
            const float* part_in, unsigned n, float threshold, Settings settings) {
          unsigned i = threadIdx.x;
          if (i >= n) return;
          part_out[i] = in[i] * settings.gain + settings.shift;
          if (i == 0) out[n] = part_in[n - 1] > threshold ? 1.0f : -1.0f;
        }";
    let ctx = CudaContext::new(0)?;
    let stream = ctx.default_stream();
    let kernel = ctx.load_module(compile_ptx(SOURCE)?)?.load_function("all")?;
    let input_slice = stream.htod_copy(&[1.0f32, 2.0, 3.0, 4.0])?;
    let mut output_slice = stream.alloc_zeros::<f32>(4)?;
    let (n, threshold, config) = (3, 2.5f32, Settings { gain: 2.0, shift: -1 });
    let cfg = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
    unsafe {
        let mut builder = stream.launch_builder(&kernel);
        builder.arg(&mut output_slice);
        builder.arg(&input_slice);
        builder.arg(&mut output_slice.try_slice_mut(..n)?);
        builder.arg(&input_slice.try_slice(..n)?);
        builder.arg(&(n as u32));
        builder.arg(&threshold);
        builder.arg(&config);
        builder.launch(cfg)?;
    }
    assert_eq!(stream.memcpy_dtov(&output_slice)?, [1.0, 3.0, 5.0, 1.0]);
    Ok(())
}

/// The message that a program prints for each kind of failure.
fn said(result: std::result::Result<CudaSlice<f32>, DriverError>) -> Result<&'static str> {
    match result {
        Ok(_) => Ok("success"),
        Err(DriverError::OutOfMemory) => Ok("reduce the batch size"),
        Err(DriverError::InvalidValue) => Ok("check the arguments"),
        Err(DriverError::LaunchFailed) => Ok("the kernel crashed"),
        Err(e) => Err(e.into()),
    }
}

#[test]
fn failures_are_told_apart() -> Tested {
    let ctx = own_context()?;
    let stream = ctx.default_stream();
    assert_eq!(said(stream.alloc_zeros(10))?, "success");
    assert_eq!(said(stream.alloc_zeros(1 << 50))?, "reduce the batch size");
    assert_eq!(said(stream.alloc_zeros(usize::MAX))?, "check the arguments");
    let trap = kernel(&ctx, "trap")?;
    let cfg = LaunchConfig::for_num_elems(1);
    unsafe { stream.launch_builder(&trap).launch(cfg)? };
    if let Err(e) = stream.synchronize() {
        assert_eq!(e, DriverError::LaunchFailed);
        assert!(format!("Kernel failed: {e}").contains("trap"), "{e}");
    } else {
        panic!("the trap was not seen");
    }
    assert_eq!(said(stream.alloc_zeros(10))?, "the kernel crashed");
    assert!(said(Err(DriverError::NotReady)).is_err());
    Ok(())
}

/// The parts of a batch, and the form that it is packed into: see facade_launch for its launch.
struct Input {
    atoms: Vec<f32>,
    indices: Vec<u32>,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Descriptor {
    atom_offset: u32,
    ca_offset: u32,
    n_atoms: u32,
    n_residues: u32,
    lineage_hash: u64,
    country_id: u8,
    _padding: [u8; 3],
}
// SAFETY: numbers, laid out as in C; its padding is copied, and never read.
unsafe impl DeviceRepr for Descriptor {}

struct PackedBatch {
    atoms_packed: CudaSlice<f32>,
    ca_indices_packed: CudaSlice<u32>,
    descriptors: CudaSlice<Descriptor>,
}

impl PackedBatch {
    fn from_inputs(stream: &CudaStream, inputs: &[Input]) -> Result<Self> {
        let (mut all_atoms, mut all_ca, mut descs) = (Vec::new(), Vec::new(), Vec::new());
        for input in inputs {
            descs.push(Descriptor {
                atom_offset: all_atoms.len() as u32 / 3,
                ca_offset: all_ca.len() as u32,
                n_atoms: input.atoms.len() as u32 / 3,
                n_residues: input.indices.len() as u32,
                lineage_hash: u64::MAX,
                country_id: 7,
                _padding: [0; 3],
            });
            all_atoms.extend_from_slice(&input.atoms);
            all_ca.extend_from_slice(&input.indices);
        }
        Ok(Self {
            atoms_packed: stream.htod_copy(&all_atoms)?,
            ca_indices_packed: stream.htod_copy(&all_ca)?,
            descriptors: stream.htod_copy(&descs)?,
        })
    }
}

#[test]
fn structures_are_packed_into_slices() -> Tested {
    let stream = CudaContext::new(0)?.default_stream();
    let input =
        |atoms: usize, residues| Input { atoms: vec![1.5; atoms * 3], indices: vec![9; residues] };
    let batch = PackedBatch::from_inputs(&stream, &[input(4, 2), input(5, 3)])?;
    assert_eq!(batch.atoms_packed.len(), 27);
    assert_eq!(stream.memcpy_dtov(&batch.ca_indices_packed)?, [9; 5]);
    let descriptors = stream.memcpy_dtov(&batch.descriptors)?;
    assert_eq!((descriptors[1].atom_offset, descriptors[1].ca_offset), (4, 2));
    assert_eq!((descriptors[1].n_atoms, descriptors[1].n_residues), (5, 3));
    assert_eq!((descriptors[1].lineage_hash, descriptors[1].country_id), (u64::MAX, 7));
    Ok(())
}

fn check_memory() -> Result<(usize, usize)> {
    Ok(cudarc::driver::result::mem_get_info()?)
}

#[test]
fn a_program_prints_its_device_and_its_memory() -> Tested {
    let ctx = CudaContext::new(0)?;
    let props = ctx.device_properties()?;
    println!("Device: {}", props.name);
    println!("Total memory: {} MB", props.total_global_mem / 1024 / 1024);
    println!("Max shared per block: {} KB", props.shared_mem_per_block / 1024);
    println!("Max threads per block: {}", props.max_threads_per_block);
    let (free, total) = check_memory()?;
    println!("GPU Memory: {}/{} MB free", free / 1024 / 1024, total / 1024 / 1024);
    assert!(total <= props.total_global_mem && free <= total);
    Ok(())
}

#[test]
fn kernels_are_timed_by_events() -> Tested {
    let ctx = CudaContext::new(0)?;
    let stream = ctx.default_stream();
    let kernel = kernel(&ctx, "slow")?;
    let mut buf = stream.alloc_zeros::<u32>(1)?;
    let cfg = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };
    let time = |buf: &mut CudaSlice<u32>, steps: u32| -> Result<f32> {
        let start = ctx.create_event()?;
        let end = ctx.create_event()?;
        stream.record_event(&start)?;
        unsafe { stream.launch_builder(&kernel).arg(buf).arg(&steps).launch(cfg)? };
        stream.record_event(&end)?;
        stream.synchronize()?;
        Ok(end.elapsed_ms(&start)?)
    };
    time(&mut buf, 1)?; // compiles
    let (short, long) = (time(&mut buf, 1)?, time(&mut buf, 40_000_000)?);
    assert!(short >= 0.0 && long > 4.0 && long > short, "{short} ms and {long} ms");
    Ok(())
}
