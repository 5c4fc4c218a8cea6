//! Slices say of which type their elements are, and launches check it.

mod common;

use common::context;
use kernelmill::blas::{Complex, F16};
use kernelmill::{
    DeviceType, ElementType, Function, LaunchConfig, Pod, Result, Slice, Status, Stream,
};

/// One parameter each, whose type is in the kernel's name.
const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry _Z1kPf(.param .u64 x) { ret; }
.visible .entry _Z1kPd(.param .u64 x) { ret; }
.visible .entry _Z1kPj(.param .u64 x) { ret; }
.visible .entry _Z1kP6float4(.param .u64 x) { ret; }
.visible .entry _Z1kP6__half(.param .u64 x) { ret; }
.visible .entry _Z1kPN2ns5PointE(.param .u64 x) { ret; }
.visible .entry plain(.param .u64 x) { ret; }
";
const KERNELS: [&str; 7] =
    ["_Z1kPf", "_Z1kPd", "_Z1kPj", "_Z1kP6float4", "_Z1kP6__half", "_Z1kPN2ns5PointE", "plain"];

#[derive(Clone, Copy)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
}
// SAFETY: two numbers without padding.
unsafe impl Pod for Point {
    const DEVICE_TYPE: DeviceType = DeviceType::named("ns::Point");
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Unnamed(f32, f32);
// SAFETY: two numbers without padding.
unsafe impl Pod for Unnamed {}

fn config() -> LaunchConfig {
    LaunchConfig::for_num_elems(1)
}

fn taken<T: Pod>(stream: &Stream, kernels: &[Function], slice: &mut Slice<T>) -> String {
    let mut text = String::new();
    for kernel in kernels {
        // SAFETY: the kernels do nothing.
        let launched = unsafe { stream.launch_builder(kernel).arg(&mut *slice).launch(config()) };
        text.push(match launched {
            Ok(()) => 'x',
            Err(error) => {
                assert_eq!(error.status(), Status::ERROR_INVALID_LAUNCH);
                '-'
            }
        });
    }
    text
}

#[test]
fn kernels_take_the_types_that_they_have() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let module = context.load_ptx(PTX)?;
    let kernels: Vec<_> =
        KERNELS.iter().map(|name| module.load_function(name)).collect::<Result<_>>()?;
    macro_rules! expect {
        ($type:ty, $expected:literal) => {
            let mut slice = context.alloc_zeros::<$type>(16)?;
            assert_eq!(taken(&stream, &kernels, &mut slice), $expected, stringify!($type));
            let mut copy = stream.clone_dtod(&slice)?;
            assert_eq!(taken(&stream, &kernels, &mut copy), $expected, stringify!($type));
            let mut part = copy.into_part(1..2)?;
            assert_eq!(taken(&stream, &kernels, &mut part), $expected, stringify!($type));
        };
    }
    expect!(f32, "x--x--x");
    expect!(f64, "-x----x");
    expect!(u32, "--x---x");
    expect!(i32, "--x---x");
    expect!(i64, "------x");
    expect!(u8, "xxxxxxx");
    expect!(i8, "xxxxxxx");
    expect!(u16, "------x");
    expect!(F16, "----x-x");
    expect!(Point, "-----xx");
    expect!(Unnamed, "xxxxxxx");
    expect!([f32; 2], "xxxxxxx");
    expect!(Complex<f32>, "xxxxxxx");
    Ok(())
}

#[test]
fn messages_name_kernel_parameter_and_types() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let kernel = context.load_ptx(PTX)?.load_function("_Z1kPf")?;
    let mut slice = context.alloc_zeros::<f64>(1)?;
    // SAFETY: the kernel does nothing.
    let launched = unsafe { stream.launch_builder(&kernel).arg(&mut slice).launch(config()) };
    let message = launched.unwrap_err().to_string();
    for part in ["parameter 0", "'k'", "'float*'", "'double', expected 'float'"] {
        assert!(message.contains(part), "{message}");
    }
    slice.set_element_type(ElementType::UNKNOWN, 0, None)?;
    // SAFETY: the kernel does nothing.
    unsafe { stream.launch_builder(&kernel).arg(&mut slice).launch(config()) }
}

#[test]
fn slices_of_every_origin_have_their_type() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let module = context.load_ptx(PTX)?;
    let kernels = [module.load_function("_Z1kPf")?, module.load_function("_Z1kPd")?];
    let pool = context.new_pool(None)?;
    for mut slice in [
        context.alloc::<f64>(2)?,
        context.alloc_aligned::<f64>(2, 256)?,
        stream.alloc::<f64>(2)?,
        stream.clone_htod(&[1.0f64])?,
        pool.alloc::<f64>(2)?,
        Slice::from_vec(&context, vec![1.0f64])?,
    ] {
        assert_eq!(taken(&stream, &kernels, &mut slice), "-x");
    }
    let mut rows = context.alloc_pitched::<f64>(2, 2)?;
    // SAFETY: the kernel does nothing.
    let launched = unsafe { stream.launch_builder(&kernels[0]).arg(&mut rows).launch(config()) };
    assert_eq!(launched.unwrap_err().status(), Status::ERROR_INVALID_LAUNCH);
    Ok(())
}
