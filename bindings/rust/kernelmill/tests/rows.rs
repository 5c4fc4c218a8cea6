//! Copies and fills of rows move what they say, and stay within their slices and views.

mod common;

use common::{context, expect_error, function};
use kernelmill::{Extent, LaunchConfig, Result, Rows, Status};

const fn rows(offset_bytes: usize, pitch_bytes: usize, layer_rows: usize) -> Rows {
    Rows { offset_bytes, pitch_bytes, layer_rows }
}

/// The copy element by element.
fn expected(source: &[u16], from: Rows, destination: &mut [u16], to: Rows, extent: Extent) {
    let at = |rows: Rows, x: usize, y: usize, z: usize| {
        let pitch = if rows.pitch_bytes == 0 { extent.width * 2 } else { rows.pitch_bytes };
        let layer = if rows.layer_rows == 0 { extent.height } else { rows.layer_rows };
        (rows.offset_bytes + (z * layer + y) * pitch) / 2 + x
    };
    for (z, y, x) in (0..extent.depth)
        .flat_map(|z| (0..extent.height).map(move |y| (z, y)))
        .flat_map(|(z, y)| (0..extent.width).map(move |x| (z, y, x)))
    {
        destination[at(to, x, y, z)] = source[at(from, x, y, z)];
    }
}

#[test]
fn layers_are_copied_each_way() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let source: Vec<u16> = (0..400).collect();
    let all = [
        (rows(0, 0, 0), rows(0, 0, 0), Extent { width: 4, height: 3, depth: 2 }),
        (rows(10, 20, 4), rows(6, 14, 5), Extent { width: 5, height: 3, depth: 4 }),
        (rows(2, 8, 0), rows(0, 0, 9), Extent { width: 4, height: 2, depth: 3 }),
        (rows(4, 30, 7), rows(0, 22, 3), Extent { width: 0, height: 3, depth: 3 }),
    ];
    for (from, to, extent) in all {
        let mut wanted = vec![7u16; 400];
        expected(&source, from, &mut wanted, to, extent);
        let mut slice = stream.clone_htod(&vec![7u16; 401])?;
        let mut view = slice.view_mut(1..)?;
        stream.memcpy_htod_3d(&source, from, &mut view, to, extent)?;
        assert_eq!(stream.clone_dtoh(&view)?, wanted);

        let device = stream.clone_htod(&source)?;
        let mut host = vec![7u16; 400];
        stream.memcpy_dtoh_3d(&device, from, &mut host, to, extent)?;
        assert_eq!(host, wanted);

        let mut copy = stream.clone_htod(&vec![7u16; 400])?;
        stream.memcpy_dtod_3d(&device, from, &mut copy, to, extent)?;
        assert_eq!(stream.clone_dtoh(&copy)?, wanted);

        let mut pinned = context.alloc_pinned::<u16>(400)?;
        pinned.copy_from_slice(&source);
        stream.fill(&mut copy, 7u16)?;
        let mut pinned =
            stream.memcpy_htod_3d_async(pinned, from, &mut copy, to, extent)?.wait()?;
        assert_eq!(stream.clone_dtoh(&copy)?, wanted);
        pinned.fill(7);
        let mut pinned = stream.memcpy_dtoh_3d_async(&device, from, pinned, to, extent)?.wait()?;
        assert_eq!(pinned[..], wanted);
        // Borrowed page-locked memory has been read and written when the call returns.
        pinned.fill(7);
        stream.memcpy_dtoh_3d(&device, from, &mut pinned, to, extent)?;
        assert_eq!(pinned[..], wanted);
        stream.memcpy_htod_3d(&pinned, to, &mut copy, to, extent)?;
        pinned.fill(0);
        assert_eq!(stream.clone_dtoh(&copy)?, wanted);
    }
    Ok(())
}

#[test]
fn rows_that_do_not_fit_are_refused() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let mut slice = context.alloc_zeros::<u32>(100)?;
    let bounds = Status::ERROR_OUT_OF_BOUNDS;
    let tight = Rows::default();
    let mut host = [0u32; 24];
    let plane = Extent::plane(5, 5);
    let upload = stream.memcpy_htod_3d(&host, tight, &mut slice, tight, plane);
    expect_error(upload, bounds, "ends at byte 100 of the source, which has 96");
    let download = stream.memcpy_dtoh_3d(&slice, tight, &mut host, tight, plane);
    expect_error(download, bounds, "of the destination, which has 96");
    // Within the slice, but not within the view.
    let mut view = slice.view_mut(..24)?;
    let copy = stream.memcpy_htod_3d(&[0u32; 25], tight, &mut view, tight, plane);
    expect_error(copy, bounds, "of the destination, which has 96");
    for huge in [
        Extent { width: usize::MAX, height: 1, depth: 1 },
        Extent { width: 1, height: usize::MAX, depth: 2 },
        Extent { width: 2, height: 2, depth: usize::MAX },
    ] {
        let copy = stream.memcpy_dtoh_3d(&slice, tight, &mut host, tight, huge);
        expect_error(copy, bounds, "ends at byte");
    }
    let far = rows(usize::MAX, 20, 0);
    expect_error(stream.memcpy_htod_3d(&host, far, &mut slice, tight, plane), bounds, "2^64");
    let argument = Status::ERROR_INVALID_ARGUMENT;
    let narrow = rows(0, 4, 0);
    let copy = stream.memcpy_htod_3d(&host, narrow, &mut slice, tight, Extent::plane(2, 2));
    expect_error(copy, argument, "source_pitch_bytes is 4");
    let low = rows(0, 8, 1);
    let extent = Extent { width: 2, height: 2, depth: 2 };
    let copy = stream.memcpy_htod_3d(&host, low, &mut slice, tight, extent);
    expect_error(copy, argument, "source_layer_rows is 1");
    let mut foreign = common::context().alloc_zeros::<u32>(100)?;
    let copy = stream.memcpy_htod_3d(&host, tight, &mut foreign, tight, Extent::plane(2, 2));
    expect_error(copy, Status::ERROR_CONTEXT_MISMATCH, "context");
    expect_error(stream.fill_2d(&mut slice, tight, 10, 11, 1u32), bounds, "which has 400");
    expect_error(stream.fill_2d(&mut slice, rows(0, 4, 0), 2, 2, 1u32), argument, "pitch");
    Ok(())
}

#[test]
fn rows_are_filled() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let mut slice = context.alloc_zeros::<i16>(12)?;
    stream.fill_2d(&mut slice.view_mut(1..)?, rows(2, 8, 0), 2, 2, -3i16)?;
    assert_eq!(stream.clone_dtoh(&slice)?, [0, 0, -3, -3, 0, 0, -3, -3, 0, 0, 0, 0]);
    let mut slice = context.alloc_zeros::<u8>(6)?;
    stream.fill_2d(&mut slice, Rows::pitched(3), 2, 2, 5u8)?;
    assert_eq!(stream.clone_dtoh(&slice)?, [5, 5, 0, 5, 5, 0]);
    Ok(())
}

#[test]
fn pitched_slices_hold_pictures() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let mut picture = context.alloc_pitched::<f32>(5, 3)?;
    assert_eq!((picture.width(), picture.height(), picture.pitch_bytes()), (5, 3, 256));
    assert_eq!(stream.clone_dtoh_2d(&picture)?, [0f32; 15]);
    let numbers: Vec<f32> = (0..15u8).map(f32::from).collect();
    stream.memcpy_htod_2d(&numbers, &mut picture)?;
    let mut back = [0f32; 15];
    stream.memcpy_dtoh_2d(&picture, &mut back)?;
    assert_eq!(back[..], numbers);
    assert_eq!(picture.as_bytes().len() % 256, 0);
    // A kernel is given the first row.
    let scale = function(&context, "scale");
    let mut launch = stream.launch_builder(&scale);
    launch.arg(&mut picture).arg(&2f32).arg(&5i32);
    // SAFETY: the kernel stays within the first row.
    unsafe { launch.launch(LaunchConfig::for_num_elems(5)) }?;
    assert_eq!(stream.clone_dtoh_2d(&picture)?[3..7], [6., 8., 5., 6.]);
    stream.fill_pitched(&mut picture, 1.5f32)?;
    assert_eq!(stream.clone_dtoh_2d(&picture)?, [1.5; 15]);
    let bytes = stream.clone_dtoh(picture.as_bytes())?;
    assert!(bytes[20..256].iter().all(|byte| *byte == 0));
    let argument = Status::ERROR_INVALID_ARGUMENT;
    expect_error(stream.memcpy_htod_2d(&numbers[1..], &mut picture), argument, "destination 15");
    expect_error(stream.memcpy_dtoh_2d(&picture, &mut back[1..]), argument, "destination 14");
    expect_error(context.alloc_pitched::<u64>(usize::MAX, 1), argument, "rows of");
    expect_error(context.alloc_pitched::<[u8; 0]>(1, 1), argument, "rows of");
    let empty = context.alloc_pitched::<u8>(0, 5)?;
    assert!(stream.clone_dtoh_2d(&empty)?.is_empty());
    Ok(())
}
