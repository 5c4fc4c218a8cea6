//! By cudarc, on whatever CUDA driver it finds.

use std::sync::Arc;

use bench_cudarc::{COPY, Outcome, PTX, SIDE, measure};
use cudarc::driver::{CudaContext, CudaModule, CudaStream, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

fn run_on(stream: &Arc<CudaStream>, module: &Arc<CudaModule>, name: &str) -> Outcome {
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
    let context = CudaContext::new(0)?;
    let module = context.load_module(Ptx::from_src(PTX))?;
    run_on(&context.default_stream(), &module, "default_")?;
    // From the second stream on, cudarc orders all uses of its slices by events.
    run_on(&context.new_stream()?, &module, "")
}
