//! Graphs: every kind of node does what it says, whatever is dropped first, and memory of the host
//! is never used by graph and program at once.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};

use common::{context, expect_error, function};
use kernelmill::{
    Context, Extent, Graph, GraphBuffer, GraphDifference, LaunchConfig, Node, NodeKind,
    PinnedMemory, Result, Rows, Status,
};

const ONE: LaunchConfig =
    LaunchConfig { grid_dim: (1, 1, 1), block_dim: (4, 1, 1), shared_mem_bytes: 0 };

fn run(context: &Context, graph: &Graph) -> Result<()> {
    let stream = context.new_stream()?;
    graph.instantiate()?.launch(&stream)?;
    stream.synchronize()
}

fn buffer<T: kernelmill::Pod>(context: &Context, elements: &[T]) -> Result<GraphBuffer<T>> {
    let buffer = context.alloc_graph_buffer(elements.len())?;
    buffer.lock()?.copy_from_slice(elements);
    Ok(buffer)
}

#[test]
fn nodes_run_in_the_order_of_their_dependencies() -> Result<()> {
    let context = context();
    let scale = function(&context, "scale");
    let (input, output) = (buffer(&context, &[1f32, 2., 3., 4.])?, buffer(&context, &[0f32; 4])?);
    let (mut a, mut b) = (context.alloc_zeros::<f32>(4)?, context.alloc_zeros::<f32>(4)?);
    let graph = context.new_graph()?;
    let upload = graph.add_upload(&[], &input, &mut a)?;
    let mut kernel = graph.kernel_node(&scale);
    kernel.arg(&mut a).arg(&10f32).arg(&4i32);
    // SAFETY: the kernel stays within four elements.
    let kernel = unsafe { kernel.add(&[upload], ONE) }?;
    let copy = graph.add_copy(&[kernel], &a, &mut b)?;
    let fill = graph.add_fill(&[copy], &mut b.view_mut(3..)?, 0.5f32)?;
    let join = graph.add_empty(&[fill])?;
    let download = graph.add_download(&[join], &b, &output)?;
    assert_eq!(graph.nodes()?, [upload, kernel, copy, fill, join, download]);
    assert_eq!(graph.dependencies(copy)?, [kernel]);
    assert_eq!(graph.dependents(copy)?, [fill]);
    let exec = graph.instantiate()?;
    drop((graph, a, b, scale));
    let stream = context.new_stream()?;
    exec.launch(&stream)?;
    assert_eq!(output.lock()?[..], [10., 20., 30., 0.5]);
    input.lock()?.fill(2.0);
    exec.launch(&stream)?;
    drop(exec); // the launch goes on
    assert_eq!(output.lock()?[..], [20., 20., 20., 0.5]);
    Ok(())
}

#[test]
fn nodes_say_what_they_are() -> Result<()> {
    let context = context();
    let scale = function(&context, "scale");
    let mut a = context.alloc_zeros::<f32>(4)?;
    let graph = context.new_graph()?;
    let mut builder = graph.kernel_node(&scale);
    builder.arg(&mut a).arg(&10f32).arg(&4i32);
    // SAFETY: the kernel is not run.
    let node = unsafe { builder.add(&[], ONE) }?;
    let info = graph.node_info(node)?;
    assert_eq!((info.kind, info.block_dim, info.grid_dim), (NodeKind::Kernel, [4, 1, 1], [1; 3]));
    let arguments = graph.node_arguments(node)?;
    assert_eq!(arguments.len() as u64, info.arguments_size_bytes);
    assert_eq!(arguments[..8], a.address()?.to_ne_bytes());
    assert_eq!(arguments[8..12], 10f32.to_ne_bytes());
    assert_eq!(graph.node_function(node)?.name()?, "scale");
    let child = context.new_graph()?;
    let fill = child.add_fill(&[], &mut a, 1.5f32)?;
    let node = graph.add_child(&[], &child)?;
    drop(child);
    let child = graph.node_child(node)?;
    assert_eq!(child.node_info(fill)?.value, 1.5f32.to_bits());
    let dot = graph.dot()?;
    assert!(dot.starts_with("digraph") && dot.contains("scale"), "{dot}");
    Ok(())
}

#[test]
fn dependencies_come_and_go() -> Result<()> {
    let context = context();
    let graph = context.new_graph()?;
    let (a, b) = (graph.add_empty(&[])?, graph.add_empty(&[])?);
    graph.add_dependency(a, b)?;
    let argument = Status::ERROR_INVALID_ARGUMENT;
    expect_error(graph.add_dependency(a, b), argument, "already");
    expect_error(graph.add_dependency(b, a), argument, "cannot run after");
    graph.remove_dependency(a, b)?;
    expect_error(graph.remove_dependency(a, b), Status::ERROR_NOT_FOUND, "does not depend");
    graph.remove_node(a)?;
    assert_eq!(graph.nodes()?, [b]);
    expect_error(graph.remove_node(a), argument, "is 1");
    expect_error(graph.remove_node(Node::from_id(0)), argument, "is 0");
    expect_error(graph.add_empty(&[b, b]), argument, "twice");
    expect_error(graph.add_empty(&[Node::from_id(9)]), argument, "is 9");
    Ok(())
}

#[test]
fn what_does_not_fit_is_an_error_with_both_values() -> Result<()> {
    let (context, other) = (context(), context());
    let graph = context.new_graph()?;
    let (mut three, mut four) = (context.alloc_zeros::<u32>(3)?, context.alloc_zeros::<u32>(4)?);
    let mut foreign = other.alloc_zeros::<u32>(4)?;
    let host = context.alloc_graph_buffer::<u32>(5)?;
    let argument = Status::ERROR_INVALID_ARGUMENT;
    expect_error(graph.add_copy(&[], &three, &mut four), argument, "3 elements");
    expect_error(graph.add_upload(&[], &host, &mut four), argument, "source has 5");
    expect_error(graph.add_download(&[], &four, &host), argument, "destination 5");
    let mismatch = Status::ERROR_CONTEXT_MISMATCH;
    expect_error(graph.add_copy(&[], &four, &mut foreign), mismatch, "context");
    expect_error(graph.add_child(&[], &other.new_graph()?), mismatch, "context");
    expect_error(graph.add_child(&[], &graph), argument, "");
    let fill = graph.add_fill(&[], &mut three, 1u32)?;
    let copy = graph.add_copy(&[], &four.view(0..3)?, &mut three)?;
    expect_error(graph.set_copy(fill, &four.view(1..)?, &mut three), argument, "of kind fill");
    expect_error(graph.set_fill(copy, &mut three, 1u32), argument, "of kind copy");
    expect_error(graph.set_host(copy, |_| {}), argument, "of kind copy");
    expect_error(graph.node_function(copy), argument, "");
    expect_error(graph.node_rows(copy), argument, "");
    let scale = function(&context, "scale");
    let numbers = context.alloc_zeros::<f32>(4)?;
    let mut kernel = graph.kernel_node(&scale);
    let invalid = Status::ERROR_INVALID_LAUNCH;
    // SAFETY: nothing is added.
    unsafe {
        expect_error(kernel.add(&[], ONE), invalid, "has 3 parameters; 0");
        kernel.arg(&numbers).arg(&1f32).arg(&4i32);
        let empty = LaunchConfig { grid_dim: (0, 1, 1), ..ONE };
        expect_error(kernel.add(&[], empty), invalid, "grid.x is 0");
        expect_error(kernel.set(copy, ONE), argument, "of kind copy");
    }
    let vector = GraphBuffer::new(PinnedMemory::from_vec(&context, vec![1u8])?);
    expect_error(vector, Status::ERROR_NOT_SUPPORTED, "alloc_pinned");
    let stream = other.new_stream()?;
    expect_error(graph.instantiate()?.launch(&stream), mismatch, "context");
    Ok(())
}

#[test]
fn rows_are_copied_and_filled() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let picture: Vec<u16> = (0..30).collect(); // 6 by 5
    let (input, output) = (buffer(&context, &picture)?, buffer(&context, &[99u16; 8])?);
    let (mut a, mut b) = (context.alloc_zeros::<u16>(30)?, context.alloc_zeros::<u16>(30)?);
    let rows = |offset_bytes, pitch_bytes| Rows { offset_bytes, pitch_bytes, layer_rows: 0 };
    let graph = context.new_graph()?;
    let plane = Extent::plane(3, 2);
    let upload = graph.add_upload_3d(&[], (&input, rows(14, 12)), (&mut a, rows(0, 12)), plane)?;
    let copy = graph.add_copy_3d(&[upload], (&a, rows(0, 12)), (&mut b, rows(8, 20)), plane)?;
    let fill = graph.add_fill_2d(&[copy], (&mut b, rows(10, 20)), (1, 2), 55u16)?;
    let download =
        graph.add_download_3d(&[fill], (&b, rows(8, 20)), (&output, rows(2, 8)), plane)?;
    let exec = graph.instantiate()?;
    exec.launch(&stream)?;
    assert_eq!(output.lock()?[..], [99, 7, 55, 9, 99, 13, 55, 15]);
    let shape = graph.node_rows(copy)?;
    assert_eq!((shape.width_bytes, shape.height, shape.depth), (6, 2, 1));
    assert_eq!((shape.source_pitch_bytes, shape.destination_pitch_bytes), (12, 20));

    graph.set_upload_3d(upload, (&input, rows(0, 24)), (&mut a, rows(0, 12)), plane)?;
    graph.set_copy_3d(copy, (&a, rows(0, 12)), (&mut b, rows(0, 6)), plane)?;
    graph.set_fill_2d(fill, (&mut b, rows(0, 6)), (1, 1), 66u16)?;
    graph.set_download_3d(download, (&b, rows(0, 6)), (&output, rows(0, 8)), plane)?;
    exec.update(&graph)?;
    exec.launch(&stream)?;
    assert_eq!(output.lock()?[..], [66, 1, 2, 9, 12, 13, 14, 15]);
    let bounds = Status::ERROR_OUT_OF_BOUNDS;
    let large = Extent::plane(3, 6);
    let upload = graph.add_upload_3d(&[], (&input, rows(0, 12)), (&mut a, rows(0, 6)), large);
    expect_error(upload, bounds, "the source, which has 60");
    let download = graph.add_download_3d(&[], (&a, rows(0, 6)), (&output, rows(0, 6)), large);
    expect_error(download, bounds, "the destination, which has 16");
    Ok(())
}

#[test]
fn a_graph_copies_between_contexts() -> Result<()> {
    let (here, there) = (context(), context());
    let stream = here.new_stream()?;
    let source = stream.clone_htod(&[1u32, 2, 3])?;
    let mut destination = there.alloc_zeros::<u32>(3)?;
    let graph = here.new_graph()?;
    let node = graph.add_copy_peer(&[], &source, &mut destination)?;
    let exec = graph.instantiate()?;
    exec.launch(&stream)?;
    stream.synchronize()?;
    let other = there.default_stream()?;
    assert_eq!(other.clone_dtoh(&destination)?, [1, 2, 3]);
    graph.set_copy_peer(node, &source.view(2..)?, &mut destination.view_mut(0..1)?)?;
    exec.update_node(&graph, node)?;
    exec.launch(&stream)?;
    stream.synchronize()?;
    assert_eq!(other.clone_dtoh(&destination)?, [3, 2, 3]);
    let short = graph.add_copy_peer(&[], &source, &mut destination.view_mut(1..)?);
    expect_error(short, Status::ERROR_INVALID_ARGUMENT, "destination 2");
    Ok(())
}

/// Counts how often it was called, and how many of it there are.
fn counting(calls: &Arc<AtomicU32>) -> impl Fn(Result<()>) + Send + Sync + 'static + use<> {
    let calls = Arc::clone(calls);
    move |result| {
        assert!(result.is_ok());
        calls.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn host_functions_live_while_a_launch_may_call_them() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let calls = Arc::new(AtomicU32::new(0));
    let (gate, opened) = mpsc::channel::<()>();
    stream.add_callback(move |_| assert!(opened.recv().is_err()))?; // what follows waits
    let graph = context.new_graph()?;
    graph.add_host(&[], counting(&calls))?;
    let exec = graph.instantiate()?;
    drop(graph);
    for _ in 0..10 {
        exec.launch(&stream)?;
    }
    drop(exec);
    assert_eq!(Arc::strong_count(&calls), 2);
    drop(gate);
    stream.synchronize()?;
    // The function that frees it runs before the wait is over, or right after it on that thread.
    stream.add_callback(|_| {})?;
    stream.synchronize()?;
    assert_eq!((calls.load(Ordering::Relaxed), Arc::strong_count(&calls)), (10, 1));
    Ok(())
}

#[test]
fn host_functions_are_replaced_and_freed() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let (first, second, third) =
        (Arc::<AtomicU32>::default(), Arc::<AtomicU32>::default(), Arc::<AtomicU32>::default());
    let graph = context.new_graph()?;
    let node = graph.add_host(&[], counting(&first))?;
    let exec = graph.instantiate()?;
    graph.set_host(node, counting(&second))?;
    exec.launch(&stream)?; // the first one: the update comes later
    exec.update_node(&graph, node)?;
    exec.launch(&stream)?;
    let clone = graph.try_clone()?;
    let parent = context.new_graph()?;
    let child = parent.add_child(&[], &clone)?;
    graph.set_host(node, counting(&third))?;
    assert_eq!(exec.compare(&graph)?, (GraphDifference::NONE, None));
    exec.update(&graph)?;
    exec.launch(&stream)?;
    run(&context, &parent)?;
    stream.synchronize()?;
    let all = [&first, &second, &third];
    assert_eq!(all.map(|calls| calls.load(Ordering::Relaxed)), [1, 2, 1]);
    let inner = parent.node_child(child)?;
    drop((clone, parent));
    run(&context, &inner)?;
    drop(inner);
    graph.remove_node(node)?;
    drop((graph, exec));
    context.synchronize()?;
    stream.add_callback(|_| {})?;
    stream.synchronize()?;
    assert_eq!(second.load(Ordering::Relaxed), 3);
    assert_eq!(all.map(Arc::strong_count), [1, 1, 1]);
    Ok(())
}

#[test]
fn a_host_function_may_panic_but_not_wait() -> Result<()> {
    let context = context();
    let (sender, receiver) = mpsc::channel();
    let inner = context.new_stream()?;
    let buffer = context.alloc_graph_buffer::<u32>(1)?;
    let mut slice = context.alloc_zeros::<u32>(1)?;
    let graph = context.new_graph()?;
    let upload = graph.add_upload(&[], &buffer, &mut slice)?;
    let panics = graph.add_host(&[upload], |_| panic!("a panic on purpose"))?;
    let waits = buffer.clone();
    graph.add_host(&[panics], move |_| {
        assert!(sender.send((inner.synchronize(), waits.lock().map(drop))).is_ok());
    })?;
    run(&context, &graph)?;
    let (waited, locked) = receiver.recv().expect("the second function");
    expect_error(waited, Status::ERROR_NOT_PERMITTED, "");
    expect_error(locked, Status::ERROR_NOT_PERMITTED, "");
    Ok(())
}

#[test]
fn program_and_graph_take_turns_with_a_buffer() -> Result<()> {
    let context = context();
    let (stream, other) = (context.new_stream()?, context.new_stream()?);
    let numbers = buffer(&context, &[1u32; 1000])?;
    let mut slice = context.alloc_zeros::<u32>(1000)?;
    let graph = context.new_graph()?;
    graph.add_download(&[], &slice, &numbers)?;
    let exec = graph.instantiate()?;
    let guard = numbers.lock()?;
    let denied = Status::ERROR_NOT_PERMITTED;
    expect_error(numbers.lock(), denied, "locked");
    expect_error(exec.launch(&stream), denied, "locked");
    assert_eq!(guard[..], [1; 1000]);
    drop(guard);
    // Two launches in two streams, the later one behind a gate.
    let (gate, opened) = mpsc::channel::<()>();
    stream.fill(&mut slice, 5u32)?;
    stream.synchronize()?;
    exec.launch(&stream)?;
    other.add_callback(move |_| assert!(opened.recv().is_err()))?;
    other.fill(&mut slice, 6u32)?;
    exec.launch(&other)?;
    let opener = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(20));
        drop(gate);
    });
    assert_eq!(numbers.lock()?[..], [6; 1000]);
    assert!(opener.join().is_ok());
    Ok(())
}

#[test]
fn a_buffer_stays_closed_after_a_fault() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let wild = function(&context, "wild");
    let numbers = buffer(&context, &[1u32])?;
    let slice = context.alloc_zeros::<u32>(1)?;
    let graph = context.new_graph()?;
    let mut kernel = graph.kernel_node(&wild);
    kernel.arg(&0x10u64);
    // SAFETY: the fault is the point of the test.
    let kernel = unsafe { kernel.add(&[], ONE) }?;
    graph.add_download(&[kernel], &slice, &numbers)?;
    let exec = graph.instantiate()?;
    let fault = Status::ERROR_ILLEGAL_ADDRESS;
    if let Err(error) = exec.launch(&stream) {
        assert_eq!(error.status(), fault); // the kernel was faster than the call
    }
    expect_error(numbers.lock(), fault, "wild");
    context.reset()?;
    match numbers.lock() {
        Ok(_) => panic!("the buffer is open though its launch was lost"),
        Err(error) => assert!([fault, Status::ERROR_CONTEXT_LOST].contains(&error.status())),
    }
    expect_error(exec.launch(&stream), Status::ERROR_CONTEXT_LOST, "reset");
    expect_error(graph.nodes(), Status::ERROR_CONTEXT_LOST, "reset");
    Ok(())
}

#[test]
fn updates_of_another_topology_are_refused() -> Result<()> {
    let context = context();
    let mut slice = context.alloc_zeros::<u32>(1)?;
    let graph = context.new_graph()?;
    let fill = graph.add_fill(&[], &mut slice, 1u32)?;
    let exec = graph.instantiate()?;
    let empty = graph.add_empty(&[fill])?;
    assert_eq!(exec.compare(&graph)?, (GraphDifference::NODE_COUNT, Some(empty)));
    let mismatch = Status::ERROR_GRAPH_MISMATCH;
    expect_error(exec.update(&graph), mismatch, "node 2");
    expect_error(exec.update_node(&graph, empty), mismatch, "node 2");
    let stream = context.new_stream()?;
    exec.launch(&stream)?; // as before
    assert_eq!(stream.clone_dtoh(&slice)?, [1]);
    Ok(())
}

#[test]
fn graphs_are_used_from_many_threads() -> Result<()> {
    let context = context();
    let graph = context.new_graph()?;
    let calls = Arc::<AtomicU32>::default();
    let (input, output) = (buffer(&context, &[0u32; 64])?, buffer(&context, &[0u32; 64])?);
    let mut slice = context.alloc_zeros::<u32>(64)?;
    let upload = graph.add_upload(&[], &input, &mut slice)?;
    graph.add_download(&[upload], &slice, &output)?;
    let host = graph.add_host(&[], counting(&calls))?;
    let exec = graph.instantiate()?;
    let launched = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let (context, exec, graph, input, output) = (&context, &exec, &graph, &input, &output);
            let (launched, calls) = (&launched, &calls);
            scope.spawn(move || -> Result<()> {
                let stream = context.new_stream()?;
                for round in 0..100 {
                    match input.lock() {
                        Ok(mut elements) => elements.fill(thread * 1000 + round),
                        Err(error) => assert_eq!(error.status(), Status::ERROR_NOT_PERMITTED),
                    }
                    match exec.launch(&stream) {
                        Ok(()) => assert!(launched.fetch_add(1, Ordering::Relaxed) < 400),
                        Err(error) => assert_eq!(error.status(), Status::ERROR_NOT_PERMITTED),
                    }
                    if let Ok(elements) = output.lock() {
                        assert_eq!(elements[..], [elements[0]; 64]); // never torn
                    }
                    graph.set_host(host, counting(calls))?;
                    exec.update_node(graph, host)?;
                }
                stream.synchronize()
            });
        }
    });
    context.synchronize()?;
    assert_eq!(calls.load(Ordering::Relaxed), launched.load(Ordering::Relaxed));
    Ok(())
}
