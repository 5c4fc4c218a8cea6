//! The facade's contexts, streams and events.

#[path = "common/facade.rs"]
mod facade;

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use facade::{Tested, expect_error, function, own_context};
use kernelmill::Stream;
use kernelmill::driver::sys::CUevent_flags;
use kernelmill::driver::{
    CudaContext, CudaEvent, CudaFunction, CudaSlice, CudaStream, DevicePtr, DriverError,
    LaunchConfig, PushKernelArg,
};

const ONE: LaunchConfig =
    LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };

fn is_send_and_sync<T: Send + Sync>() {}

/// Queues a kernel of so many steps, each of which needs the one before.
fn slow(
    stream: &CudaStream,
    kernel: &CudaFunction,
    word: &mut CudaSlice<u32>,
    steps: u32,
) -> Result<(), DriverError> {
    unsafe { stream.launch_builder(kernel).arg(word).arg(&steps).launch(ONE) }.map(drop)
}

#[test]
fn contexts_of_a_device_are_one() -> Tested {
    is_send_and_sync::<CudaContext>();
    is_send_and_sync::<CudaStream>();
    is_send_and_sync::<CudaEvent>();
    let (one, other) = (CudaContext::new(0)?, CudaContext::new(0)?);
    assert_eq!((Arc::strong_count(&one), one.is_primary()), (1, true));
    assert_eq!(one, other);
    assert_eq!(one.default_stream(), other.default_stream());
    let slice = one.default_stream().clone_htod(&[1u32, 2])?;
    drop(one);
    assert_eq!(other.new_stream()?.clone_dtoh(&slice)?, [1, 2]);
    let own = own_context()?;
    assert!(own != other && !own.is_primary());
    assert!(CudaContext::device_count()? >= 1);
    expect_error(CudaContext::new(1000), DriverError::InvalidDevice, "1000");
    expect_error(CudaContext::new_non_primary(0, 1), DriverError::NotSupported, "flags is 0x1");
    Ok(())
}

#[test]
fn forks_wait_for_their_origin() -> Tested {
    let context = own_context()?;
    let origin = context.default_stream();
    let release = hold(&origin)?;
    let end = origin.record_event(None)?;
    let fork = context.fork_default_stream()?;
    assert_ne!(fork, origin);
    let seen = fork.record_event(None)?;
    assert!(!seen.is_complete(), "the fork did not wait");
    release.send(())?;
    seen.synchronize()?;
    assert!(end.is_complete());
    Ok(())
}

#[test]
fn events_order_streams() -> Tested {
    let context = own_context()?;
    let (one, other) = (context.new_stream()?, context.new_stream()?);
    let event = context.create_event()?;
    assert!(event.is_complete(), "never recorded");
    let release = hold(&one)?;
    one.record_event(&event)?;
    other.wait_event(&event)?;
    let behind = other.record_event(None)?;
    assert!(!event.try_is_complete()? && !behind.try_is_complete()?);
    release.send(())?;
    other.synchronize()?;
    assert!(event.is_complete() && behind.is_complete());
    one.join(&other)?;
    one.synchronize()?;
    Ok(())
}

/// The second stream reads what the first one writes, without any event.
#[test]
fn uses_of_a_slice_on_two_streams_are_ordered() -> Tested {
    let context = own_context()?;
    let (one, other) = (context.new_stream()?, context.new_stream()?);
    let kernel = function(&context, "slow");
    let mut word = one.alloc_zeros::<u32>(1)?;
    let mut expected = 0u32;
    for _ in 0..20 {
        slow(&one, &kernel, &mut word, 100_000)?;
        slow(&other, &kernel, &mut word, 1)?;
        for _ in 0..100_001 {
            expected = expected.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        }
    }
    assert_eq!(one.clone_dtoh(&word)?, [expected]);
    assert!(context.is_in_multi_stream_mode() && context.is_managing_stream_synchronization());
    Ok(())
}

/// One stream is busy until the other one's work is done: they run beside each other.
#[test]
fn streams_overlap() -> Tested {
    let context = own_context()?;
    let (one, other) = (context.new_stream()?, context.new_stream()?);
    let kernel = function(&context, "slow");
    let mut word = other.alloc_zeros::<u32>(1)?;
    let release = hold(&one)?;
    let end = one.record_event(None)?;
    slow(&other, &kernel, &mut word, 1)?;
    other.synchronize()?;
    assert!(!end.try_is_complete()?, "the second stream waited for the first one");
    release.send(())?;
    one.synchronize()?;
    Ok(())
}

#[test]
fn times_are_never_negative() -> Tested {
    let context = own_context()?;
    let stream = context.new_stream()?;
    let kernel = function(&context, "slow");
    let mut word = stream.alloc_zeros::<u32>(1)?;
    let (start, end) = (context.create_event()?, context.create_event()?);
    let begin = Instant::now();
    stream.record_event(&start)?;
    slow(&stream, &kernel, &mut word, 20_000_000)?;
    stream.record_event(&end)?;
    stream.synchronize()?;
    let most = begin.elapsed();
    let elapsed = end.elapsed_ms(&start)?; // as the document has it
    assert_eq!(start.elapsed_ms(&end)?, elapsed); // as cudarc has it
    assert!(elapsed > 1.0, "20 million dependent steps in {elapsed} ms");
    assert!(Duration::from_secs_f32(elapsed / 1000.0) <= most);
    let unrecorded = context.create_event()?;
    assert!(start.elapsed_ms(&unrecorded).is_err());
    let untimed = stream.record_event(None)?;
    assert!(start.elapsed_ms(&untimed).is_err());
    let timed = stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT))?;
    assert!(start.elapsed_ms(&timed)? >= elapsed);
    Ok(())
}

#[test]
fn synchronize_waits_for_all_that_is_queued() -> Tested {
    let context = own_context()?;
    let kernel = function(&context, "slow");
    let streams = [context.new_stream()?, context.new_stream()?, context.default_stream()];
    let mut events = Vec::new();
    for stream in &streams {
        let mut word = stream.alloc_zeros::<u32>(1)?;
        slow(stream, &kernel, &mut word, 5_000_000)?;
        events.push(stream.record_event(None)?);
    }
    streams[0].synchronize()?;
    assert!(events[0].is_complete());
    context.synchronize()?;
    assert!(events.iter().all(CudaEvent::is_complete));
    Ok(())
}

#[test]
fn each_thread_has_a_stream_of_its_own() -> Tested {
    let context = own_context()?;
    let mine = context.per_thread_stream();
    assert_eq!(mine, context.per_thread_stream());
    assert_ne!(mine, context.default_stream());
    let theirs = std::thread::scope(|scope| {
        scope.spawn(|| context.per_thread_stream()).join().expect("a thread")
    });
    assert_ne!(mine, theirs);
    let data = theirs.clone_htod(&[1u32])?; // the stream outlives its thread
    assert_eq!(theirs.clone_dtoh(&data)?, [1]);
    Ok(())
}

/// Holds the stream until something is sent.
fn hold(stream: &CudaStream) -> Result<Sender<()>, kernelmill::Error> {
    let (sender, receiver) = channel();
    // SAFETY: the handle is not destroyed by this object.
    let native = ManuallyDrop::new(unsafe { Stream::from_raw(stream.as_raw()) });
    native.add_callback(move |_| receiver.recv().expect("a release"))?;
    Ok(sender)
}

#[test]
fn the_switch_for_event_tracking_is_there() -> Tested {
    let context = own_context()?;
    assert!(context.is_event_tracking() && !context.is_managing_stream_synchronization());
    let (stream, other) = (context.new_stream_with_priority(-1)?, context.new_stream()?);
    let mut data = stream.clone_htod(&[1u32])?;
    // With it, addresses are to be had once the memory is not written any more.
    let release = hold(&stream)?;
    stream.memset_zeros(&mut data)?;
    let written = stream.record_event(None)?;
    let releasing = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        release.send(())
    });
    drop(data.device_ptr(&other));
    assert!(written.try_is_complete()?);
    releasing.join().expect("a thread")?;
    // Without it, at once.
    unsafe { context.disable_event_tracking() };
    assert!(!context.is_event_tracking() && !context.is_managing_stream_synchronization());
    let release = hold(&stream)?;
    stream.memset_zeros(&mut data)?;
    let written = stream.record_event(None)?;
    let (address, guard) = data.device_ptr(&other);
    assert!(address != 0 && !written.try_is_complete()?);
    drop(guard);
    // Calls that name the slice wait all the same.
    let copied = other.clone_dtod(&data)?;
    let end = other.record_event(None)?;
    assert!(!end.try_is_complete()?);
    release.send(())?;
    assert_eq!(context.default_stream().clone_dtoh(&copied)?, [0]);
    unsafe { context.enable_event_tracking() };
    assert!(context.is_managing_stream_synchronization());
    Ok(())
}
