//! Ranges of elements.

use crate::view::{Place, part};
use crate::{Status, ViewMut};

fn whole(len: usize) -> Place {
    Place { slice: std::ptr::null_mut(), offset_bytes: 16, len }
}

#[test]
fn ranges_lie_within_the_whole() {
    let at = |place: Place| (place.offset_bytes, place.len);
    assert_eq!(at(part::<u32>(whole(10), 2..5).unwrap()), (24, 3));
    assert_eq!(at(part::<u32>(whole(10), ..).unwrap()), (16, 10));
    assert_eq!(at(part::<u32>(whole(10), ..=9).unwrap()), (16, 10));
    assert_eq!(at(part::<[u64; 2]>(whole(10), 9..).unwrap()), (160, 1));
    assert_eq!(at(part::<u8>(whole(10), 10..10).unwrap()), (26, 0));
}

#[test]
fn other_ranges_are_errors_that_name_both() {
    let ranges = [
        part::<u32>(whole(10), 0..11),
        part::<u32>(whole(10), 11..),
        part::<u32>(whole(10), ..=usize::MAX),
        part::<u32>(whole(10), (std::ops::Bound::Excluded(usize::MAX), std::ops::Bound::Unbounded)),
        #[allow(clippy::reversed_empty_ranges)]
        part::<u32>(whole(10), 5..4),
    ];
    for range in ranges {
        let error = range.unwrap_err();
        assert_eq!(error.status(), Status::ERROR_OUT_OF_BOUNDS);
        assert!(error.message().ends_with("of a slice of 10"), "{}", error.message());
    }
}

#[test]
fn halves_meet() {
    let (left, right) = ViewMut::<u16>::new(whole(10)).split_at_mut(3).unwrap();
    assert_eq!((left.len(), right.len()), (3, 7));
    assert!(ViewMut::<u16>::new(whole(10)).split_at_mut(11).is_err());
}
