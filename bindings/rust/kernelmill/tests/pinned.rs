//! Vectors that are page-locked: copies that go on keep them, and they come back.

mod common;

use std::sync::mpsc;

use common::{context, expect_error, function};
use kernelmill::{LaunchConfig, PinnedMemory, Result, Status};

const LEN: usize = 1 << 16;

#[test]
fn a_vector_is_page_locked_and_comes_back() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let vector = vec![3u32; LEN];
    let address = vector.as_ptr();
    let mut memory = PinnedMemory::from_vec(&context, vector)?;
    assert_eq!((memory.as_ptr(), memory.size_bytes()?), (address, 4 * LEN as u64));
    memory[1] = 4;
    let mut slice = stream.alloc_zeros(LEN)?;
    let mut memory = stream.memcpy_htod_async(memory, &mut slice)?.wait()?;
    memory.fill(0);
    let memory = stream.memcpy_dtoh_async(&slice, memory)?.wait()?;
    let vector = memory.into_vec()?;
    assert_eq!((vector.as_ptr(), &vector[..3]), (address, [3, 4, 3].as_slice()));
    // It can be page-locked again, so it was let go.
    let memory = PinnedMemory::from_vec(&context, vector)?;
    expect_error(stream.memcpy_htod(&memory[1..], &mut slice), Status::ERROR_INVALID_ARGUMENT, "");
    drop(memory);
    let pinned = context.alloc_pinned::<u16>(5)?;
    assert!(pinned.size_bytes()? >= 10);
    assert_eq!(pinned.into_vec()?, [0; 5]);
    let empty = PinnedMemory::from_vec(&context, Vec::<u8>::new());
    expect_error(empty, Status::ERROR_INVALID_ARGUMENT, "");
    Ok(())
}

#[test]
fn borrowed_page_locked_memory_is_read_at_once() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let mut memory = PinnedMemory::from_vec(&context, vec![3u32; 100])?;
    let mut slice = stream.alloc_zeros(100)?;
    let (gate, opened) = mpsc::channel::<()>();
    stream.add_callback(move |_| assert!(opened.recv().is_err()))?;
    stream.memcpy_htod(&memory, &mut slice)?;
    memory.fill(9);
    drop(gate);
    assert_eq!(stream.clone_dtoh(&slice)?, [3; 100]);
    Ok(())
}

#[test]
fn a_copy_that_nobody_waits_for_keeps_its_vector() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let mut slice = stream.alloc_zeros::<u32>(LEN)?;
    for round in 0..20u32 {
        let (gate, opened) = mpsc::channel::<()>();
        stream.add_callback(move |_| assert!(opened.recv().is_err()))?;
        let memory = PinnedMemory::from_vec(&context, vec![round; LEN])?;
        drop(stream.memcpy_htod_async(memory, &mut slice)?);
        // Memory that is allocated now would take the place of a vector that was freed too early.
        let others: Vec<Vec<u32>> = (0..4).map(|_| vec![u32::MAX; LEN]).collect();
        drop(gate);
        assert_eq!(stream.clone_dtoh(&slice)?, [round; LEN]);
        drop(others);
    }
    Ok(())
}

#[test]
fn a_vector_outlives_faults_and_resets() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let wild = function(&context, "wild");
    let slice = context.alloc_zeros::<u32>(LEN)?;
    let memory = PinnedMemory::from_vec(&context, vec![1u32; LEN])?;
    let idle = PinnedMemory::from_vec(&context, vec![2u32; LEN])?;
    let mut launch = stream.launch_builder(&wild);
    launch.arg(&0x10u64);
    // SAFETY: the fault is the point of the test.
    unsafe { launch.launch(LaunchConfig::for_num_elems(1)) }?;
    let pending = stream.memcpy_dtoh_async(&slice, memory);
    if let Ok(pending) = pending {
        expect_error(pending.wait().map(drop), Status::ERROR_ILLEGAL_ADDRESS, "wild");
    }
    context.reset()?;
    expect_error(idle.size_bytes(), Status::ERROR_CONTEXT_LOST, "reset");
    assert_eq!(idle[0], 2);
    assert_eq!(idle.into_vec()?[1], 2);
    Ok(())
}
