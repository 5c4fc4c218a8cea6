//! The cost of awaiting: wake_up EMPTY.ptx. See ../../../README.md.

use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context as TaskContext, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Instant;

use kernelmill::{Context, Function, LaunchConfig, Result, Stream};

const LAUNCHES: usize = 5000;
const ONE: LaunchConfig =
    LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };

/// Wakes a thread and notes when.
struct TimedWaker {
    thread: Thread,
    start: Instant,
    woken_ns: AtomicU64,
}

impl Wake for TimedWaker {
    fn wake(self: Arc<Self>) {
        self.woken_ns.store(self.start.elapsed().as_nanos() as u64, Ordering::Release);
        self.thread.unpark();
    }
}

/// Launches and awaits the end; gives the nanoseconds from the call of the waker until the task
/// runs, or none where the work was done before it was polled.
fn await_launch(stream: &Stream, empty: &Function, timed: &Arc<TimedWaker>) -> Result<Option<u64>> {
    let waker = Waker::from(Arc::clone(timed));
    let mut task = TaskContext::from_waker(&waker);
    // SAFETY: the kernel does nothing.
    let mut ended = pin!(unsafe { stream.launch_builder(empty).launch_async(ONE) }?);
    let mut has_waited = false;
    loop {
        if let Poll::Ready(result) = ended.as_mut().poll(&mut task) {
            let now = timed.start.elapsed().as_nanos() as u64;
            let woken = timed.woken_ns.load(Ordering::Acquire);
            return result.map(|()| has_waited.then(|| now.saturating_sub(woken)));
        }
        has_waited = true;
        thread::park();
    }
}

fn report(metric: &str, mut times: Vec<u64>) {
    times.sort_unstable();
    if let Some(median) = times.get(times.len() / 2) {
        println!("{{\"metric\": \"{metric}\", \"unit\": \"ns\", \"value\": {median}}}");
    }
}

fn run(ptx: &str) -> Result<()> {
    let context = Context::open("cpu:0")?;
    let stream = context.new_stream()?;
    let empty = context.load_file(ptx)?.load_function("empty")?;
    let (thread, start) = (thread::current(), Instant::now());
    let timed = Arc::new(TimedWaker { thread, start, woken_ns: AtomicU64::new(0) });
    let (mut wake_ups, mut awaits, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..LAUNCHES {
        let begin = Instant::now();
        wake_ups.extend(await_launch(&stream, &empty, &timed)?);
        awaits.push(begin.elapsed().as_nanos() as u64);
        let begin = Instant::now();
        // SAFETY: the kernel does nothing.
        unsafe { stream.launch_builder(&empty).launch(ONE) }?;
        stream.synchronize()?;
        waits.push(begin.elapsed().as_nanos() as u64);
    }
    report("wake_up", wake_ups);
    report("launch_and_await", awaits);
    report("launch_and_synchronize", waits);
    Ok(())
}

fn main() -> ExitCode {
    let Some(ptx) = std::env::args().nth(1) else {
        eprintln!("usage: wake_up EMPTY.ptx");
        return ExitCode::from(2);
    };
    match run(&ptx) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wake_up: {error}");
            ExitCode::FAILURE
        }
    }
}
