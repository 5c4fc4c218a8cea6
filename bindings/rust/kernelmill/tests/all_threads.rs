//! All services from eight threads at once, on one context: each thread's results are right.

mod common;
#[path = "common/executor.rs"]
mod executor;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use common::{context, expect_error, module};
use executor::block_on;
use kernelmill::blas::{Blas, Layout, Matrix, MatrixMut};
use kernelmill::{
    Context, ContextLimit, Device, Function, LaunchConfig, MapFlags, PinnedMemory, Pool, Program,
    Result, Slice, Status, Stream, Tracking, TuneBufferFlags, Tuner, WaitCondition,
};

const THREADS: u32 = 8;
const ROUNDS: u32 = 40;
const LEN: usize = 1000;

/// The objects that the threads have in common, and one number of each.
struct Shared {
    stream: Stream,
    pool: Pool,
    scale: Function,
    file: PathBuf,
    context: Context,
}

struct Worker<'a> {
    shared: &'a Shared,
    number: f32,
}

fn count(calls: &AtomicUsize) {
    calls.fetch_add(1, Ordering::Relaxed);
}

type Service = fn(&Worker<'_>) -> Result<()>;

/// One entry for each kind of object.
const SERVICES: [Service; 15] = [
    slices,
    pinned_copies,
    pools,
    rows,
    files,
    launches,
    kept_launches,
    graphs,
    captures,
    matrices,
    profiles,
    modules,
    events_and_values,
    failures,
    devices,
];

fn config() -> LaunchConfig {
    LaunchConfig::for_num_elems(LEN as u32)
}

impl Worker<'_> {
    fn expect(&self, stream: &Stream, slice: &Slice<f32>, value: f32) -> Result<()> {
        let seen = stream.clone_dtoh(slice)?;
        let wrong = seen.iter().position(|element| *element != value);
        assert_eq!(wrong, None, "thread {} expected {value}", self.number);
        Ok(())
    }
}

fn slices(worker: &Worker<'_>) -> Result<()> {
    let Shared { context, stream, .. } = worker.shared;
    let mut slice = stream.clone_htod(&[worker.number; LEN])?;
    let copy = stream.clone_dtod(&slice)?;
    worker.expect(stream, &copy, worker.number)?;
    let owned = Slice::from_vec(context, vec![2.0 * worker.number; LEN])?;
    stream.memcpy_dtod(&owned, &mut slice)?;
    let (left, right) = slice.into_halves(LEN / 2)?;
    drop(left);
    worker.expect(stream, &right, 2.0 * worker.number)
}

fn pinned_copies(worker: &Worker<'_>) -> Result<()> {
    let Shared { context, stream, .. } = worker.shared;
    let host = PinnedMemory::from_vec(context, vec![worker.number; LEN])?;
    let mut slice = context.alloc::<f32>(LEN)?;
    let host = stream.memcpy_htod_async(host, &mut slice)?.wait()?;
    drop(stream.memcpy_htod_async(host, &mut slice)?);
    let copy = stream.clone_dtoh_async(&slice)?;
    let copy = block_on(async { copy.await })?;
    assert!(copy.iter().all(|element| *element == worker.number));
    Ok(())
}

fn pools(worker: &Worker<'_>) -> Result<()> {
    let Shared { stream, pool, .. } = worker.shared;
    let mut slice = pool.alloc_on::<f32>(stream, LEN)?;
    stream.fill(&mut slice, worker.number)?;
    worker.expect(stream, &slice, worker.number)?;
    slice.free_on(stream)?;
    assert!(pool.info()?.used_high_bytes >= 4 * LEN as u64);
    pool.trim(0)
}

fn rows(worker: &Worker<'_>) -> Result<()> {
    let Shared { context, stream, .. } = worker.shared;
    let mut picture = context.alloc_pitched::<f32>(10, 7)?;
    stream.fill_pitched(&mut picture, worker.number)?;
    assert_eq!(stream.clone_dtoh_2d(&picture)?, [worker.number; 70]);
    Ok(())
}

fn files(worker: &Worker<'_>) -> Result<()> {
    let Shared { context, stream, file, .. } = worker.shared;
    let slice = context.map_slice::<f32>(file, 0, None, MapFlags::READ_ONLY)?;
    worker.expect(stream, &slice, 7.0)?;
    let host = context.map_host::<f32>(file, 0, None, MapFlags::READ_ONLY)?;
    assert_eq!(host.len(), LEN);
    Ok(())
}

fn launches(worker: &Worker<'_>) -> Result<()> {
    let Shared { context, stream, scale, .. } = worker.shared;
    let own = context.new_stream_with_priority(-1)?;
    let mut slice = own.clone_htod(&[worker.number; LEN])?;
    for stream in [&own, stream] {
        let mut launch = stream.launch_builder(scale);
        launch.arg(&mut slice).arg(&2f32).arg(&(LEN as i32));
        // SAFETY: the kernel stays within its elements.
        unsafe { launch.launch(config())? };
    }
    let mut launch = own.launch_builder(scale);
    launch.cooperative().arg(&mut slice).arg(&0.5f32).arg(&(LEN as i32));
    // SAFETY: the same.
    block_on(unsafe { launch.launch_async(config())? })?;
    worker.expect(&own, &slice, 2.0 * worker.number)?;
    assert!(scale.occupancy(256, 0)?.active_blocks > 0);
    Ok(())
}

fn kept_launches(worker: &Worker<'_>) -> Result<()> {
    let Shared { stream, scale, .. } = worker.shared;
    let mut slice = stream.clone_htod(&[worker.number; LEN])?;
    let mut launch = stream.prepare_launch(scale)?;
    launch.set_config(config())?;
    launch.arg_slice_mut(&mut slice)?;
    launch.arg_scalar(&2f32)?;
    launch.arg_scalar(&(LEN as i32))?;
    for _ in 0..3 {
        // SAFETY: the kernel stays within its elements.
        unsafe { launch.submit() }?;
    }
    worker.expect(stream, &slice, 8.0 * worker.number)
}

fn graphs(worker: &Worker<'_>) -> Result<()> {
    let Shared { context, stream, scale, .. } = worker.shared;
    let mut slice = context.alloc_zeros::<f32>(LEN)?;
    let (input, output) = (context.alloc_graph_buffer(LEN)?, context.alloc_graph_buffer(LEN)?);
    let calls = Arc::new(AtomicUsize::new(0));
    let graph = context.new_graph()?;
    let upload = graph.add_upload(&[], &input, &mut slice)?;
    let mut kernel = graph.kernel_node(scale);
    kernel.arg(&mut slice).arg(&3f32).arg(&(LEN as i32));
    // SAFETY: the kernel stays within its elements.
    let kernel = unsafe { kernel.add(&[upload], config())? };
    graph.add_download(&[kernel], &slice, &output)?;
    let counted = Arc::clone(&calls);
    graph.add_host(&[kernel], move |_| count(&counted))?;
    let exec = graph.try_clone()?.instantiate()?;
    for turn in 1..=3 {
        let number = turn as f32 * worker.number;
        input.lock()?.fill(number);
        exec.launch(stream)?;
        assert!(output.lock()?.iter().all(|element| *element == 3.0 * number));
    }
    block_on(stream.finished())?;
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    assert!(graph.dot()?.contains("scale"));
    Ok(())
}

fn captures(worker: &Worker<'_>) -> Result<()> {
    let Shared { context, stream, .. } = worker.shared;
    let (mut a, mut b) = (context.alloc_zeros::<f32>(LEN)?, context.alloc_zeros::<f32>(LEN)?);
    let capture = context.begin_capture()?;
    let branch = capture.fork()?;
    branch.fill(&mut a, worker.number)?;
    capture.fill(&mut b, 0f32)?;
    capture.join(branch)?;
    capture.memcpy_dtod(&a, &mut b)?;
    let exec = capture.end()?.instantiate()?;
    block_on(exec.launch_async(stream)?)?;
    worker.expect(stream, &b, worker.number)
}

fn matrices(worker: &Worker<'_>) -> Result<()> {
    let Shared { stream, .. } = worker.shared;
    let blas = Blas::new(stream, Layout::ROWS)?;
    let numbers = stream.clone_htod(&[worker.number; 64])?;
    let mut product = stream.alloc_zeros::<f32>(64)?;
    let a = Matrix::new(Layout::ROWS, &numbers, 8, 8)?;
    let mut c = MatrixMut::new(Layout::ROWS, &mut product, 8, 8)?;
    blas.gemm(0.5, &a, &a, 0.0, &mut c)?;
    worker.expect(stream, &product, 4.0 * worker.number * worker.number)
}

fn profiles(worker: &Worker<'_>) -> Result<()> {
    let Shared { context, stream, .. } = worker.shared;
    let profiler = context.profiler();
    profiler.start()?;
    let slice = profiler.in_range("range", || stream.clone_htod(&[worker.number; LEN]))??;
    assert!(profiler.rows()?.iter().any(|row| row.name == "range" && row.count > 0));
    context.set_tracking(Tracking::ON)?;
    let tracked = context.alloc::<f32>(LEN)?;
    tracked.set_tag(&format!("of thread {}", worker.number))?;
    assert!(!context.allocations()?.is_empty());
    assert!(context.memory_profile()?.peak_bytes > 0);
    assert!(context.memory_info()?.1 > 0);
    worker.expect(stream, &slice, worker.number)
}

fn modules(worker: &Worker<'_>) -> Result<()> {
    let Shared { context, stream, .. } = worker.shared;
    let ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.global .f32 number;\n\
               .visible .entry empty()\n{\n  ret;\n}\n";
    let module = context.load_ptx(ptx)?;
    let empty = module.load_function("empty")?;
    assert_eq!(module.function_names()?, ["empty"]);
    let mut number = module.global::<f32>("number")?;
    stream.fill(&mut number, worker.number)?;
    // SAFETY: the kernel does nothing.
    unsafe { stream.launch_builder(&empty).launch(config())? };
    worker.expect(stream, &number, worker.number)?;
    assert_eq!(empty.name()?, "empty");
    let program = Program::new("")?;
    program.add_option("-DN=4")
}

fn events_and_values(worker: &Worker<'_>) -> Result<()> {
    let Shared { context, .. } = worker.shared;
    let (first, second) = (context.new_stream()?, context.new_stream()?);
    let mut flag = context.alloc_zeros::<u32>(1)?;
    second.wait_value(&flag, 0, WaitCondition::EQUAL, 9)?;
    let (start, called) = (first.record_event()?, Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&called);
    second.add_callback(move |_| count(&counted))?;
    first.write_value(&mut flag, 0, 9)?;
    let end = second.record_event()?;
    block_on(end.wait())?;
    assert_eq!(called.load(Ordering::Relaxed), 1);
    assert!(start.elapsed_ns(&end)?.is_some_and(|elapsed| elapsed >= 0));
    first.wait(&end)?;
    first.synchronize()
}

fn failures(worker: &Worker<'_>) -> Result<()> {
    let Shared { context, .. } = worker.shared;
    let name = format!("no/such-{}.cu", worker.number);
    expect_error(context.load_file(&name), Status::ERROR_NOT_FOUND, &name);
    let last = kernelmill::take_last_error()?.expect("an error of this thread");
    assert!(last.message().contains(&name), "{last}");
    assert!(!context.error_history()?.is_empty() && !context.error_counts()?.is_empty());
    context.limit(ContextLimit::STACK_BYTES).map(drop)
}

fn devices(worker: &Worker<'_>) -> Result<()> {
    let device = Device::open("cpu")?;
    let context = Context::new(&device)?;
    let stream = context.default_stream()?;
    worker.expect(&stream, &stream.clone_htod(&[worker.number; LEN])?, worker.number)?;
    let mut tuner = Tuner::new(&device, "no source", "kernel")?;
    tuner.add_buffer(&[worker.number], TuneBufferFlags::DEFAULT)?;
    assert!(!kernelmill::device_attributes()?.is_empty());
    context.reset()?;
    expect_error(stream.synchronize(), Status::ERROR_CONTEXT_LOST, "reset");
    context.default_stream()?.synchronize()
}

#[test]
fn every_service_on_every_thread() -> Result<()> {
    let context = context();
    let file = std::env::temp_dir().join(format!("kernelmill-{}-threads", std::process::id()));
    let bytes: Vec<u8> = std::iter::repeat_n(7f32.to_ne_bytes(), LEN).flatten().collect();
    std::fs::write(&file, bytes).expect("a file");
    context.start_memory_profile(Duration::from_millis(1))?;
    let shared = Shared {
        stream: context.new_stream()?,
        pool: context.new_pool(None)?,
        scale: module(&context).load_function("scale")?,
        context,
        file,
    };
    let run = |thread: u32| -> Result<()> {
        let worker = Worker { shared: &shared, number: (thread + 1) as f32 };
        for round in 0..ROUNDS {
            for index in 0..SERVICES.len() {
                // Each thread in an order of its own.
                let service = (index * (thread as usize + 1) + round as usize) % SERVICES.len();
                SERVICES[service](&worker)?;
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|thread| {
                scope.spawn({
                    let run = &run;
                    move || run(thread)
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no panic"))
    })?;
    std::fs::remove_file(&shared.file).expect("the file");
    shared.context.stop_memory_profile()?;
    shared.context.profiler().stop()
}
