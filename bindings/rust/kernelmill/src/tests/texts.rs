//! Texts and lists that are copied out of the library, whose calls are played here.

use std::time::{Duration, UNIX_EPOCH};

use crate::error::{array_text, c_string, counted, read_text, text_parts};
use crate::list::{read_list, time_at};
use crate::status_texts::texts_of;
use crate::{Category, Status};

/// Copies a text out as the library does.
fn copy_out(text: &[u8], buffer: *mut std::ffi::c_char, capacity: u64, size: *mut u64) -> Status {
    // SAFETY: the caller gives room for `capacity` bytes, and for the size.
    unsafe {
        *size = text.len() as u64 + 1;
        if buffer.is_null() {
            return Status::SUCCESS;
        }
        if capacity < *size {
            return Status::ERROR_BUFFER_TOO_SMALL;
        }
        buffer.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len());
        buffer.add(text.len()).write(0);
    }
    Status::SUCCESS
}

#[test]
fn texts_are_read_however_they_change_meanwhile() {
    let texts: [&[u8]; 4] = [b"short", b"longer", b"longest of all", b"longest of all"];
    let mut calls = 0;
    let text = read_text(|buffer, capacity, size| {
        calls += 1;
        copy_out(texts[(calls - 1).min(3)], buffer, capacity, size)
    });
    assert_eq!(text.unwrap(), "longest of all");
    assert_eq!(read_text(|b, c, s| copy_out(b"", b, c, s)).unwrap(), "");
    assert_eq!(read_text(|b, c, s| copy_out(b"\xff", b, c, s)).unwrap(), "\u{fffd}");
}

#[test]
fn lists_are_read_however_they_grow_meanwhile() {
    let mut len = 2;
    let list = read_list(0u32, |capacity, first, count| {
        len += 1;
        // SAFETY: there is room for `capacity` numbers, and for the count.
        unsafe {
            (0..len.min(capacity)).for_each(|index| first.add(index as usize).write(index as u32));
            *count = len.min(6);
        }
        Status::SUCCESS
    });
    assert_eq!(list.unwrap(), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn texts_go_in_with_their_ends() {
    assert_eq!(c_string("name", "name").unwrap().as_bytes(), b"name");
    let error = c_string("na\0me", "name").unwrap_err();
    assert_eq!(error.message(), "name has a zero byte at 2; expected a text without one");
    let (first, size) = text_parts("");
    // SAFETY: it points to a closing zero.
    assert_eq!((unsafe { *first }, size), (0, 0));
    assert_eq!(array_text(&[104, 105, 0, 106]), "hi");
    assert_eq!((counted(1, "byte"), counted(2, "byte")), ("1 byte".into(), "2 bytes".into()));
}

#[test]
fn times_are_counted_from_the_epoch() {
    let second = 1_000_000_000;
    assert_eq!(time_at(2 * second), UNIX_EPOCH + Duration::from_secs(2));
    assert_eq!(time_at(-second), UNIX_EPOCH - Duration::from_secs(1));
    time_at(i64::MIN);
    time_at(i64::MAX);
}

#[test]
fn statuses_have_texts() {
    let fault = texts_of(Status::ERROR_ILLEGAL_ADDRESS).unwrap();
    assert_eq!((fault.name, fault.category), ("KM_ERROR_ILLEGAL_ADDRESS", Category::KERNEL_FAULT));
    assert!(!fault.meaning.is_empty() && fault.recovery.contains("Context::reset"));
    assert!(texts_of(Status(-1)).is_none());
}
