//! Copies by raw address, and numbers that streams write and wait for.

mod common;

use std::time::Duration;

use common::{context, expect_error};
use kernelmill::{Extent, MapFlags, Result, Rows, Status, WaitCondition};

#[test]
fn copies_and_fills_by_address() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let (a, b) = (context.alloc_zeros::<u32>(8)?, context.alloc_zeros::<u32>(8)?);
    let (to, from) = (a.address()?, b.address()?);
    let mut host = [0u32; 2];
    let bounds = Status::ERROR_OUT_OF_BOUNDS;
    // SAFETY: nothing else uses the memory.
    unsafe {
        stream.memcpy_htod_address(&[1u32, 2, 3, 4, 5, 6, 7, 8], from)?;
        stream.memcpy_dtod_address(from + 4, to, 12)?;
        stream.memcpy_dtoh_address(to + 4, &mut host)?;
        assert_eq!(host, [3, 4]);
        stream.fill_address(to + 16, 0x55u8, 4)?;
        stream.fill_address(to + 20, 0x6666u16, 2)?;
        stream.fill_address(to + 24, -1i32, 2)?;
        let all = stream.clone_dtoh(&a)?;
        assert_eq!(all, [2, 3, 4, 0, 0x5555_5555, 0x6666_6666, u32::MAX, u32::MAX]);
        expect_error(stream.memcpy_htod_address(&host, to + 28), bounds, "8 bytes");
        expect_error(stream.memcpy_dtoh_address(8, &mut host), bounds, "0x8");
        expect_error(stream.memcpy_dtod_address(from, to + 4, 32), bounds, "32 bytes");
        expect_error(stream.fill_address(to + 2, 1u32, 1), Status::ERROR_INVALID_ARGUMENT, "");
        let mut pinned = context.alloc_pinned::<u32>(2)?;
        pinned.fill(77);
        stream.memcpy_htod_address(&pinned, to)?;
        pinned.fill(0); // it has been read
        stream.memcpy_dtoh_address(to, &mut pinned)?;
        assert_eq!(pinned[..], [77, 77]);
    }
    Ok(())
}

#[test]
fn rows_by_address() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let (a, b) = (context.alloc_zeros::<u16>(16)?, context.alloc_zeros::<u16>(16)?);
    let (to, from) = (a.address()?, b.address()?);
    let (wide, tight, extent) = (Rows::pitched(8), Rows::default(), Extent::plane(2, 2));
    let mut host = [0u16; 4];
    let bounds = Status::ERROR_OUT_OF_BOUNDS;
    // SAFETY: nothing else uses the memory.
    unsafe {
        stream.memcpy_htod_3d_address(&[1u16, 2, 3, 4], tight, from + 2, wide, extent)?;
        assert_eq!(stream.clone_dtoh(&b)?[..8], [0, 1, 2, 0, 0, 3, 4, 0]);
        stream.memcpy_dtod_3d_address::<u16>(from + 2, wide, to + 8, tight, extent)?;
        stream.memcpy_dtoh_3d_address(to + 8, tight, &mut host, tight, extent)?;
        assert_eq!(host, [1, 2, 3, 4]);
        stream.fill_2d_address(to, 8, 1, 4, 9u16)?;
        let all = stream.clone_dtoh(&a)?;
        assert_eq!(all, [9, 0, 0, 0, 9, 2, 3, 4, 9, 0, 0, 0, 9, 0, 0, 0]);
        let short = stream.memcpy_htod_3d_address(&host[1..], tight, to, wide, extent);
        expect_error(short, bounds, "the source, which has 6");
        let short = stream.memcpy_dtoh_3d_address(to, wide, &mut host[1..], tight, extent);
        expect_error(short, bounds, "the destination, which has 6");
        let far = stream.memcpy_htod_3d_address(&host, tight, to + 26, wide, extent);
        expect_error(far, bounds, "");
    }
    Ok(())
}

#[test]
fn addresses_are_found() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let slice = stream.clone_htod(&[1u8, 2, 3])?;
    // SAFETY: both slices are only read.
    let (found, offset) = unsafe { context.find_slice(slice.address()? + 2) }?;
    drop(slice);
    assert_eq!((stream.clone_dtoh(&found)?, offset), (vec![1, 2, 3], 2));
    // SAFETY: nothing lies there.
    expect_error(unsafe { context.find_slice(64) }, Status::ERROR_NOT_FOUND, "0x40");
    Ok(())
}

#[test]
fn streams_write_numbers_and_wait_for_them() -> Result<()> {
    let context = context();
    let (stream, other) = (context.new_stream()?, context.new_stream()?);
    let mut narrow = context.alloc_zeros::<i32>(3)?;
    let mut wide = context.alloc_zeros::<u64>(2)?;
    stream.write_value(&mut narrow.view_mut(1..)?, 1, -5)?;
    stream.write_value(&mut wide, 1, 1 << 40)?;
    assert_eq!(stream.clone_dtoh(&narrow)?, [0, 0, -5]);
    assert_eq!(stream.clone_dtoh(&wide)?, [0, 1 << 40]);
    let limit = Duration::from_millis(2);
    other.wait_value(&narrow, 0, WaitCondition::EQUAL, 7)?;
    assert!(!other.synchronize_timeout(limit)?);
    stream.write_value(&mut narrow, 0, 7)?;
    other.synchronize()?;
    other.wait_value(&wide, 0, WaitCondition::AND, 6)?;
    assert!(!other.synchronize_timeout(limit)?);
    stream.write_value(&mut wide, 0, 2)?;
    other.synchronize()?;
    // Round: the difference counts.
    other.wait_value(&narrow, 2, WaitCondition::GREATER_EQUAL, -6)?;
    other.wait_value(&wide, 0, WaitCondition::NOR, !1)?;
    other.synchronize()
}

#[test]
fn numbers_that_cannot_be_written_or_waited_for() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let mut slice = context.alloc_zeros::<u32>(3)?;
    let bounds = Status::ERROR_OUT_OF_BOUNDS;
    expect_error(stream.write_value(&mut slice, 3, 1), bounds, "slice of 3");
    expect_error(stream.write_value(&mut slice.view_mut(..1)?, 1, 1), bounds, "slice of 1");
    let wait = stream.wait_value(&slice, usize::MAX, WaitCondition::EQUAL, 1);
    expect_error(wait, bounds, "slice of 3");
    let wait = stream.wait_value(&slice, 0, WaitCondition(9), 1);
    expect_error(wait, Status::ERROR_INVALID_ARGUMENT, "condition is 9");
    let mut foreign = common::context().alloc_zeros::<u32>(1)?;
    let write = stream.write_value(&mut foreign, 0, 1);
    expect_error(write, Status::ERROR_CONTEXT_MISMATCH, "context");
    let path = std::env::temp_dir().join(format!("kernelmill-{}-value", std::process::id()));
    assert!(std::fs::write(&path, [0u8; 8]).is_ok());
    let mut file = context.map_slice::<u32>(&path, 0, None, MapFlags::READ_ONLY)?;
    let write = stream.write_value(&mut file, 0, 1);
    assert!(std::fs::remove_file(&path).is_ok());
    expect_error(write, Status::ERROR_NOT_PERMITTED, "read-only");
    Ok(())
}
