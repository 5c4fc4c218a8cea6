//! A launch by the Rust layer against the same by the wrapper of `kernelmill wrap`, batch by batch in
//! turn in one process.

use std::time::Instant;

use kernelmill::{Context, LaunchConfig, Result, Stream};

#[path = "../generated/wrapped.rs"]
#[rustfmt::skip]
mod wrapped;

const BATCHES: usize = 200;
const LAUNCHES: i32 = 2560;
const LAUNCHES_PER_WAIT: i32 = 256;

fn batch_ns(stream: &Stream, mut launch: impl FnMut(i32) -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    for i in 1..=LAUNCHES {
        launch(i)?;
        if i % LAUNCHES_PER_WAIT == 0 {
            stream.synchronize()?;
        }
    }
    Ok(start.elapsed().as_nanos() as f64 / f64::from(LAUNCHES))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<()> {
    let context = Context::open("cpu:0")?;
    let stream = context.default_stream()?;
    let kernels = wrapped::Kernels::load(&context)?;
    let nothing = context.load_ptx(wrapped::PTX)?.load_function("nothing")?;
    let (x, mut y) = (context.alloc_zeros::<f32>(16)?, context.alloc_zeros::<f32>(16)?);
    let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };
    let (mut hand, mut wrapper, mut over) = (Vec::new(), Vec::new(), Vec::new());
    for batch in 0..=BATCHES {
        let mut times = [0.0; 2];
        for turn in 0..2 {
            let way = (batch + turn) % 2;
            times[way] = if way == 0 {
                batch_ns(&stream, |n| {
                    let mut launch = stream.launch_builder(&nothing);
                    launch.arg(&x).arg(&mut y).arg(&2.0f32).arg(&n);
                    // SAFETY: the kernel does nothing.
                    unsafe { launch.launch(config) }
                })?
            } else {
                // SAFETY: the kernel does nothing.
                batch_ns(&stream, |n| unsafe {
                    kernels.nothing(&stream, config, &x, &mut y, 2.0, n)
                })?
            };
        }
        if batch > 0 {
            hand.push(times[0]);
            wrapper.push(times[1]);
            over.push(times[1] - times[0]);
        }
    }
    println!(
        "{{\"metric\": \"launch_rust\", \"unit\": \"ns\", \"hand\": {:.1}, \"wrapper\": {:.1}, \
         \"wrapper_adds\": {:.1}}}",
        median(hand),
        median(wrapper),
        median(over)
    );
    Ok(())
}
