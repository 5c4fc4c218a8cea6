//! By the C ABI, on the device `cpu:0` or the one that the first argument names.

use bench_cudarc::{COPY, Outcome, PTX, SIDE, measure};
use kernelmill::{Context, LaunchConfig, Module, Stream};

fn run_on(stream: &Stream, module: &Module, name: &str) -> Outcome {
    let (empty, matmul) = (module.load_function("empty")?, module.load_function("matmul")?);
    let one = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };
    let side = SIDE as u32;
    let square =
        LaunchConfig { grid_dim: (1, 1, 1), block_dim: (side, side, 1), shared_mem_bytes: 0 };
    let mut host = vec![0u8; COPY];
    let mut device = stream.alloc_zeros::<u8>(COPY)?;
    let a = stream.alloc_zeros::<f32>(SIDE * SIDE)?;
    let b = stream.alloc_zeros::<f32>(SIDE * SIDE)?;
    let mut c = stream.alloc_zeros::<f32>(SIDE * SIDE)?;
    stream.synchronize()?;
    measure(&format!("{name}launch_wait"), || {
        // SAFETY: the kernel does nothing.
        unsafe { stream.launch_builder(&empty).launch(one) }?;
        Ok(stream.synchronize()?)
    })?;
    measure(&format!("{name}upload"), || Ok(stream.memcpy_htod(&host, &mut device)?))?;
    measure(&format!("{name}download"), || Ok(stream.memcpy_dtoh(&device, &mut host)?))?;
    measure(&format!("{name}matmul_wait"), || {
        let mut launch = stream.launch_builder(&matmul);
        launch.arg(&a).arg(&b).arg(&mut c).arg(&side);
        // SAFETY: the kernel stays within the slices.
        unsafe { launch.launch(square) }?;
        Ok(stream.synchronize()?)
    })
}

fn main() -> Outcome {
    let uri = std::env::args().nth(1);
    let context = Context::open(uri.as_deref().unwrap_or("cpu:0"))?;
    let module = context.load_ptx(PTX)?;
    run_on(&context.default_stream()?, &module, "default_")?;
    run_on(&context.new_stream()?, &module, "")
}
