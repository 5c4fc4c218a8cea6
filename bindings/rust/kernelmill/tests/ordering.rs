//! Safe calls on different streams do not race on the device.

mod common;

use std::thread;

use common::{context, function};
use kernelmill::{Context, Device, LaunchConfig, Result, Slice, Status, Stream};

const LEN: usize = 1 << 20;
const TRIES: u32 = 199;

fn streams(context: &Context) -> Result<(Stream, Stream)> {
    Ok((context.new_stream()?, context.new_stream()?))
}

#[test]
fn contexts_are_ordered_unless_the_caller_takes_that_over() -> Result<()> {
    assert!(context().is_ordered()?);
    let device = Device::open("cpu")?;
    assert!(Context::new(&device)?.is_ordered()?);
    // SAFETY: nothing is done with it.
    assert!(!unsafe { Context::new_unordered(&device) }?.is_ordered()?);
    assert!(context().new_stream()?.context()?.is_ordered()?);
    Ok(())
}

/// A fill on one stream, a download on another, and no event between them.
#[test]
fn a_fill_is_seen_on_another_stream() -> Result<()> {
    let context = context();
    let (one, other) = streams(&context)?;
    let mut data = one.alloc_zeros::<u32>(LEN)?;
    for value in 1..=TRIES {
        one.fill(&mut data, value)?;
        let seen = other.clone_dtoh(&data)?;
        let wrong = seen.iter().filter(|word| **word != value).count();
        assert_eq!(wrong, 0, "words that another fill wrote, or none, in try {value}");
    }
    Ok(())
}

/// Memory that one stream is still filling, or that a dropped slice has left behind.
#[test]
fn memory_is_ready_on_every_stream() -> Result<()> {
    let context = context();
    let (one, other) = streams(&context)?;
    for _ in 0..TRIES {
        drop(one.clone_htod(&vec![0xFFFF_FFFFu32; LEN / 4])?);
        let zeros = one.alloc_zeros::<u32>(LEN / 4)?;
        assert!(other.clone_dtoh(&zeros)?.iter().all(|word| *word == 0));
    }
    Ok(())
}

/// What a copy reads is not overwritten before it is done.
#[test]
fn a_write_waits_for_reads() -> Result<()> {
    let context = context();
    let (one, other) = streams(&context)?;
    let mut source = context.alloc_zeros::<u32>(LEN)?;
    let mut copy = context.alloc_zeros::<u32>(LEN)?;
    for value in 1..=TRIES {
        one.fill(&mut source, value)?;
        one.memcpy_dtod(&source, &mut copy)?;
        other.memset_zeros(&mut source)?;
        assert!(other.clone_dtoh(&copy)?.iter().all(|word| *word == value));
        assert!(one.clone_dtoh(&source)?.iter().all(|word| *word == 0));
    }
    Ok(())
}

#[test]
fn kernels_wait_for_their_arguments() -> Result<()> {
    let context = context();
    let (one, other) = streams(&context)?;
    let add = function(&context, "add");
    let count = LEN as i32 / 4;
    let mut sum = context.alloc_zeros::<i32>(LEN / 4)?;
    let mut expected = 0i32;
    let ones = one.clone_htod(&vec![1i32; LEN / 4])?;
    let mut before = context.alloc_zeros::<i32>(LEN / 4)?;
    for round in 0..TRIES {
        let (stream, next) = if round % 2 == 0 { (&one, &other) } else { (&other, &one) };
        next.memcpy_dtod(&sum, &mut before)?;
        let mut launch = stream.launch_builder(&add);
        launch.arg(&before).arg(&ones).arg(&mut sum).arg(&count);
        // SAFETY: the kernel stays within its slices, and writes the last one only.
        unsafe { launch.launch(LaunchConfig::for_num_elems(count as u32)) }?;
        expected += 1;
    }
    assert!(one.clone_dtoh(&sum)?.iter().all(|word| *word == expected));
    Ok(())
}

/// Disjoint parts that are written on several streams, and read as a whole.
#[test]
fn parts_are_seen_as_a_whole() -> Result<()> {
    let context = context();
    let (one, other) = streams(&context)?;
    let mut data = context.alloc_zeros::<u32>(LEN)?;
    for value in 1..=TRIES {
        let (mut left, mut right) = data.split_at_mut(LEN / 2)?;
        one.fill(&mut left, value)?;
        other.fill(&mut right, value)?;
        let stream = context.default_stream()?;
        assert!(stream.clone_dtoh(&data)?.iter().all(|word| *word == value));
    }
    Ok(())
}

/// Threads that share what they read, and hand on what they write.
#[test]
fn threads_hand_slices_on() -> Result<()> {
    let context = context();
    let shared = context.default_stream()?.clone_htod(&vec![5u32; LEN / 16])?;
    thread::scope(|scope| {
        let work = |mut own: Slice<u32>| -> Result<Slice<u32>> {
            let stream = context.new_stream()?;
            for _ in 0..100 {
                stream.memcpy_dtod(&shared, &mut own)?;
                stream.fill(&mut own, 9)?;
            }
            Ok(own)
        };
        let slices = (0..4).map(|_| context.alloc_zeros::<u32>(LEN / 16));
        let threads: Vec<_> = slices.map(|slice| scope.spawn(move || work(slice?))).collect();
        for thread in threads {
            let written = thread.join().expect("a thread that ends")?;
            let stream = context.new_stream()?;
            assert!(stream.clone_dtoh(&written)?.iter().all(|word| *word == 9));
        }
        Ok::<(), kernelmill::Error>(())
    })?;
    assert_eq!(context.default_stream()?.clone_dtoh(&shared)?[0], 5);
    Ok(())
}

/// A failure on one stream is returned to all work that waits for it.
#[test]
fn failures_are_told_on_other_streams() -> Result<()> {
    let context = context();
    let (one, other) = streams(&context)?;
    let trap = function(&context, "trap");
    let mut data = context.alloc_zeros::<u32>(LEN)?;
    // SAFETY: the kernel touches nothing.
    unsafe { one.launch_builder(&trap).launch(LaunchConfig::for_num_elems(1)) }?;
    let told = one.fill(&mut data, 1).and_then(|()| other.clone_dtoh(&data).map(|_| ()));
    let told = told.and_then(|()| one.synchronize());
    assert_eq!(told.map_err(|error| error.status()), Err(Status::ERROR_TRAP));
    Ok(())
}

/// Kept launches, and graphs, on a stream of their own: they wait for what they use, and others for
/// what they write.
#[test]
fn kept_launches_and_graphs_are_ordered() -> Result<()> {
    let context = context();
    let (one, other) = streams(&context)?;
    let mut data = one.alloc_zeros::<f32>(LEN)?;
    let mut copy = one.alloc_zeros::<f32>(LEN)?;
    let scale = function(&context, "scale");
    let mut launch = other.prepare_launch(&scale)?;
    launch.set_config(LaunchConfig::for_num_elems(LEN as u32))?;
    launch.arg_slice_mut(&mut data)?;
    launch.arg_scalar(&2f32)?;
    launch.arg_scalar(&(LEN as i32))?;
    let graph = context.new_graph()?;
    graph.add_copy(&[], &data, &mut copy)?;
    let exec = graph.instantiate()?;
    for value in 1..=TRIES / 4 {
        let value = value as f32;
        one.fill(&mut data, value)?;
        // SAFETY: the kernel stays within the elements, which nobody borrows.
        unsafe { launch.submit() }?;
        exec.launch(&one)?;
        let seen = other.clone_dtoh(&copy)?;
        assert_eq!(seen.iter().filter(|word| **word != 2.0 * value).count(), 0, "{value}");
    }
    Ok(())
}
