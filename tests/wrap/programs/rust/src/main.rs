//! Launches kernels by their wrapper and checks what they computed.
mod calls;
mod typed {
    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}

use kernelmill::blas::F16;
use kernelmill::{Context, LaunchConfig};

fn main() -> kernelmill::Result<()> {
    let context = Context::open("cpu")?;
    let stream = context.default_stream()?;
    let kernels = typed::Kernels::load(&context)?;
    let x = stream.clone_htod(&[1.0f32, 2.0, 3.0])?;
    let mut y = stream.alloc_zeros::<f32>(3)?;
    let mut out = stream.alloc_zeros::<f64>(1)?;
    let config = || LaunchConfig::for_num_elems(3);
    let padded = typed::Padded {
        tag: 1,
        padding1: [0; 7],
        value: 2.0,
        list: [0, 3, 0],
        padding22: [0; 2],
        points: [typed::Point { x: 0.0, y: 4.0 }; 2],
        grid_: [[5.0; 3]; 2],
        p: 0,
        padding72: [0; 8],
    };
    let halves = stream.clone_htod(&[F16::from_f32(1.0), F16::from_f32(2.0)])?;
    let pairs = stream.clone_htod(&[[F16::from_f32(0.5); 2]])?;
    let mut sums = stream.alloc_zeros::<f32>(2)?;
    let mut modes = stream.clone_htod(&[typed::GeoMode { value: 0 }; 2])?;
    // SAFETY: the kernels stay inside the slices.
    unsafe {
        let seven = F16::from_f32(7.0);
        let mut last = sums.view_mut(1..)?;
        kernels.half_sum(&stream, config(), &halves.view(1..)?, &pairs, seven, &mut last)?;
        kernels.modes(&stream, config(), &mut modes.view_mut(1..)?, 1)?;
        kernels.saxpy(&stream, config(), 3, 2.0, &x, &mut y)?;
        kernels.scale_float(&stream, config(), &mut y, 10.0, 3)?;
        kernels.padded(&stream, config(), padded, &mut out)?;
    }
    assert_eq!(stream.clone_dtoh(&y)?, [20.0, 40.0, 60.0]);
    assert_eq!(stream.clone_dtoh(&out)?, [15.0]);
    assert_eq!(stream.clone_dtoh(&sums)?, [0.0, 9.5]);
    let values: Vec<i16> = stream.clone_dtoh(&modes)?.iter().map(|mode| mode.value).collect();
    assert_eq!(values, [0, 1]);
    println!("right");
    Ok(())
}
