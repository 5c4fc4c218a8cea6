//! Launches through the facade.

#[path = "common/facade.rs"]
mod facade;

use facade::{Tested, expect_error, function, own_context};
use kernelmill::driver::sys::{CUevent_flags, CUfunction_attribute};
use kernelmill::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DeviceRepr, DriverError, LaunchConfig,
    PushKernelArg,
};
use kernelmill::nvrtc::compile_ptx;

#[repr(C)]
struct Config {
    threshold: f32,
    rounds: i32,
    weight: f64,
}
// SAFETY: numbers, laid out as in C.
unsafe impl DeviceRepr for Config {}

#[test]
fn arguments_are_slices_views_numbers_and_structures() -> Tested {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let config = Config { threshold: 0.5, rounds: -3, weight: 2.25 };
    let mut out = stream.alloc_zeros::<f64>(4)?;
    let configured = function(&context, "configured");
    let mut launch = stream.launch_builder(&configured);
    launch.arg(&mut out).arg(&config).arg(&200u8);
    unsafe { launch.launch(LaunchConfig::for_num_elems(1)) }?;
    assert_eq!(stream.clone_dtoh(&out)?, [0.5, -3.0, 2.25, 200.0]);

    let data = stream.clone_htod(&[1.0f32, 2.0, 3.0, 4.0])?;
    let mut sum = stream.alloc_zeros::<f32>(4)?;
    let add = function(&context, "add");
    let (a, b) = data.split_at(2);
    let mut upper = sum.slice_mut(2..);
    let mut launch = stream.launch_builder(&add);
    launch.arg(&a).arg(&b).arg(&mut upper).arg(&2u32);
    unsafe { launch.launch(LaunchConfig::for_num_elems(2)) }?;
    assert_eq!(stream.clone_dtoh(&sum)?, [0.0, 0.0, 4.0, 6.0]);
    Ok(())
}

/// Each argument in a statement of its own, of values that are gone by the time of the launch.
#[test]
fn arguments_may_be_temporaries() -> Tested {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let data = stream.clone_htod(&[1.0f32, 2.0, 3.0, 10.0, 20.0, 30.0])?;
    let mut sum = stream.alloc_zeros::<f32>(3)?;
    let add = function(&context, "add");
    let mut launch = stream.launch_builder(&add);
    launch.arg(&data.slice(..3));
    {
        let gone = data.try_slice(3..)?;
        launch.arg(&gone);
    }
    launch.arg(&mut sum.try_slice_mut(..)?);
    launch.arg(&(1u32 + 2));
    unsafe { launch.launch(LaunchConfig::for_num_elems(3)) }?;
    assert_eq!(stream.clone_dtoh(&sum)?, [11.0, 22.0, 33.0]);
    Ok(())
}

/// A launch takes slices that it may write by their handles.
#[test]
fn slices_that_are_gone_before_the_launch_are_errors() -> Tested {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let scale = function(&context, "scale");
    let mut launch = stream.launch_builder(&scale);
    launch.arg(&mut stream.alloc_zeros::<f32>(4)?).arg(&2.0f32).arg(&4u32);
    let one = LaunchConfig::for_num_elems(4);
    for _ in 0..2 {
        let launched = unsafe { launch.launch(one) };
        expect_error(launched, DriverError::InvalidHandle, "slice");
    }
    let mut data = stream.clone_htod(&[1.0f32; 4])?;
    let mut launch = stream.launch_builder(&scale);
    launch.arg(&mut data).arg(&2.0f32).arg(&4u32);
    unsafe { launch.launch(one) }?;
    assert_eq!(stream.clone_dtoh(&data)?, [2.0; 4]);
    Ok(())
}

#[test]
fn arguments_are_checked_against_the_kernel() -> Tested {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let scale = function(&context, "scale");
    let mut data = stream.alloc_zeros::<f32>(4)?;
    let one = LaunchConfig::for_num_elems(1);
    let invalid = DriverError::InvalidValue;
    let mut launch = stream.launch_builder(&scale);
    launch.arg(&mut data).arg(&2.0f32);
    expect_error(unsafe { launch.launch(one) }, invalid, "has 3 parameters; 2 arguments given");
    launch.arg(&4u32).arg(&5u32);
    expect_error(unsafe { launch.launch(one) }, invalid, "more arguments were given");
    let mut launch = stream.launch_builder(&scale);
    launch.arg(&mut data).arg(&2.0f64).arg(&4u32);
    expect_error(
        unsafe { launch.launch(one) },
        invalid,
        "parameter 1 'factor' of kernel 'scale' is ",
    );
    let mut launch = stream.launch_builder(&scale);
    launch.arg(&mut data).arg(&2.0f32).arg(&4u32);
    let empty = LaunchConfig { grid_dim: (0, 1, 1), ..one };
    expect_error(unsafe { launch.launch(empty) }, invalid, "grid");
    let foreign = own_context()?.default_stream().alloc_zeros::<f32>(4)?;
    let mut launch = stream.launch_builder(&scale);
    launch.arg(&foreign).arg(&2.0f32).arg(&4u32);
    expect_error(unsafe { launch.launch(one) }, DriverError::InvalidContext, "context");
    assert_eq!(stream.clone_dtoh(&data)?, [0.0; 4]);
    Ok(())
}

#[test]
fn launches_have_the_shape_that_they_are_given() -> Tested {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let many = LaunchConfig::for_num_elems(2049);
    assert_eq!((many.grid_dim, many.block_dim), ((3, 1, 1), (1024, 1, 1)));
    let reverse = function(&context, "reverse");
    let mut out = stream.alloc_zeros::<i32>(100)?;
    let config =
        LaunchConfig { grid_dim: (1, 1, 1), block_dim: (100, 1, 1), shared_mem_bytes: 400 };
    unsafe { stream.launch_builder(&reverse).arg(&mut out).launch(config) }?;
    assert_eq!(stream.clone_dtoh(&out)?, (0..100).rev().collect::<Vec<_>>());
    Ok(())
}

#[test]
fn dynamic_shared_memory_has_48_kib_and_more_on_request() -> Tested {
    fn fill(stream: &CudaStream, kernel: &CudaFunction, bytes: u32) -> Result<u32, DriverError> {
        let mut out = stream.alloc_zeros::<u32>(1)?;
        let config =
            LaunchConfig { grid_dim: (1, 1, 1), block_dim: (64, 1, 1), shared_mem_bytes: bytes };
        unsafe { stream.launch_builder(kernel).arg(&mut out).arg(&bytes).launch(config) }?;
        Ok(stream.clone_dtoh(&out)?[0])
    }
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let kernel = function(&context, "fill_shared");
    assert_eq!(fill(&stream, &kernel, 48 << 10)?, (12 << 10) - 1);
    let more = 64 << 10;
    assert_eq!(fill(&stream, &kernel, more), Err(DriverError::InvalidValue));
    let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    kernel.set_attribute(attribute, more as i32)?;
    assert_eq!(kernel.get_attribute(attribute)?, more as i32);
    assert_eq!(fill(&stream, &kernel, more)?, (16 << 10) - 1);
    Ok(())
}

#[test]
fn launches_are_recorded_by_events() -> Tested {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let slow = function(&context, "slow");
    let mut word = stream.alloc_zeros::<u32>(1)?;
    let one = LaunchConfig { block_dim: (1, 1, 1), ..LaunchConfig::for_num_elems(1) };
    let mut launch = stream.launch_builder(&slow);
    launch.arg(&mut word).arg(&10_000_000u32);
    assert!(unsafe { launch.launch(one) }?.is_none());
    launch.record_kernel_launch(CUevent_flags::CU_EVENT_DEFAULT);
    let (start, end) = unsafe { launch.launch(one) }?.expect("events");
    assert!(start.elapsed_ms(&end)? > 0.5, "10 million dependent steps");
    Ok(())
}

#[test]
fn blocks_of_cooperative_launches_wait_for_each_other() -> Tested {
    const SOURCE: &str = r#"
        extern "C" __global__ void meet(unsigned* arrived, unsigned* seen) {
          if (threadIdx.x == 0) {
            atomicAdd(arrived, 1);
            while (atomicAdd(arrived, 0) < gridDim.x) {}
            seen[blockIdx.x] = atomicAdd(arrived, 0);
          }
        }"#;
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let meet = context.load_module(compile_ptx(SOURCE)?)?.load_function("meet")?;
    let mut arrived = stream.alloc_zeros::<u32>(1)?;
    let mut seen = stream.alloc_zeros::<u32>(2)?;
    let config = LaunchConfig { grid_dim: (2, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&meet);
    launch.arg(&mut arrived).arg(&mut seen);
    unsafe { launch.launch_cooperative(config) }?;
    assert_eq!(stream.clone_dtoh(&seen)?, [2, 2]);
    let too_many = LaunchConfig { grid_dim: (1 << 20, 1, 1), ..config };
    assert_eq!(
        unsafe { launch.launch_cooperative(too_many) }.map(drop),
        Err(DriverError::InvalidValue)
    );
    Ok(())
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Structure {
    first_atom: u32,
    atom_count: u32,
}
// SAFETY: numbers, laid out as in C.
unsafe impl DeviceRepr for Structure {}

/// The data that a program packs for many structures at once.
struct PackedBatch {
    atoms: CudaSlice<f32>,
    indices: CudaSlice<u32>,
    descriptors: CudaSlice<Structure>,
    types: CudaSlice<u8>,
    conservation: CudaSlice<f32>,
    bfactor: CudaSlice<f32>,
    frequency: CudaSlice<f32>,
    velocity: CudaSlice<f32>,
}

const PACKED: &str = r#"
struct Structure { unsigned first_atom, atom_count; };
extern "C" __global__ void packed(
    float* out, const float* atoms, const unsigned* indices, const Structure* descriptors,
    const unsigned char* types, const float* conservation, const float* bfactor,
    const float* frequency, const float* velocity, unsigned structures, float threshold,
    float least) {
  extern __shared__ float partial[];  // 48 KiB
  if (blockIdx.x >= structures) return;
  Structure own = descriptors[blockIdx.x];
  float sum = 0;
  for (unsigned i = threadIdx.x; i < own.atom_count; i += blockDim.x) {
    unsigned atom = indices[own.first_atom + i];
    float value = atoms[atom] * types[atom] + conservation[atom] + bfactor[atom];
    sum += value > threshold ? value : least;
  }
  partial[threadIdx.x + 12032] = sum;
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) partial[threadIdx.x + 12032] += partial[threadIdx.x + 12032 + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    out[blockIdx.x] = partial[12032] + frequency[blockIdx.x] * velocity[blockIdx.x];
  }
}"#;

fn launch_packed(
    stream: &CudaStream,
    kernel: &CudaFunction,
    batch: &PackedBatch,
    output: &mut CudaSlice<f32>,
    (threshold, least): (f32, f32),
) -> Result<(), DriverError> {
    let count = batch.descriptors.len();
    let config = LaunchConfig {
        grid_dim: (count as u32, 1, 1),
        block_dim: (256, 1, 1),
        shared_mem_bytes: 48 * 1024,
    };
    unsafe {
        stream
            .launch_builder(kernel)
            .arg(output)
            .arg(&batch.atoms)
            .arg(&batch.indices)
            .arg(&batch.descriptors)
            .arg(&batch.types)
            .arg(&batch.conservation)
            .arg(&batch.bfactor)
            .arg(&batch.frequency)
            .arg(&batch.velocity)
            .arg(&(count as u32))
            .arg(&threshold)
            .arg(&least)
            .launch(config)?;
    }
    Ok(())
}

/// Small whole numbers, of which sums are exact in any order.
#[test]
fn a_packed_batch_of_structures_is_one_launch() -> Tested {
    const ATOMS: usize = 3000;
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let kernel = context.load_module(compile_ptx(PACKED)?)?.load_function("packed")?;
    let numbers =
        |salt: usize| -> Vec<f32> { (0..ATOMS).map(|i| ((i * salt) % 7) as f32).collect() };
    let indices: Vec<u32> = (0..ATOMS as u32).rev().collect();
    let types: Vec<u8> = (0..ATOMS).map(|i| (i % 3) as u8).collect();
    let structures: Vec<Structure> = [(0, 1), (1, 999), (1000, 0), (1000, 2000)]
        .map(|(first_atom, atom_count)| Structure { first_atom, atom_count })
        .to_vec();
    let (atoms, conservation, bfactor) = (numbers(1), numbers(3), numbers(5));
    let (frequency, velocity) = ([2.0f32, 3.0, 4.0, 5.0], [1.0f32, 0.5, 0.25, 2.0]);
    let batch = PackedBatch {
        atoms: stream.htod_copy(&atoms)?,
        indices: stream.htod_copy(&indices)?,
        descriptors: stream.htod_copy(&structures)?,
        types: stream.htod_copy(&types)?,
        conservation: stream.htod_copy(&conservation)?,
        bfactor: stream.htod_copy(&bfactor)?,
        frequency: stream.htod_copy(&frequency)?,
        velocity: stream.htod_copy(&velocity)?,
    };
    let mut output = stream.alloc_zeros::<f32>(structures.len())?;
    launch_packed(&stream, &kernel, &batch, &mut output, (5.0, 1.0))?;
    let expected: Vec<f32> = structures
        .iter()
        .enumerate()
        .map(|(block, own)| {
            let (first, count) = (own.first_atom as usize, own.atom_count as usize);
            let sum: f32 = indices[first..first + count]
                .iter()
                .map(|atom| *atom as usize)
                .map(|i| atoms[i] * f32::from(types[i]) + conservation[i] + bfactor[i])
                .map(|value| if value > 5.0 { value } else { 1.0 })
                .sum();
            sum + frequency[block] * velocity[block]
        })
        .collect();
    assert_eq!(stream.memcpy_dtov(&output)?, expected);
    Ok(())
}
