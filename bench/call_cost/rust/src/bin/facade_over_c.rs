//! The cost of launches through `kernelmill::driver` over the C ABI. One process makes the same
//! launches by C, by the native layer and by the facade, batch by batch in turn, and prints the least
//! of each. See ../../../README.md.

use std::process::ExitCode;
use std::time::Instant;

use kernelmill::driver::{CudaContext, CudaFunction, CudaSlice, CudaStream, PushKernelArg};
use kernelmill::nvrtc::Ptx;
use kernelmill::{Context, Function, LaunchConfig, Slice, Stream, driver, sys};

const BATCHES: usize = 200;
const LAUNCHES: usize = 2560;
const LAUNCHES_PER_WAIT: usize = 256;
const ONE: (u32, u32, u32) = (1, 1, 1);

/// Kernels that do nothing: without parameters, and with three addresses and two numbers.
const KERNELS: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry empty() { ret; }
.visible .entry five(.param .u64 a, .param .u64 b, .param .u64 c, .param .f32 d, .param .u32 e)
{ ret; }
";

type Tested<T> = Result<T, Box<dyn std::error::Error>>;

/// The objects of the native layer, by the handles of which the C ABI is called as well.
struct Native {
    stream: Stream,
    empty: Function,
    five: Function,
    slices: [Slice<f32>; 3],
}

impl Native {
    fn new(context: &Context) -> kernelmill::Result<Self> {
        let module = context.load_ptx(KERNELS)?;
        let slice = || context.alloc_zeros::<f32>(1);
        Ok(Self {
            stream: context.new_stream()?,
            empty: module.load_function("empty")?,
            five: module.load_function("five")?,
            slices: [slice()?, slice()?, slice()?],
        })
    }

    fn c(&self, has_arguments: bool) -> sys::km_status {
        let config = sys::km_launch_config { grid: [1; 3], block: [1; 3], shared_bytes: 0 };
        let mut words = [0u64; 4];
        words[3] = u64::from(2.0f32.to_bits()) | 7 << 32;
        let [a, b, c] = &self.slices;
        let operand = |parameter, slice: &Slice<f32>, access| sys::km_launch_operand {
            parameter,
            access,
            slice: slice.as_raw().addr() as u64,
            offset_bytes: 0,
            size_bytes: 4,
        };
        let operands = [
            operand(0, a, sys::km_access::READ),
            operand(1, b, sys::km_access::READ),
            operand(2, c, sys::km_access::READ_WRITE),
        ];
        let (function, size, count) = match has_arguments {
            true => (&self.five, 32, 3),
            false => (&self.empty, 0, 0),
        };
        // SAFETY: the kernels do nothing.
        unsafe {
            sys::km_launch_kernel_operands(
                self.stream.as_raw(),
                function.as_raw(),
                &config,
                words.as_ptr().cast(),
                size,
                operands.as_ptr(),
                count,
            )
        }
    }

    fn native(&mut self, has_arguments: bool) -> kernelmill::Result<()> {
        let config = LaunchConfig { grid_dim: ONE, block_dim: ONE, shared_mem_bytes: 0 };
        let [a, b, c] = &mut self.slices;
        // SAFETY: the kernels do nothing.
        unsafe {
            if has_arguments {
                let mut launch = self.stream.launch_builder(&self.five);
                launch.arg(&*a).arg(&*b).arg(c).arg(&2.0f32).arg(&7u32).launch(config)
            } else {
                self.stream.launch_builder(&self.empty).launch(config)
            }
        }
    }
}

/// The objects of the facade.
struct Facade {
    stream: std::sync::Arc<CudaStream>,
    empty: CudaFunction,
    five: CudaFunction,
    slices: [CudaSlice<f32>; 3],
}

impl Facade {
    fn new(context: &std::sync::Arc<CudaContext>) -> Result<Self, driver::DriverError> {
        let module = context.load_module(Ptx::from_src(KERNELS))?;
        let stream = context.new_stream()?;
        let slice = || stream.alloc_zeros::<f32>(1);
        let slices = [slice()?, slice()?, slice()?];
        let (empty, five) = (module.load_function("empty")?, module.load_function("five")?);
        Ok(Self { stream, empty, five, slices })
    }

    fn launch(&mut self, has_arguments: bool) -> Result<(), driver::DriverError> {
        let config = driver::LaunchConfig { grid_dim: ONE, block_dim: ONE, shared_mem_bytes: 0 };
        let [a, b, c] = &mut self.slices;
        // SAFETY: the kernels do nothing.
        unsafe {
            if has_arguments {
                let mut launch = self.stream.launch_builder(&self.five);
                launch.arg(&*a).arg(&*b).arg(c).arg(&2.0f32).arg(&7u32).launch(config)?;
            } else {
                self.stream.launch_builder(&self.empty).launch(config)?;
            }
        }
        Ok(())
    }
}

/// Nanoseconds of a launch in one batch.
fn batch(mut launch: impl FnMut() -> bool, mut wait: impl FnMut() -> bool) -> Tested<f64> {
    let start = Instant::now();
    let mut is_ok = true;
    for call in 1..=LAUNCHES {
        is_ok &= launch();
        if call % LAUNCHES_PER_WAIT == 0 {
            is_ok &= wait();
        }
    }
    if !is_ok {
        return Err("a launch failed".into());
    }
    Ok(start.elapsed().as_nanos() as f64 / LAUNCHES as f64)
}

fn run() -> Tested<()> {
    let context = CudaContext::open("cpu:0")?;
    let mut native = Native::new(context.native())?;
    let mut facade = Facade::new(&context)?;
    for (name, has_arguments) in [("empty", false), ("five", true)] {
        let mut least = [f64::INFINITY; 3];
        for _ in 0..=BATCHES {
            let success = sys::km_status::SUCCESS;
            let done = || native.stream.synchronize().is_ok();
            let c = batch(|| native.c(has_arguments) == success, done)?;
            let stream = native.stream.as_raw();
            // SAFETY: the handle is live.
            let done = || unsafe { sys::km_stream_synchronize(stream) } == success;
            let rust = batch(|| native.native(has_arguments).is_ok(), done)?;
            let stream = facade.stream.clone();
            let done = || stream.synchronize().is_ok();
            let cudarc = batch(|| facade.launch(has_arguments).is_ok(), done)?;
            for (least, one) in least.iter_mut().zip([c, rust, cudarc]) {
                *least = least.min(one);
            }
        }
        for (way, value) in ["c", "native", "facade"].iter().zip(least) {
            println!(
                "{{\"metric\": \"launch_{name}_{way}\", \"unit\": \"ns\", \"value\": {value:.2}}}"
            );
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("facade_over_c: {error}");
            ExitCode::FAILURE
        }
    }
}
