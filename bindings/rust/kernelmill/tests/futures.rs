//! Waiting by futures: on tokio, on smol and by hand; dropped at any time; with errors.

mod common;
#[path = "common/executor.rs"]
mod executor;

use std::future::IntoFuture;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context as TaskContext, Poll, Wake, Waker};
use std::time::Duration;

use common::{context, expect_error, function};
use executor::block_on;
use kernelmill::{Context, Function, LaunchConfig, Result, Slice, Status, Stream, WaitCondition};

const ONE: LaunchConfig =
    LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };

/// Copies there and back, and a kernel between, with all kinds of waits.
async fn round_trip(context: &Context, scale: &Function) -> Result<()> {
    let stream = context.new_stream()?;
    let mut host = context.alloc_pinned::<f32>(1000)?;
    host.iter_mut().enumerate().for_each(|(index, element)| *element = index as f32);
    let mut slice = stream.alloc_zeros(1000)?;
    let mut host = stream.memcpy_htod_async(host, &mut slice)?.await?;
    host.fill(7.0);
    let mut launch = stream.launch_builder(scale);
    launch.arg(&mut slice).arg(&2f32).arg(&1000i32);
    // SAFETY: the kernel stays within its thousand elements.
    unsafe { launch.launch_async(LaunchConfig::for_num_elems(1000)) }?.await?;
    stream.finished().await?;
    let host = stream.memcpy_dtoh_async(&slice, host)?.await?;
    stream.record_event()?.wait().await?;
    let again = stream.clone_dtoh_async(&slice)?.await?;
    let right = |element: &f32, index: usize| *element == 2.0 * index as f32;
    assert!(host.iter().zip(0..).all(|(element, index)| right(element, index)));
    assert!(again.iter().zip(0..).all(|(element, index)| right(element, index)));
    Ok(())
}

#[test]
fn they_run_on_any_executor() -> Result<()> {
    let context = context();
    let scale = function(&context, "scale");
    block_on(round_trip(&context, &scale))?;
    smol::block_on(round_trip(&context, &scale))?;
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(round_trip(&context, &scale))
}

#[test]
fn tasks_wait_beside_each_other() {
    let context = context();
    let scale = function(&context, "scale");
    let shared = Arc::new((context, scale));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let tasks: Vec<_> = (0..64)
        .map(|_| {
            let shared = Arc::clone(&shared);
            runtime.spawn(async move { round_trip(&shared.0, &shared.1).await })
        })
        .collect();
    for task in tasks {
        runtime.block_on(task).expect("no panic").expect("right results");
    }
}

/// Keeps a stream busy until it is dropped. (A callback that waits would keep all others waiting.)
struct Hold {
    flag: Slice<u32>,
    writer: Stream,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.writer.write_value(&mut self.flag, 0, 1).expect("a number that is written");
    }
}

/// A stream that is busy while the hold is there.
fn busy(context: &Context) -> Result<(Stream, Hold)> {
    let stream = context.new_stream()?;
    let hold = Hold { flag: context.alloc_zeros(1)?, writer: context.new_stream()? };
    stream.wait_value(&hold.flag, 0, WaitCondition::EQUAL, 1)?;
    Ok((stream, hold))
}

#[test]
fn a_future_is_pending_until_the_work_is_done() -> Result<()> {
    let context = context();
    let (stream, hold) = busy(&context)?;
    let event = stream.record_event()?;
    let mut finished = pin!(stream.finished());
    let mut marked = pin!(event.wait());
    let mut task = TaskContext::from_waker(Waker::noop());
    assert!(finished.as_mut().poll(&mut task).is_pending());
    assert!(marked.as_mut().poll(&mut task).is_pending());
    drop(hold);
    block_on(finished.as_mut())?;
    block_on(marked.as_mut())?;
    assert!(finished.as_mut().poll(&mut task).is_pending()); // it has given its result
    let mut known = pin!(event.wait());
    assert!(known.as_mut().poll(&mut task).is_ready());
    assert!(known.as_mut().poll(&mut task).is_pending());
    Ok(())
}

#[test]
fn an_event_is_awaited_as_it_was_marked() -> Result<()> {
    let context = context();
    let (first, hold) = busy(&context)?;
    let (second, hold_longer) = busy(&context)?;
    let event = first.record_event()?;
    let marked = event.wait();
    event.record(&second)?;
    drop(hold);
    block_on(marked)?;
    assert!(!second.is_done()?);
    drop(hold_longer);
    block_on(event.wait())
}

#[test]
fn a_graph_is_awaited() -> Result<()> {
    let context = context();
    let (stream, hold) = busy(&context)?;
    let mut slice = context.alloc_zeros::<u32>(1000)?;
    let graph = context.new_graph()?;
    graph.add_fill(&[], &mut slice, 9)?;
    let exec = graph.instantiate()?;
    let mut launched = pin!(exec.launch_async(&stream)?);
    let mut task = TaskContext::from_waker(Waker::noop());
    assert!(launched.as_mut().poll(&mut task).is_pending());
    drop(hold);
    block_on(launched)?;
    // The call that wakes the task is itself in the stream, which is done soon after.
    assert!(stream.synchronize_timeout(Duration::from_secs(60))? && stream.is_done()?);
    assert_eq!(stream.clone_dtoh(&slice)?, [9; 1000]);
    Ok(())
}

/// A callback that is captured would be called by each launch of the graph.
#[test]
fn what_is_captured_is_not_awaited() -> Result<()> {
    let context = context();
    let empty = function(&context, "empty");
    let capture = context.begin_capture()?;
    // SAFETY: the kernel does nothing.
    let ended = unsafe { capture.launch_builder(&empty).launch_async(ONE) };
    expect_error(ended, Status::ERROR_CAPTURE_UNSUPPORTED, "capture");
    let capture = context.begin_capture()?;
    capture.add_callback(|_| {})?;
    // SAFETY: nothing is queued by it.
    let mut finished = pin!(unsafe { capture.stream() }.finished());
    let mut task = TaskContext::from_waker(Waker::noop());
    assert!(matches!(finished.as_mut().poll(&mut task), Poll::Ready(Err(_))));
    Ok(())
}

/// Counts its calls.
#[derive(Default)]
struct Counter(AtomicUsize);

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn dropped_futures_lose_nothing_and_wake_nobody() -> Result<()> {
    let context = context();
    let (stream, hold) = busy(&context)?;
    let mut host = context.alloc_pinned::<u32>(1 << 20)?;
    host.fill(3);
    let mut slice = stream.alloc_zeros::<u32>(1 << 20)?;
    let mut copy = Box::pin(stream.memcpy_htod_async(host, &mut slice)?.into_future());
    let mut finished = Box::pin(stream.finished());
    let woken = Arc::new(Counter::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut task = TaskContext::from_waker(&waker);
    assert!(copy.as_mut().poll(&mut task).is_pending());
    assert!(finished.as_mut().poll(&mut task).is_pending());
    drop(waker);
    drop((copy, finished, stream.finished()));
    assert_eq!(Arc::strong_count(&woken), 1); // the wakers are gone with them
    drop(hold);
    block_on(stream.finished())?;
    assert_eq!(stream.clone_dtoh(&slice)?.iter().filter(|word| **word != 3).count(), 0);
    assert_eq!(woken.0.load(Ordering::Relaxed), 0);
    Ok(())
}

#[test]
fn a_future_wakes_the_task_that_polled_it_last() -> Result<()> {
    let context = context();
    let (stream, hold) = busy(&context)?;
    let mut finished = Box::pin(stream.finished());
    let (first, second) = (Arc::new(Counter::default()), Arc::new(Counter::default()));
    for counter in [&first, &first, &second] {
        let waker = Waker::from(Arc::clone(counter));
        assert!(finished.as_mut().poll(&mut TaskContext::from_waker(&waker)).is_pending());
    }
    drop(hold);
    while !stream.is_done()? {
        std::thread::yield_now();
    }
    let mut task = TaskContext::from_waker(Waker::noop());
    assert!(finished.as_mut().poll(&mut task).is_ready());
    assert_eq!((first.0.load(Ordering::Relaxed), second.0.load(Ordering::Relaxed)), (0, 1));
    Ok(())
}

/// Futures that end at random moments are dropped, polled or awaited, by four threads.
#[test]
fn futures_are_dropped_at_any_time() {
    let context = context();
    let hold = context.alloc_zeros::<u32>(1 << 12).expect("memory");
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let (context, hold) = (&context, &hold);
            scope.spawn(move || {
                let stream = context.new_stream().expect("a stream");
                let mut task = TaskContext::from_waker(Waker::noop());
                for turn in 0..2000u32 {
                    let copy = stream.clone_dtoh_async(hold).expect("a copy");
                    let mut copy = Box::pin(copy.into_future());
                    (0..(turn * 7 + thread) % 5).for_each(|_| {
                        let _ = copy.as_mut().poll(&mut task);
                    });
                    if turn % 8 == 0 {
                        block_on(stream.finished()).expect("no error");
                    }
                }
            });
        }
    });
}

#[test]
fn faults_come_out_of_the_future() -> Result<()> {
    let context = context();
    let (stream, hold) = busy(&context)?;
    let wild = function(&context, "wild");
    let mut launch = stream.launch_builder(&wild);
    launch.arg(&64u64);
    // SAFETY: the device notices the wrong address.
    let ended = unsafe { launch.launch_async(ONE) }?;
    let copy = stream.clone_dtoh_async(&context.alloc_zeros::<u32>(4)?)?;
    drop(hold);
    let fault = Status::ERROR_ILLEGAL_ADDRESS;
    expect_error(block_on(ended), fault, "wild");
    expect_error(block_on(copy.into_future()), fault, "wild");
    expect_error(block_on(stream.finished()), fault, "wild");
    context.reset()?;
    expect_error(block_on(stream.finished()), Status::ERROR_CONTEXT_LOST, "reset");
    block_on(context.new_stream()?.finished())
}

#[test]
fn a_reset_ends_the_waiting() -> Result<()> {
    let context = context();
    let (stream, hold) = busy(&context)?;
    let futures = [stream.finished(), stream.record_event()?.wait()];
    context.reset()?;
    for future in futures {
        assert!(block_on(future).is_err());
    }
    std::mem::forget(hold); // its stream and slice are lost
    Ok(())
}
