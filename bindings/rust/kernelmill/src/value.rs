//! Numbers that streams write and wait for.

use std::mem::size_of;

use crate::error::check;
use crate::view::part;
use crate::{DeviceSlice, DeviceSliceMut, Pod, Result, Stream, sys};

/// The condition that a stream waits for, of a number in memory: `WaitCondition::EQUAL`,
/// [`km_wait_condition`](sys::km_wait_condition).
pub use sys::km_wait_condition as WaitCondition;

/// Numbers that streams write and wait for: those of 4 and 8 bytes.
pub trait StreamValue: Pod {
    #[doc(hidden)]
    fn bits(self) -> u64;
}

macro_rules! stream_value {
    ($($number:ty as $bits:ty),*) => {
        $(
            impl StreamValue for $number {
                fn bits(self) -> u64 {
                    u64::from(<$bits>::from_ne_bytes(self.to_ne_bytes()))
                }
            }
        )*
    };
}
stream_value! { u32 as u32, i32 as u32, u64 as u64, i64 as u64 }

impl Stream {
    /// Writes a number to the element of this index, once all work queued before is done. What that
    /// has written can be seen by whoever sees the number. Never blocks. C: `km_stream_write_value`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// use kernelmill::WaitCondition;
    /// let (first, second) = (context.new_stream()?, context.new_stream()?);
    /// let mut flag = context.alloc_zeros::<u32>(1)?;
    /// second.wait_value(&flag, 0, WaitCondition::GREATER_EQUAL, 1)?;
    /// assert!(!second.is_done()?);
    /// first.write_value(&mut flag, 0, 1)?;
    /// second.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_BOUNDS`](crate::Status) when there is no such element,
    /// [`Status::ERROR_CONTEXT_MISMATCH`](crate::Status) when the slice is of another context,
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the element's address is no multiple
    /// of its size, [`Status::ERROR_NOT_PERMITTED`](crate::Status) when the slice is a file mapped
    /// read-only, [`Status::ERROR_NOT_SUPPORTED`](crate::Status) when the device cannot do it, the
    /// sticky error of the context when a kernel failed.
    pub fn write_value<T: StreamValue>(
        &self,
        destination: &mut impl DeviceSliceMut<T>,
        index: usize,
        value: T,
    ) -> Result<()> {
        let place = part::<T>(destination.place(), index..index.saturating_add(1))?;
        let (stream, size) = (self.as_raw(), size_of::<T>() as u32);
        // SAFETY: handles are checked ids, and ranges are checked.
        check(unsafe {
            sys::km_stream_write_value(stream, place.slice, place.offset_bytes, value.bits(), size)
        })
    }

    /// Work queued from now on waits until the element of this index meets the condition with
    /// `value`: until the host, another stream or a kernel has written it. The call itself never
    /// blocks, and other streams go on. A wait that nobody ends keeps this stream, and
    /// [`synchronize`](Self::synchronize), for ever. C: `km_stream_wait_value`.
    ///
    /// # Errors
    ///
    /// Those of [`write_value`](Self::write_value), and
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the condition is none.
    pub fn wait_value<T: StreamValue>(
        &self,
        source: &impl DeviceSlice<T>,
        index: usize,
        condition: WaitCondition,
        value: T,
    ) -> Result<()> {
        let place = part::<T>(source.place(), index..index.saturating_add(1))?;
        let (stream, size) = (self.as_raw(), size_of::<T>() as u32);
        let offset = place.offset_bytes;
        // SAFETY: handles are checked ids, and ranges are checked.
        check(unsafe {
            sys::km_stream_wait_value(stream, place.slice, offset, condition, value.bits(), size)
        })
    }
}
