//! Captures: what is queued becomes a graph, runs nothing, and keeps what it uses.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use common::{context, expect_error, function};
use kernelmill::blas::Layout;
use kernelmill::{
    CaptureStatus, Extent, LaunchConfig, NodeKind, Result, Rows, Status, WaitCondition,
};

const FOUR: LaunchConfig =
    LaunchConfig { grid_dim: (1, 1, 1), block_dim: (4, 1, 1), shared_mem_bytes: 0 };

#[test]
fn what_is_captured_runs_when_the_graph_does() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let scale = function(&context, "scale");
    let (input, output) =
        (context.alloc_graph_buffer::<f32>(4)?, context.alloc_graph_buffer::<f32>(4)?);
    let (mut a, mut b) = (context.alloc_zeros::<f32>(4)?, context.alloc_zeros::<f32>(4)?);
    let calls = Arc::<AtomicU32>::default();
    let count = Arc::clone(&calls);
    let capture = context.begin_capture()?;
    assert_eq!(capture.status()?, CaptureStatus::ACTIVE);
    capture.upload(&input, &mut a)?;
    let mut launch = capture.launch_builder(&scale);
    launch.arg(&mut a).arg(&3f32).arg(&4i32);
    // SAFETY: the kernel stays within four elements.
    unsafe { launch.launch(FOUR) }?;
    capture.memset_zeros(&mut b)?;
    capture.memcpy_dtod(&a, &mut b)?;
    capture.fill(&mut b.view_mut(0..1)?, 9f32)?;
    capture.memcpy_dtod_3d(
        &a,
        Rows::default(),
        &mut b,
        Rows { offset_bytes: 12, ..Rows::default() },
        Extent::plane(1, 1),
    )?;
    capture.download(&b, &output)?;
    capture.add_callback(move |result| {
        assert!(result.is_ok());
        count.fetch_add(1, Ordering::Relaxed);
    })?;
    let graph = capture.end()?;
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    let exec = graph.instantiate()?;
    drop((graph, a, b));
    for number in 1..4u16 {
        input.lock()?.copy_from_slice(&[f32::from(number), 2., 3., 4.]);
        exec.launch(&stream)?;
        assert_eq!(output.lock()?[..], [9., 6., 9., 3. * f32::from(number)]);
    }
    drop(exec);
    stream.synchronize()?;
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    stream.add_callback(|_| {})?;
    stream.synchronize()?;
    assert_eq!(Arc::strong_count(&calls), 1);
    Ok(())
}

#[test]
fn branches_run_beside_each_other_and_are_joined() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let (mut a, mut b) = (context.alloc_zeros::<u32>(2)?, context.alloc_zeros::<u32>(2)?);
    let capture = context.begin_capture()?;
    let branch = capture.fork()?;
    capture.fill(&mut a, 1u32)?;
    branch.fill(&mut b, 2u32)?;
    capture.join(branch)?;
    capture.memcpy_dtod(&b.view(0..1)?, &mut a.view_mut(1..)?)?;
    let graph = capture.end()?;
    let nodes = graph.nodes()?;
    assert_eq!(graph.dependencies(nodes[2])?.len(), 2);
    assert_eq!(graph.node_info(nodes[2])?.kind, NodeKind::Copy);
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.clone_dtoh(&a)?, [1, 2]);

    let capture = context.begin_capture()?;
    let branch = capture.fork()?;
    branch.fill(&mut b, 2u32)?;
    expect_error(capture.end(), Status::ERROR_CAPTURE_UNJOINED, "joined");
    let capture = context.begin_capture()?;
    let branch = capture.fork()?;
    expect_error(branch.end(), Status::ERROR_NOT_PERMITTED, "another stream");
    capture.end()?;
    Ok(())
}

#[test]
fn a_branch_is_closed_when_its_capture_is_over() -> Result<()> {
    let context = context();
    let buffer = context.alloc_graph_buffer::<u32>(1)?;
    let mut slice = context.alloc_zeros::<u32>(1)?;
    let graph = context.new_graph()?;
    graph.add_upload(&[], &buffer, &mut slice)?;
    let exec = graph.instantiate()?;
    let over = Status::ERROR_NOT_PERMITTED;
    for is_dropped in [false, true] {
        let capture = context.begin_capture()?;
        let branch = capture.fork()?;
        let event = branch.record_event()?;
        capture.wait(&event)?;
        if is_dropped {
            drop(capture);
        } else {
            capture.end()?;
        }
        assert_eq!(branch.status()?, CaptureStatus::NONE);
        expect_error(branch.upload(&buffer, &mut slice), over, "ended");
        expect_error(branch.download(&slice, &buffer), over, "ended");
        expect_error(branch.add_callback(|_| panic!("called")), over, "ended");
        expect_error(branch.launch_graph(&exec), over, "ended");
        expect_error(branch.fill(&mut slice, 1u32), over, "ended");
        expect_error(branch.memset_zeros(&mut slice), over, "ended");
        expect_error(branch.write_value(&mut slice, 0, 1u32), over, "ended");
        expect_error(branch.wait(&event), over, "ended");
        expect_error(branch.fork(), over, "ended");
    }
    Ok(())
}

#[test]
fn captures_of_one_context_stay_apart() -> Result<()> {
    let context = context();
    let (one, two) = (context.begin_capture()?, context.begin_capture()?);
    let event = one.record_event()?;
    expect_error(two.wait(&event), Status::ERROR_CAPTURE_UNSUPPORTED, "another capture");
    assert_eq!(one.status()?, CaptureStatus::INVALIDATED);
    expect_error(one.end(), Status::ERROR_CAPTURE_INVALIDATED, "");
    expect_error(two.end(), Status::ERROR_CAPTURE_INVALIDATED, "");
    Ok(())
}

#[test]
fn a_graph_within_a_capture_keeps_what_it_uses() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let calls = Arc::<AtomicU32>::default();
    let count = Arc::clone(&calls);
    let inner = context.new_graph()?;
    inner.add_host(&[], move |_| assert!(count.fetch_add(1, Ordering::Relaxed) < 2))?;
    let capture = context.begin_capture()?;
    capture.launch_graph(&inner.instantiate()?)?;
    capture.launch_graph(&inner.instantiate()?)?;
    drop(inner);
    let exec = capture.end()?.instantiate()?;
    exec.launch(&stream)?;
    stream.synchronize()?;
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    Ok(())
}

#[test]
fn a_graph_that_is_captured_again_updates_the_first() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let output = context.alloc_graph_buffer::<u32>(2)?;
    let mut slice = context.alloc_zeros::<u32>(2)?;
    let mut exec = None;
    for number in 1..20u32 {
        let other = context.alloc_graph_buffer::<u32>(2)?;
        let capture = context.begin_capture()?;
        capture.fill(&mut slice, number)?;
        capture.download(&slice, &other)?;
        capture.download(&slice, &output)?;
        let graph = capture.end()?;
        match &exec {
            None => exec = Some(graph.instantiate()?),
            Some(exec) => exec.update(&graph)?,
        }
        let Some(exec) = &exec else { continue };
        exec.launch(&stream)?;
        drop(graph);
        assert_eq!(output.lock()?[..], [number; 2]);
        assert_eq!(other.lock()?[..], [number; 2]);
    }
    Ok(())
}

#[test]
fn numbers_and_other_contexts_can_be_captured() -> Result<()> {
    let (context, other) = (context(), context());
    let stream = context.new_stream()?;
    let mut flag = context.alloc_zeros::<u32>(2)?;
    let mut there = other.alloc_zeros::<u32>(2)?;
    let capture = context.begin_capture()?;
    capture.write_value(&mut flag, 0, 5u32)?;
    capture.wait_value(&flag, 0, WaitCondition::EQUAL, 5u32)?;
    capture.fill_2d(&mut flag, Rows { offset_bytes: 4, ..Rows::default() }, 1, 1, 8u32)?;
    capture.memcpy_peer(&flag, &mut there)?;
    capture.end()?.instantiate()?.launch(&stream)?;
    stream.synchronize()?;
    assert_eq!(other.default_stream()?.clone_dtoh(&there)?, [5, 8]);
    Ok(())
}

#[test]
fn a_stream_of_the_program_can_be_captured_by_unsafe_code() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let mut slice = context.alloc_zeros::<u32>(2)?;
    assert_eq!(stream.capture_status()?, CaptureStatus::NONE);
    expect_error(stream.end_capture(), Status::ERROR_NOT_PERMITTED, "not being captured");
    // SAFETY: what is queued uses memory of the device only.
    unsafe { stream.begin_capture() }?;
    assert_eq!(stream.capture_status()?, CaptureStatus::ACTIVE);
    stream.fill(&mut slice, 3u32)?;
    let graph = stream.end_capture()?;
    assert_eq!(stream.clone_dtoh(&slice)?, [0, 0]);
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.clone_dtoh(&slice)?, [3, 3]);

    let capture = context.begin_capture()?;
    // SAFETY: what is queued uses memory of the device only.
    unsafe { capture.stream() }.fill(&mut slice, 4u32)?;
    assert_eq!(capture.end()?.nodes()?.len(), 1);
    Ok(())
}

#[test]
fn blas_calls_are_nodes() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let mut x = stream.clone_htod(&[1.0f64; 4])?;
    let mut sum = context.alloc_zeros::<f64>(1)?;
    let capture = context.begin_capture()?;
    let blas = capture.blas(Layout::ROWS)?;
    blas.scal(2.0, &mut x)?;
    blas.asum(&x, &mut sum)?;
    let graph = capture.end()?;
    assert_eq!(stream.clone_dtoh(&x)?, [1.0; 4]); // nothing has run
    let exec = graph.instantiate()?;
    assert_eq!(graph.nodes()?.len(), 2);
    exec.launch(&stream)?;
    exec.launch(&stream)?;
    assert_eq!((stream.clone_dtoh(&x)?, stream.clone_dtoh(&sum)?), (vec![4.0; 4], vec![16.0]));
    // The object goes on as one of a stream of its own.
    blas.scal(0.5, &mut x)?;
    context.synchronize()?;
    assert_eq!(stream.clone_dtoh(&x)?, [2.0; 4]);
    Ok(())
}
