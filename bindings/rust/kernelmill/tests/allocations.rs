//! Launches, queries and waits allocate nothing in Rust. A program of its own, because it has an
//! allocator of its own.

mod common;
#[path = "common/counting.rs"]
mod counting;

use common::{context, function};
use counting::{CALLS, allocations_of};
use kernelmill::{Function, LaunchConfig, Result, Slice, Stream};

fn add(
    stream: &Stream,
    add: &Function,
    [a, b]: [&Slice<i32>; 2],
    c: &mut Slice<i32>,
) -> Result<()> {
    let mut launch = stream.launch_builder(add);
    launch.arg(a).arg(b).arg(c).arg(&4i32);
    // SAFETY: the kernel stays within four elements.
    unsafe { launch.launch(LaunchConfig::for_num_elems(4)) }
}

#[test]
fn a_launch_allocates_nothing() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let kernel = function(&context, "add");
    let (a, b) = (stream.clone_htod(&[1, 2, 3, 4])?, stream.clone_htod(&[10, 20, 30, 40])?);
    let mut sum = stream.alloc_zeros(4)?;
    assert_eq!(allocations_of(|| add(&stream, &kernel, [&a, &b], &mut sum))?, 0);
    assert_eq!(stream.clone_dtoh(&sum)?, [11, 22, 33, 44]);
    let mut kept = stream.prepare_launch(&kernel)?;
    kept.set_config(LaunchConfig::for_num_elems(4))?;
    kept.arg_slice(&a)?;
    kept.arg_slice(&a)?;
    kept.arg_slice_mut(&mut sum)?;
    kept.arg_scalar(&4i32)?;
    // SAFETY: the kernel stays within four elements.
    assert_eq!(allocations_of(|| unsafe { kept.submit() })?, 0);
    assert_eq!(stream.clone_dtoh(&sum)?, [2, 4, 6, 8]);
    Ok(())
}

#[test]
fn waits_queries_and_copies_allocate_nothing() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let event = context.new_event()?;
    let mut slice = stream.alloc_zeros::<u32>(100)?;
    let mut host = [1u32; 100];
    let calls = || {
        event.record(&stream)?;
        stream.is_done()?;
        event.is_done()?;
        stream.wait(&event)?;
        stream.fill(&mut slice, 7)?;
        stream.memcpy_htod(&host, &mut slice)?;
        stream.memcpy_dtoh(&slice.view(1..)?, &mut host[1..])?;
        stream.synchronize()
    };
    assert_eq!(allocations_of(calls)?, 0);
    let allocated = allocations_of(|| stream.clone_dtoh(&slice).map(drop))?;
    assert_eq!(allocated, CALLS); // so they are counted
    Ok(())
}

#[test]
fn a_graphs_launch_allocates_nothing() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let mut slice = context.alloc_zeros::<u32>(100)?;
    let graph = context.new_graph()?;
    graph.add_fill(&[], &mut slice, 3)?;
    let exec = graph.instantiate()?;
    assert_eq!(allocations_of(|| exec.launch(&stream))?, 0);
    assert_eq!(stream.clone_dtoh(&slice)?, [3; 100]);
    Ok(())
}
