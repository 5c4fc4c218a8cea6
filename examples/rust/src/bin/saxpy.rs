//! The ten-line program: y += a x on a GPU where there is one, else on the CPU. saxpy KERNEL.cu

use std::process::ExitCode;

use kernelmill::{Context, LaunchConfig};

fn saxpy(kernel_file: &str) -> kernelmill::Result<()> {
    let ones = [1.0f32; 1000];

    // docs/bindings.md shows what follows.
    let context = Context::open("auto")?;
    let stream = context.default_stream()?;
    let saxpy = context.load_file(kernel_file)?.load_function("saxpy")?;
    let x = stream.clone_htod(&ones)?;
    let mut y = stream.alloc_zeros::<f32>(1000)?;
    let mut launch = stream.launch_builder(&saxpy);
    launch.arg(&x).arg(&mut y).arg(&2.0f32).arg(&1000i32);
    // SAFETY: the kernel reads and writes 1000 elements, which both slices have.
    unsafe { launch.launch(LaunchConfig::for_num_elems(1000)) }?;
    let result = stream.clone_dtoh(&y)?;
    println!("y[999] = {}", result[999]);
    // docs/bindings.md shows no more.
    Ok(())
}

fn main() -> ExitCode {
    let kernel_file = std::env::args().nth(1).unwrap_or_else(|| "saxpy.cu".into());
    saxpy(&kernel_file).map_or_else(
        |error| {
            eprintln!("saxpy: {error}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}
