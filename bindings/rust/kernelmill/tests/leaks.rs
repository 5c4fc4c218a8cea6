//! 10^5 objects of each kind are made and dropped: memory, files and
//! threads stay as they were.
//! A program of its own, because it measures the process.

mod common;
#[path = "common/flat.rs"]
mod flat;

use common::{context, function, module};
use flat::{CYCLES, few_cycles, stays_flat};
use kernelmill::{
    Context, Device, LaunchConfig, MapFlags, PinnedMemory, Program, Result, Slice, Status, Stream,
    sys,
};

const PTX: &str = ".version 7.0\n.target sm_70\n.address_size 64\n.global .u32 number;\n\
                   .visible .entry empty()\n{\n  ret;\n}\n";

/// The number of a handle's place in the library's table, which is used again once it is free (see
/// src/core/handle_table.h).
fn place_of(handle: sys::km_event) -> u64 {
    (handle.addr() as u64 >> 32) & 0xFF_FFFF
}

/// Every so many cycles, waits until the thread that frees the host's memory has caught up: it runs
/// callbacks in order.
fn catch_up(stream: &Stream, cycle: &mut usize) -> Result<()> {
    *cycle += 1;
    if *cycle % 64 != 0 {
        return Ok(());
    }
    stream.add_callback(|_| {})?;
    stream.synchronize()
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
    let mut cycle = 0;
    stays_flat("slice of a vector", CYCLES, || {
        Slice::from_vec(&context, vec![0u8; 100]).map(drop)?;
        catch_up(&stream, &mut cycle)
    })?;
    stays_flat("page-locked memory", CYCLES, || context.alloc_pinned::<u64>(100).map(drop))?;
    stays_flat("program", CYCLES, || Program::new("").map(drop))?;
    stays_flat("module", few_cycles(), || context.load_ptx(PTX).map(drop))?;
    stays_flat("function", CYCLES, || module.load_function("add").map(drop))?;
    stays_flat("variable", CYCLES, || module.global::<i32>("counters").map(drop))?;
    stays_flat("launch", CYCLES, || {
        unsafe { stream.launch_builder(&empty).launch(one) }?;
        stream.synchronize()
    })?;
    // Calls of host functions change threads, which takes its time.
    stays_flat("callback", few_cycles(), || {
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

fn memory_of_all_kinds_does_not_leak() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let pool = context.new_pool(None)?;
    let path = std::env::temp_dir().join(format!("kernelmill-{}-leaks", std::process::id()));
    assert!(std::fs::write(&path, [7u8; 100]).is_ok());
    stays_flat("pool", CYCLES, || context.new_pool(None)?.alloc::<u32>(100).map(drop))?;
    stays_flat("block of a pool", CYCLES, || pool.alloc_on::<u32>(&stream, 100)?.free_on(&stream))?;
    stays_flat("parts", CYCLES, || context.alloc::<u32>(100)?.into_halves(50).map(drop))?;
    stays_flat("pitched slice", CYCLES, || context.alloc_pitched::<u32>(10, 10).map(drop))?;
    stays_flat("vector that is page-locked", CYCLES, || {
        PinnedMemory::from_vec(&context, vec![0u8; 100])?.into_vec().map(drop)
    })?;
    let mut cycle = 0;
    stays_flat("copy that nobody waits for", few_cycles(), || {
        let memory = PinnedMemory::from_vec(&context, vec![0u8; 100])?;
        let mut slice = pool.alloc_on::<u8>(&stream, 100)?;
        drop(stream.memcpy_htod_async(memory, &mut slice)?);
        stream.synchronize()?;
        catch_up(&stream, &mut cycle)
    })?;
    stays_flat("mapped slice", few_cycles(), || {
        context.map_slice::<u8>(&path, 0, None, MapFlags::READ_ONLY).map(drop)
    })?;
    stays_flat("mapped memory", few_cycles(), || {
        context.map_host::<u8>(&path, 0, None, MapFlags::READ_ONLY).map(drop)
    })?;
    assert!(std::fs::remove_file(&path).is_ok());
    Ok(())
}

fn graphs_do_not_leak() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let empty = function(&context, "empty");
    let buffer = context.alloc_graph_buffer::<u32>(4)?;
    let mut slice = context.alloc_zeros::<u32>(4)?;
    stays_flat("kept launch", CYCLES, || stream.prepare_launch(&empty).map(drop))?;
    stays_flat("buffer of graphs", CYCLES, || {
        let buffer = context.alloc_graph_buffer::<u32>(4)?;
        buffer.lock()?.fill(1);
        Ok(())
    })?;
    stays_flat("graph", CYCLES, || {
        let graph = context.new_graph()?;
        let held = Box::new([0u8; 100]);
        let upload = graph.add_upload(&[], &buffer, &mut slice)?;
        graph.add_host(&[upload], move |_| assert_eq!(held.len(), 100))?;
        graph.try_clone()?.instantiate().map(drop)
    })?;
    let graph = context.new_graph()?;
    let host = graph.add_host(&[], |_| {})?;
    let download = graph.add_download(&[host], &slice, &buffer)?;
    let exec = graph.instantiate()?;
    stays_flat("launch and update of a graph", few_cycles() / 2, || {
        let held = Box::new([0u8; 100]);
        graph.set_host(host, move |_| assert_eq!(held.len(), 100))?;
        exec.update_node(&graph, host)?;
        exec.launch(&stream)?;
        buffer.lock()?.fill(1);
        let other = context.alloc_graph_buffer(4)?;
        graph.set_download(download, &slice, &other)?;
        exec.update(&graph)?;
        exec.launch(&stream)?;
        graph.set_download(download, &slice, &buffer)?;
        exec.update(&graph)
    })?;
    stays_flat("capture", CYCLES, || {
        let capture = context.begin_capture()?;
        let branch = capture.fork()?;
        branch.add_callback(|_| {})?;
        branch.upload(&buffer, &mut slice)?;
        capture.join(branch)?;
        capture.end().map(drop)
    })?;
    stays_flat("capture that is dropped", CYCLES, || context.begin_capture()?.fork().map(drop))
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
    memory_of_all_kinds_does_not_leak()?;
    graphs_do_not_leak()?;
    handles_are_used_again()?;
    contexts_do_not_leak()
}
