//! Views: parts of device memory, and what they have in common with all of it.

use std::marker::PhantomData;
use std::mem::size_of;
use std::ops::{Bound, Range, RangeBounds};

use crate::{Error, Pod, Result, Slice, Status, sys};

/// The place of elements on the device.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub(crate) slice: sys::km_slice,
    pub(crate) offset_bytes: u64,
    pub(crate) len: usize,
}

pub(crate) mod sealed {
    pub trait HasPlace {
        #[doc(hidden)]
        fn place(&self) -> super::Place;
    }
}
use sealed::HasPlace;

/// Device memory that can be read: [`Slice`], [`View`], [`ViewMut`].
pub trait DeviceSlice<T: Pod>: HasPlace {
    /// The number of elements.
    fn len(&self) -> usize {
        self.place().len
    }

    /// True when there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size of all elements.
    fn size_bytes(&self) -> usize {
        self.len() * size_of::<T>()
    }
}

/// Device memory that can be written: [`Slice`], [`ViewMut`].
pub trait DeviceSliceMut<T: Pod>: DeviceSlice<T> {}

/// A part of a slice, to be read.
///
/// ```
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// let stream = context.default_stream()?;
/// let mut slice = stream.clone_htod(&[1, 2, 3, 4])?;
/// assert_eq!(stream.clone_dtoh(&slice.view(1..3)?)?, [2, 3]);
/// stream.memset_zeros(&mut slice.view_mut(2..)?)?;
/// assert_eq!(stream.clone_dtoh(&slice)?, [1, 2, 0, 0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct View<'a, T: Pod> {
    place: Place,
    borrow: PhantomData<&'a Slice<T>>,
}

// SAFETY: a view is a borrowed Slice, which is Send and Sync; its handle is a checked id.
unsafe impl<T: Pod> Send for View<'_, T> {}
// SAFETY: the same.
unsafe impl<T: Pod> Sync for View<'_, T> {}

impl<'a, T: Pod> View<'a, T> {
    pub(crate) fn new(place: Place) -> Self {
        Self { place, borrow: PhantomData }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.place.len
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.place.len == 0
    }

    /// A part of the view.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_BOUNDS`](crate::Status) when the range does not lie within the view.
    pub fn view(&self, range: impl RangeBounds<usize>) -> Result<View<'a, T>> {
        Ok(View::new(part::<T>(self.place, range)?))
    }
}

/// A part of a slice, to be written; no other view reaches its elements.
#[derive(Debug)]
pub struct ViewMut<'a, T: Pod> {
    place: Place,
    borrow: PhantomData<&'a mut Slice<T>>,
}

// SAFETY: a view is a borrowed Slice, which is Send and Sync; its handle is a checked id.
unsafe impl<T: Pod> Send for ViewMut<'_, T> {}
// SAFETY: the same.
unsafe impl<T: Pod> Sync for ViewMut<'_, T> {}

impl<'a, T: Pod> ViewMut<'a, T> {
    pub(crate) fn new(place: Place) -> Self {
        Self { place, borrow: PhantomData }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.place.len
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.place.len == 0
    }

    /// A part, to be read.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_BOUNDS`](crate::Status) when the range does not lie within the view.
    pub fn view(&self, range: impl RangeBounds<usize>) -> Result<View<'_, T>> {
        Ok(View::new(part::<T>(self.place, range)?))
    }

    /// A part, to be written.
    ///
    /// # Errors
    ///
    /// Those of [`view`](Self::view).
    pub fn view_mut(&mut self, range: impl RangeBounds<usize>) -> Result<ViewMut<'_, T>> {
        Ok(ViewMut::new(part::<T>(self.place, range)?))
    }

    /// Two parts, the second from element `middle` on.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_BOUNDS`](crate::Status) when `middle` lies beyond the end.
    pub fn split_at_mut(self, middle: usize) -> Result<(ViewMut<'a, T>, ViewMut<'a, T>)> {
        let left = part::<T>(self.place, ..middle)?;
        let right = part::<T>(self.place, middle..)?;
        Ok((Self::new(left), Self::new(right)))
    }
}

/// The place of a range's elements, which must lie within `whole`.
pub(crate) fn part<T: Pod>(whole: Place, range: impl RangeBounds<usize>) -> Result<Place> {
    let range = range_within(range, whole.len)?;
    Ok(Place {
        slice: whole.slice,
        offset_bytes: whole.offset_bytes + (range.start * size_of::<T>()) as u64,
        len: range.len(),
    })
}

/// The elements of a range, which must lie within `len`.
pub(crate) fn range_within(range: impl RangeBounds<usize>, len: usize) -> Result<Range<usize>> {
    let (start, end) = (range.start_bound().cloned(), range.end_bound().cloned());
    let first = match start {
        Bound::Included(first) => Some(first),
        Bound::Excluded(before) => before.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let after = match end {
        Bound::Included(last) => last.checked_add(1),
        Bound::Excluded(end) => Some(end),
        Bound::Unbounded => Some(len),
    };
    match (first, after) {
        (Some(first), Some(after)) if first <= after && after <= len => Ok(first..after),
        _ => {
            let message = format!("elements {start:?} to {end:?} of a slice of {len}");
            Err(Error::new(Status::ERROR_OUT_OF_BOUNDS, message))
        }
    }
}

impl<T: Pod> HasPlace for Slice<T> {
    fn place(&self) -> Place {
        Place { slice: self.as_raw(), offset_bytes: 0, len: self.len() }
    }
}
impl<T: Pod> HasPlace for View<'_, T> {
    fn place(&self) -> Place {
        self.place
    }
}
impl<T: Pod> HasPlace for ViewMut<'_, T> {
    fn place(&self) -> Place {
        self.place
    }
}
impl<T: Pod> DeviceSlice<T> for Slice<T> {}
impl<T: Pod> DeviceSlice<T> for View<'_, T> {}
impl<T: Pod> DeviceSlice<T> for ViewMut<'_, T> {}
impl<T: Pod> DeviceSliceMut<T> for Slice<T> {}
impl<T: Pod> DeviceSliceMut<T> for ViewMut<'_, T> {}
