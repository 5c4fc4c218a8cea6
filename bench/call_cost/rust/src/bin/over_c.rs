//! The cost that the Rust layer and its facade `kernelmill::driver` add to calls of the C ABI. See
//! ../../../README.md.

#[path = "../pairs.rs"]
mod pairs;

use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::sync::Arc;

use kernelmill::driver::{CudaContext, CudaFunction, CudaSlice, CudaStream, PushKernelArg};
use kernelmill::nvrtc::Ptx;
use kernelmill::{Function, LaunchConfig, Slice, Stream, driver, sys};
use pairs::{LAUNCHES, QUERIES, compare};

/// Kernels that do nothing: without parameters, with two addresses and two numbers, and with three.
const KERNELS: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry none() { ret; }
.visible .entry four(.param .u64 a, .param .u64 b, .param .f32 c, .param .u32 d) { ret; }
.visible .entry five(.param .u64 a, .param .u64 b, .param .u64 c, .param .f32 d, .param .u32 e)
{ ret; }
";

const ONE: LaunchConfig =
    LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };
const RAW_ONE: sys::km_launch_config =
    sys::km_launch_config { grid: [1; 3], block: [1; 3], shared_bytes: 0 };
const FACADE_ONE: driver::LaunchConfig =
    driver::LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };

type Tested<T> = Result<T, Box<dyn std::error::Error>>;

/// The objects of the native layer, by the handles of which the C ABI is called as well, and those of
/// the facade, on one stream.
struct Bench {
    stream: ManuallyDrop<Stream>, // the facade's
    functions: [Function; 3],
    slices: [Slice<f32>; 3],
    facade_stream: Arc<CudaStream>,
    facade_functions: [CudaFunction; 3],
    facade_slices: [CudaSlice<f32>; 3],
    factor: f32,
    count: u32,
}

type Call = fn(&mut Bench) -> bool;

/// A status, checked as a C program does it.
#[inline]
fn is_success(status: sys::km_status) -> bool {
    status == sys::km_status::SUCCESS
}

/// Arguments as C programs pass them.
#[repr(C)]
struct Arguments<const N: usize> {
    addresses: [u64; N],
    factor: f32,
    count: u32,
}

#[inline]
fn operand(parameter: u32, access: sys::km_access, slice: &Slice<f32>) -> sys::km_launch_operand {
    sys::km_launch_operand {
        parameter,
        access,
        slice: slice.as_raw().addr() as u64,
        offset_bytes: 0,
        size_bytes: 4 * slice.len() as u64,
    }
}

impl Bench {
    fn new() -> Tested<Self> {
        let context = CudaContext::open("cpu:0")?;
        let native = context.native();
        let module = native.load_ptx(KERNELS)?;
        let facade_module = context.load_module(Ptx::from_src(KERNELS))?;
        let facade_stream = context.new_stream()?;
        // SAFETY: the handle is not destroyed by this object.
        let stream = ManuallyDrop::new(unsafe { Stream::from_raw(facade_stream.as_raw()) });
        let function = |name| module.load_function(name);
        let facade_function = |name| facade_module.load_function(name);
        let slice = || native.alloc_zeros::<f32>(1000);
        let facade_slice = || facade_stream.alloc_zeros::<f32>(1000);
        Ok(Self {
            stream,
            functions: [function("none")?, function("four")?, function("five")?],
            slices: [slice()?, slice()?, slice()?],
            facade_functions: [
                facade_function("none")?,
                facade_function("four")?,
                facade_function("five")?,
            ],
            facade_slices: [facade_slice()?, facade_slice()?, facade_slice()?],
            facade_stream,
            factor: 2.0,
            count: 1000,
        })
    }

    fn wait(&mut self) -> bool {
        self.stream.synchronize().is_ok()
    }

    fn query_c(&mut self) -> bool {
        // SAFETY: handles are checked ids.
        is_success(unsafe { sys::km_stream_query(self.stream.as_raw()) })
    }

    fn query_native(&mut self) -> bool {
        matches!(self.stream.is_done(), Ok(true))
    }

    fn none_c(&mut self) -> bool {
        let (stream, function) = (self.stream.as_raw(), self.functions[0].as_raw());
        let (none, no_operands) = (std::ptr::null(), std::ptr::null());
        // SAFETY: handles are checked ids, and the kernel has no parameters.
        is_success(unsafe {
            sys::km_launch_kernel_operands(stream, function, &RAW_ONE, none, 0, no_operands, 0)
        })
    }

    fn none_native(&mut self) -> bool {
        // SAFETY: the kernel does nothing.
        unsafe { self.stream.launch_builder(&self.functions[0]).launch(ONE) }.is_ok()
    }

    fn none_facade(&mut self) -> bool {
        let mut launch = self.facade_stream.launch_builder(&self.facade_functions[0]);
        // SAFETY: the kernel does nothing.
        unsafe { launch.launch(FACADE_ONE) }.is_ok()
    }

    fn four_c(&mut self) -> bool {
        let [a, b, _] = &self.slices;
        let arguments = Arguments { addresses: [0; 2], factor: self.factor, count: self.count };
        let operands =
            [operand(0, sys::km_access::READ, a), operand(1, sys::km_access::READ_WRITE, b)];
        let (stream, function) = (self.stream.as_raw(), self.functions[1].as_raw());
        let (arguments, operands) = ((&raw const arguments).cast(), operands.as_ptr());
        // SAFETY: the arguments lie as the kernel's parameters do, and live through the call.
        is_success(unsafe {
            sys::km_launch_kernel_operands(stream, function, &RAW_ONE, arguments, 24, operands, 2)
        })
    }

    fn four_native(&mut self) -> bool {
        let [a, b, _] = &mut self.slices;
        let mut launch = self.stream.launch_builder(&self.functions[1]);
        launch.arg(&*a).arg(b).arg(&self.factor).arg(&self.count);
        // SAFETY: the kernel does nothing.
        unsafe { launch.launch(ONE) }.is_ok()
    }

    fn four_facade(&mut self) -> bool {
        let [a, b, _] = &mut self.facade_slices;
        let mut launch = self.facade_stream.launch_builder(&self.facade_functions[1]);
        launch.arg(&*a).arg(b).arg(&self.factor).arg(&self.count);
        // SAFETY: the kernel does nothing.
        unsafe { launch.launch(FACADE_ONE) }.is_ok()
    }

    fn five_c(&mut self) -> bool {
        let [a, b, c] = &self.slices;
        let arguments = Arguments { addresses: [0; 3], factor: self.factor, count: self.count };
        let operands = [
            operand(0, sys::km_access::READ, a),
            operand(1, sys::km_access::READ, b),
            operand(2, sys::km_access::READ_WRITE, c),
        ];
        let (stream, function) = (self.stream.as_raw(), self.functions[2].as_raw());
        let (arguments, operands) = ((&raw const arguments).cast(), operands.as_ptr());
        // SAFETY: the arguments lie as the kernel's parameters do, and live through the call.
        is_success(unsafe {
            sys::km_launch_kernel_operands(stream, function, &RAW_ONE, arguments, 32, operands, 3)
        })
    }

    fn five_native(&mut self) -> bool {
        let [a, b, c] = &mut self.slices;
        let mut launch = self.stream.launch_builder(&self.functions[2]);
        launch.arg(&*a).arg(&*b).arg(c).arg(&self.factor).arg(&self.count);
        // SAFETY: the kernel does nothing.
        unsafe { launch.launch(ONE) }.is_ok()
    }

    fn five_facade(&mut self) -> bool {
        let [a, b, c] = &mut self.facade_slices;
        let mut launch = self.facade_stream.launch_builder(&self.facade_functions[2]);
        launch.arg(&*a).arg(&*b).arg(c).arg(&self.factor).arg(&self.count);
        // SAFETY: the kernel does nothing.
        unsafe { launch.launch(FACADE_ONE) }.is_ok()
    }
}

fn run() -> Tested<()> {
    let mut bench = Bench::new()?;
    let queries: [pairs::Way<'_, Bench>; 2] =
        [("c", Bench::query_c), ("native", Bench::query_native)];
    compare(&mut bench, "query", &QUERIES, queries, Bench::wait);
    let launches: [(&str, [Call; 3]); 3] = [
        ("launch_of_0", [Bench::none_c, Bench::none_native, Bench::none_facade]),
        ("launch_of_4", [Bench::four_c, Bench::four_native, Bench::four_facade]),
        ("launch_of_5", [Bench::five_c, Bench::five_native, Bench::five_facade]),
    ];
    for (metric, [c, native, facade]) in launches {
        let ways = [("c", c), ("native", native), ("facade", facade)];
        compare(&mut bench, metric, &LAUNCHES, ways, Bench::wait);
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("over_c: {error}");
            ExitCode::FAILURE
        }
    }
}
