//! 10^5 objects of each kind are made and dropped: memory, files and
//! threads stay as they were.
//! A program of its own, because it measures the process.

mod common;
#[path = "common/flat.rs"]
mod flat;

use common::{context, function, module};
use flat::stays_flat;
use kernelmill::{Context, Device, LaunchConfig, Program, Result, Slice, Status, sys};

const CYCLES: usize = 100_000;

/// The number of a handle's place in the library's table, which is used again once it is free (see
/// src/core/handle_table.h).
fn place_of(handle: sys::km_event) -> u64 {
    (handle.addr() as u64 >> 32) & 0xFF_FFFF
}

fn objects_do_not_leak() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let module = module(&context);
    let empty = function(&context, "empty");
    let one = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };

    stays_flat("device", CYCLES, || Device::open("cpu").map(drop))?;
    stays_flat("stream", CYCLES, || context.new_stream().map(drop))?;
    stays_flat("event", CYCLES, || context.new_event().map(drop))?;
    stays_flat("slice", CYCLES, || context.alloc::<u32>(100).map(drop))?;
    stays_flat("slice of a stream", CYCLES, || {
        drop(stream.alloc_zeros::<u32>(100)?);
        stream.synchronize()
    })?;
    stays_flat("slice of a vector", CYCLES, || {
        Slice::from_vec(&context, vec![0u8; 100]).map(drop)
    })?;
    stays_flat("page-locked memory", CYCLES, || context.alloc_pinned::<u64>(100).map(drop))?;
    stays_flat("program", CYCLES, || Program::new("").map(drop))?;
    stays_flat("function", CYCLES, || module.load_function("add").map(drop))?;
    stays_flat("variable", CYCLES, || module.global::<i32>("counters").map(drop))?;
    stays_flat("launch", CYCLES, || {
        unsafe { stream.launch_builder(&empty).launch(one) }?;
        stream.synchronize()
    })?;
    stays_flat("callback", CYCLES, || {
        let held = vec![0u8; 100];
        stream.add_callback(move |_| drop(held))?;
        stream.synchronize()
    })?;
    stays_flat("copy", CYCLES, || stream.clone_dtoh(&stream.clone_htod(&[1, 2])?).map(drop))?;
    stays_flat("error", CYCLES, || {
        let error = context.load_file("no/such.cu").expect_err("no such file");
        assert_eq!(error.status(), Status::ERROR_NOT_FOUND);
        Ok(())
    })?;
    Ok(())
}

fn handles_are_used_again() -> Result<()> {
    let context = context();
    let mut most = 0;
    for _ in 0..CYCLES {
        most = most.max(place_of(context.new_event()?.as_raw()));
    }
    assert!(most < 10_000, "{CYCLES} events, one at a time, took {most} places");
    Ok(())
}

fn contexts_do_not_leak() -> Result<()> {
    // Each has a stream and memory of its own.
    stays_flat("context", CYCLES, || {
        let context = Context::open("cpu")?;
        let stream = context.default_stream()?;
        stream.clone_htod(&[1u32; 1000]).map(drop)
    })
}

/// One after the other: each looks at the whole process.
#[test]
fn nothing_leaks() -> Result<()> {
    objects_do_not_leak()?;
    handles_are_used_again()?;
    contexts_do_not_leak()
}
