//! Pools, alignment, and slices that are cut into parts or given back in the order of a stream.

mod common;

use common::{context, expect_error};
use kernelmill::{Result, Status};

#[test]
fn a_pool_gives_blocks_out_again() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let pool = context.new_pool(None)?;
    let first = pool.alloc_zeros::<u32>(1000)?;
    let address = first.address()?;
    assert_eq!(stream.clone_dtoh(&first)?, [0; 1000]);
    drop(first);
    let again = pool.alloc_on::<u32>(&stream, 1000)?;
    assert_eq!(again.address()?, address);
    again.free_on(&stream)?;
    let mut third = pool.alloc_zeros_on::<u32>(&stream, 1000)?;
    stream.fill(&mut third.view_mut(1..)?, 3u32)?;
    assert_eq!(stream.clone_dtoh(&third)?[..3], [0, 3, 3]);
    let info = pool.info()?;
    assert_eq!((info.limit_bytes, info.release_threshold_bytes), (None, None));
    assert_eq!((info.allocation_count, info.reuse_count, info.used_block_count), (3, 2, 1));
    assert_eq!((info.used_bytes, info.reserved_bytes), (4096, 4096));
    drop(third);
    stream.synchronize()?;
    pool.trim(0)?;
    pool.reset_high_water()?;
    let info = pool.info()?;
    assert_eq!((info.reserved_bytes, info.used_high_bytes, info.reserved_high_bytes), (0, 0, 0));
    Ok(())
}

#[test]
fn a_pool_keeps_to_its_limit_and_threshold() -> Result<()> {
    let context = context();
    let pool = context.new_pool(Some(8192))?;
    assert_eq!(pool.info()?.limit_bytes, Some(8192));
    let slice = pool.alloc::<u8>(8192)?;
    expect_error(pool.alloc::<u8>(1), Status::ERROR_OUT_OF_DEVICE_MEMORY, "8192");
    pool.set_release_threshold(Some(0))?;
    assert_eq!(pool.info()?.release_threshold_bytes, Some(0));
    drop(slice);
    assert_eq!(pool.info()?.reserved_bytes, 0);
    pool.set_release_threshold(None)?;
    expect_error(pool.alloc::<u64>(usize::MAX), Status::ERROR_INVALID_ARGUMENT, "");
    expect_error(pool.alloc::<[u8; 0]>(1), Status::ERROR_INVALID_ARGUMENT, "element_size");
    let foreign = common::context().new_stream()?;
    let mismatch = Status::ERROR_CONTEXT_MISMATCH;
    expect_error(pool.alloc_on::<u8>(&foreign, 1), mismatch, "context");
    Ok(())
}

#[test]
fn slices_outlive_their_pool_and_a_reset_loses_it() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let pool = context.new_pool(None)?;
    let mut slice = pool.alloc_zeros::<u32>(2)?;
    drop(pool);
    stream.fill(&mut slice, 4u32)?;
    assert_eq!(stream.clone_dtoh(&slice)?, [4, 4]);
    let pool = context.new_pool(None)?;
    context.reset()?;
    expect_error(pool.alloc::<u32>(1), Status::ERROR_CONTEXT_LOST, "reset");
    expect_error(pool.info(), Status::ERROR_CONTEXT_LOST, "reset");
    expect_error(slice.into_part(..1), Status::ERROR_CONTEXT_LOST, "reset");
    Ok(())
}

#[test]
fn parts_own_their_memory() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let slice = stream.clone_htod(&[1u32, 2, 3, 4, 5, 6])?;
    let (left, right) = slice.into_halves(2)?;
    let middle = right.into_part(1..3)?;
    drop(left);
    let mut end = middle.into_part(1..)?;
    assert_eq!((end.len(), stream.clone_dtoh(&end)?), (1, vec![5]));
    stream.fill(&mut end, 9u32)?;
    let foreign = common::context().new_stream()?;
    expect_error(end.free_on(&foreign), Status::ERROR_CONTEXT_MISMATCH, "context");
    let slice = stream.clone_htod(&[1u16, 2, 3])?;
    expect_error(slice.into_part(2..4), Status::ERROR_OUT_OF_BOUNDS, "slice of 3");
    let slice = stream.clone_htod(&[1u16, 2, 3])?;
    expect_error(slice.into_halves(4), Status::ERROR_OUT_OF_BOUNDS, "slice of 3");
    let empty = stream.clone_htod(&[1u16, 2, 3])?.into_part(3..)?;
    assert!(empty.is_empty());
    // Elements of 4 bytes, seen as bytes.
    let raw = stream.clone_htod(&[0x0403_0201u32, 0x0807_0605])?.into_raw();
    // SAFETY: into_raw() gave the handle away.
    let (first, second) = unsafe { kernelmill::Slice::<u8>::from_raw(raw) }?.into_halves(4)?;
    assert_eq!(stream.clone_dtoh(&second)?, 0x0807_0605u32.to_ne_bytes());
    let odd = first.into_part(1..3);
    expect_error(odd, Status::ERROR_INVALID_ARGUMENT, "2 bytes from byte 1");
    Ok(())
}

#[test]
fn memory_is_aligned_as_asked() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let slice = context.alloc_zeros_aligned::<u8>(10, 1 << 16)?;
    assert_eq!(slice.address()? % (1 << 16), 0);
    assert_eq!(stream.clone_dtoh(&slice)?, [0; 10]);
    assert_eq!(context.alloc_aligned::<u64>(3, 4096)?.address()? % 4096, 0);
    let argument = Status::ERROR_INVALID_ARGUMENT;
    expect_error(context.alloc_aligned::<u8>(10, 48), argument, "48");
    expect_error(context.alloc_aligned::<u8>(10, 0), argument, "0");
    let shared = context.alloc_managed::<u32>(4)?;
    assert_eq!(shared.host_pointer()? as u64, shared.address()?);
    Ok(())
}
