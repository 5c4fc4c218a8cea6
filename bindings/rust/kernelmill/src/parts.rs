//! Slices that are cut into parts, or given back in the order of a stream.

use std::mem::size_of;
use std::ops::RangeBounds;
use std::ptr::null_mut;

use crate::error::check;
use crate::view::part;
use crate::view::sealed::HasPlace;
use crate::{Error, Pod, Result, Slice, Status, Stream, sys};

impl<T: Pod> Slice<T> {
    /// Cuts the slice down to a part, which it then is: the elements of the range, in the same
    /// memory. All of the memory is kept while the part lives. Never blocks. When it fails, the
    /// slice is dropped. C: `km_slice_view`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// let stream = context.default_stream()?;
    /// let part = stream.clone_htod(&[1u32, 2, 3, 4, 5])?.into_part(1..4)?;
    /// assert_eq!(stream.clone_dtoh(&part)?, [2, 3, 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_BOUNDS`] when the range does not lie within the slice,
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub fn into_part(self, range: impl RangeBounds<usize>) -> Result<Self> {
        self.share_part(range)
    }

    /// Cuts the slice into two that own their parts, the second from element `middle` on: each may
    /// be moved to another thread and dropped on its own. The memory is freed when both are gone.
    /// Never blocks. When it fails, the slice is dropped. C: `km_slice_view`.
    ///
    /// # Errors
    ///
    /// Those of [`into_part`](Self::into_part).
    pub fn into_halves(self, middle: usize) -> Result<(Self, Self)> {
        Ok((self.share_part(..middle)?, self.share_part(middle..)?))
    }

    /// Drops the slice; its memory is freed no sooner than the work queued in `stream` so far is
    /// done, also that which uses it by an address that the library does not know of. Memory of a
    /// pool is free for this stream at once. Never blocks. C: `km_slice_destroy_on_stream`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_MISMATCH`] when the stream is of another context, and
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset; the slice is then dropped like
    /// any other.
    pub fn free_on(self, stream: &Stream) -> Result<()> {
        // SAFETY: the handle is this object's own; when the call succeeds, it is gone.
        check(unsafe { sys::km_slice_destroy_on_stream(self.as_raw(), stream.as_raw()) })?;
        let _ = self.into_raw();
        Ok(())
    }

    /// A second owner of a part. The library counts in elements of the size that the memory was
    /// made with, which need not be this type's.
    fn share_part(&self, range: impl RangeBounds<usize>) -> Result<Self> {
        let place = part::<T>(self.place(), range)?;
        let (first, size) = (place.offset_bytes, (place.len * size_of::<T>()) as u64);
        let element = self.info()?.element_size_bytes.max(1);
        if first % element != 0 || size % element != 0 {
            let message = format!(
                "a part of {size} bytes from byte {first} on does not consist of whole elements of \
                 the slice, which have {element} bytes"
            );
            return Err(Error::new(Status::ERROR_INVALID_ARGUMENT, message));
        }
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe {
            sys::km_slice_view(self.as_raw(), first / element, size / element, &mut raw)
        })?;
        Ok(Self::adopt(raw, place.len))
    }
}
