//! Many awaits leave nothing behind. A program of its own, because it measures the process.

mod common;
#[path = "common/executor.rs"]
mod executor;
#[path = "common/flat.rs"]
mod flat;

use std::future::IntoFuture;
use std::time::Instant;

use common::{context, function};
use executor::block_on;
use flat::{few_cycles, stays_flat};
use kernelmill::{LaunchConfig, Result};

/// 10^5, or 10^6 with KM_TEST_LONG=1.
fn await_cycles() -> usize {
    10 * few_cycles()
}

#[test]
fn awaits_leave_nothing_behind() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let empty = function(&context, "empty");
    let one = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };
    let start = Instant::now();
    stays_flat("launch that is awaited", await_cycles(), || {
        // SAFETY: the kernel does nothing.
        block_on(unsafe { stream.launch_builder(&empty).launch_async(one) }?)
    })?;
    println!(
        "{:?} for a launch and its await",
        start.elapsed() / (await_cycles() + await_cycles() / 10) as u32
    );
    let slice = context.alloc_zeros::<u32>(100)?;
    stays_flat("copy that is awaited", few_cycles(), || {
        block_on(stream.clone_dtoh_async(&slice)?.into_future()).map(drop)
    })?;
    stays_flat("copy that is not awaited", few_cycles(), || {
        drop(stream.clone_dtoh_async(&slice)?.into_future());
        stream.synchronize()
    })
}
