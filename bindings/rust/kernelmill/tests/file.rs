//! Mapped files: their content is there, read-only stays read-only, and what is wrong is an error.

mod common;

use std::fs::{self, File};
use std::path::PathBuf;

use common::{context, expect_error, function};
use kernelmill::{LaunchConfig, MapFlags, Result, Status};

/// A file of this test, removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, content: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("kernelmill-{}-{name}", std::process::id()));
        fs::write(&path, content).expect("a file in the temporary folder");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn floats(count: u16) -> Vec<u8> {
    (0..count).flat_map(|number| f32::from(number).to_ne_bytes()).collect()
}

#[test]
fn a_slice_shows_a_part_of_a_file() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let file = Scratch::new("slice", &floats(2000));
    let slice = context.map_slice::<f32>(&file.0, 4, None, MapFlags::READ_ONLY)?;
    assert_eq!(slice.len(), 1999);
    assert_eq!(stream.clone_dtoh(&slice.view(1000..1002)?)?, [1001.0, 1002.0]);
    let mut part = context.map_slice::<f32>(&file.0, 8, Some(3), MapFlags::READ_ONLY)?;
    assert_eq!(stream.clone_dtoh(&part)?, [2.0, 3.0, 4.0]);
    expect_error(stream.memset_zeros(&mut part), Status::ERROR_NOT_PERMITTED, "read-only");

    let mut private = context.map_slice::<f32>(&file.0, 0, Some(3), MapFlags::PRIVATE)?;
    let scale = function(&context, "scale");
    let mut launch = stream.launch_builder(&scale);
    launch.arg(&mut private).arg(&5f32).arg(&3i32);
    // SAFETY: the kernel stays within three elements.
    unsafe { launch.launch(LaunchConfig::for_num_elems(3)) }?;
    assert_eq!(stream.clone_dtoh(&private)?, [0.0, 5.0, 10.0]);
    assert!(fs::read(&file.0).is_ok_and(|content| content == floats(2000)));
    Ok(())
}

#[test]
fn host_memory_shows_a_part_of_a_file() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let file = Scratch::new("host", &floats(50_000));
    let memory = context.map_host::<f32>(&file.0, 0, None, MapFlags::READ_ONLY)?;
    assert_eq!(memory.len(), 50_000);
    let mut slice = context.alloc_zeros::<f32>(49_990)?;
    stream.memcpy_mapped(&memory, 10, &mut slice)?;
    assert_eq!(stream.clone_dtoh(&slice)?[..2], [10.0, 11.0]);
    // SAFETY: nobody writes to the file.
    assert_eq!(unsafe { memory.as_slice() }[49_999], 49_999.0);
    let argument = Status::ERROR_INVALID_ARGUMENT;
    expect_error(stream.memcpy_mapped(&memory, 11, &mut slice), argument, "49989 elements");
    expect_error(stream.memcpy_mapped(&memory, usize::MAX, &mut slice), argument, "has 0");
    let mut private = context.map_host::<f32>(&file.0, 4, Some(2), MapFlags::PRIVATE)?;
    // SAFETY: nobody writes to the file, which is mapped as private.
    let elements = unsafe { private.as_mut_slice() };
    elements[1] = 0.5;
    stream.memcpy_mapped(&private, 0, &mut slice.view_mut(..2)?)?;
    assert_eq!(stream.clone_dtoh(&slice)?[..3], [1.0, 0.5, 12.0]);
    let odd = context.map_host::<f32>(&file.0, 2, Some(2), MapFlags::READ_ONLY);
    expect_error(odd, argument, "multiple of 4");
    Ok(())
}

#[test]
fn a_file_that_becomes_shorter_is_an_error() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let file = Scratch::new("shorter", &floats(40_000));
    let memory = context.map_host::<f32>(&file.0, 0, None, MapFlags::READ_ONLY)?;
    let mut slice = context.alloc_zeros::<f32>(40_000)?;
    let shorter = File::options().write(true).open(&file.0).and_then(|file| file.set_len(8));
    assert!(shorter.is_ok());
    let copy = stream.memcpy_mapped(&memory, 0, &mut slice);
    expect_error(copy, Status::ERROR_IO, "truncated");
    stream.synchronize()
}

#[test]
fn files_that_cannot_be_mapped() -> Result<()> {
    let context = context();
    let file = Scratch::new("wrong", &[1, 2, 3, 4]);
    let map = |path: &PathBuf, offset, len| {
        context.map_slice::<u16>(path, offset, len, MapFlags::READ_ONLY).map(drop)
    };
    let host = |path: &PathBuf, offset, len| {
        context.map_host::<u16>(path, offset, len, MapFlags::READ_ONLY).map(drop)
    };
    for call in [&map as &dyn Fn(&PathBuf, u64, Option<usize>) -> Result<()>, &host] {
        let missing = PathBuf::from("no/such/file");
        expect_error(call(&missing, 0, None), Status::ERROR_NOT_FOUND, "no/such/file");
        expect_error(call(&file.0, 2, Some(2)), Status::ERROR_OUT_OF_BOUNDS, "4 bytes");
        expect_error(call(&file.0, 4, None), Status::ERROR_INVALID_ARGUMENT, "");
        expect_error(call(&file.0, 0, Some(usize::MAX)), Status::ERROR_INVALID_ARGUMENT, "");
        call(&file.0, 2, Some(1))?;
    }
    Ok(())
}
