//! Copies, fills and allocations in the order of a stream.

use std::borrow::Cow;
use std::mem::{size_of, size_of_val};

use crate::error::check;
use crate::pinned::is_pinned;
use crate::view::Place;
use crate::{DeviceSlice, DeviceSliceMut, Error, Pod, Result, Slice, Status, Stream, sys};

/// Numbers that [`Stream::fill`] can write.
pub trait Fill: Pod {
    #[doc(hidden)]
    fn fill(self, stream: &Stream, place: Place) -> Status;

    /// The bits as an unsigned number, and how many bytes they are: 1, 2 or 4.
    #[doc(hidden)]
    fn bits(self) -> (u32, u32);
}

macro_rules! fill {
    ($call:ident, $bits:ty, $($number:ty)*) => {
        $(
            impl Fill for $number {
                fn fill(self, stream: &Stream, place: Place) -> Status {
                    let bits = <$bits>::from_ne_bytes(self.to_ne_bytes());
                    let (stream, count) = (stream.as_raw(), place.len as u64);
                    // SAFETY: handles are checked ids, and ranges are checked.
                    unsafe { sys::$call(stream, place.slice, place.offset_bytes, bits, count) }
                }

                fn bits(self) -> (u32, u32) {
                    let bits = <$bits>::from_ne_bytes(self.to_ne_bytes());
                    (u32::from(bits), size_of::<$bits>() as u32)
                }
            }
        )*
    };
}
fill! { km_slice_fill_u8, u8, u8 i8 }
fill! { km_slice_fill_u16, u16, u16 i16 }
fill! { km_slice_fill_u32, u32, u32 i32 f32 }
#[cfg(feature = "half")]
fill! { km_slice_fill_u16, u16, half::f16 half::bf16 }

impl Stream {
    /// Device memory for `len` elements, zeroed, for work that is queued here from now on. Never
    /// blocks. C: `km_slice_create_on_stream`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_DEVICE_MEMORY`](crate::Status) when the device has not that much
    /// memory left, [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the size does not fit 64
    /// bits, [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset, the sticky
    /// error of the context when a kernel failed.
    pub fn alloc_zeros<T: Pod>(&self, len: usize) -> Result<Slice<T>> {
        Slice::create_on_stream(self, len, sys::km_slice_flags::ZEROED)
    }

    /// Device memory for `len` elements with any content. C: `km_slice_create_on_stream`.
    ///
    /// # Errors
    ///
    /// Those of [`alloc_zeros`](Self::alloc_zeros).
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<Slice<T>> {
        Slice::create_on_stream(self, len, sys::km_slice_flags::DEFAULT)
    }

    /// Copies from the host to as many elements on the device. The source has been read when the
    /// call returns; beyond 64 KiB it waits for the stream. See
    /// [`PinnedMemory`](crate::PinnedMemory) for copies that never wait. C: `km_slice_upload`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the lengths differ,
    /// [`Status::ERROR_CONTEXT_MISMATCH`](crate::Status) when the slice is of another context,
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset,
    /// [`Status::ERROR_NOT_PERMITTED`](crate::Status) inside a callback of this library, the sticky
    /// error of the context when a kernel failed.
    pub fn memcpy_htod<T: Pod>(
        &self,
        source: &[T],
        destination: &mut impl DeviceSliceMut<T>,
    ) -> Result<()> {
        let place = destination.place();
        same_len("memcpy_htod", source.len(), place.len)?;
        let source = readable(source)?;
        let (from, size) = (source.as_ptr().cast(), size_of_val(&*source) as u64);
        // SAFETY: the source has that size, and has been read when the call returns.
        check(unsafe {
            sys::km_slice_upload(self.as_raw(), place.slice, place.offset_bytes, from, size)
        })
    }

    /// Copies from the device to as many elements of the host, which have been written when the
    /// call returns: it waits for the stream. C: `km_slice_download`.
    ///
    /// # Errors
    ///
    /// Those of [`memcpy_htod`](Self::memcpy_htod).
    pub fn memcpy_dtoh<T: Pod>(
        &self,
        source: &impl DeviceSlice<T>,
        destination: &mut [T],
    ) -> Result<()> {
        let place = source.place();
        same_len("memcpy_dtoh", place.len, destination.len())?;
        write_into(destination, |destination| self.download(place, destination))
    }

    fn download<T: Pod>(&self, place: Place, destination: &mut [T]) -> Result<()> {
        let (to, size) = (destination.as_mut_ptr().cast(), size_of_val(destination) as u64);
        // SAFETY: the destination has that size and has been written when the call returns; all
        // patterns of bits are elements.
        check(unsafe {
            sys::km_slice_download(self.as_raw(), place.slice, place.offset_bytes, to, size)
        })
    }

    /// Copies between as many elements of one context. Never blocks. C: `km_slice_copy`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the lengths differ,
    /// [`Status::ERROR_CONTEXT_MISMATCH`](crate::Status) when the slice is of another context,
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset, the sticky error
    /// of the context when a kernel failed.
    pub fn memcpy_dtod<T: Pod>(
        &self,
        source: &impl DeviceSlice<T>,
        destination: &mut impl DeviceSliceMut<T>,
    ) -> Result<()> {
        let (from, to) = (source.place(), destination.place());
        same_len("memcpy_dtod", from.len, to.len)?;
        let size = source.size_bytes() as u64;
        let stream = self.as_raw();
        // SAFETY: handles are checked ids, and ranges are checked.
        check(unsafe {
            sys::km_slice_copy(
                stream,
                to.slice,
                to.offset_bytes,
                from.slice,
                from.offset_bytes,
                size,
            )
        })
    }

    /// A new slice with a copy of what the host has. Blocks as [`memcpy_htod`](Self::memcpy_htod)
    /// does. C: `km_slice_upload`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// let stream = context.default_stream()?;
    /// let mut slice = stream.clone_htod(&[1, 2, 3])?;
    /// stream.fill(&mut slice.view_mut(1..)?, 7)?;
    /// let copy = stream.clone_dtod(&slice)?;
    /// assert_eq!(stream.clone_dtoh(&copy)?, [1, 7, 7]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`alloc`](Self::alloc) and of [`memcpy_htod`](Self::memcpy_htod).
    pub fn clone_htod<T: Pod>(&self, source: &[T]) -> Result<Slice<T>> {
        let mut slice = self.alloc(source.len())?;
        self.memcpy_htod(source, &mut slice)?;
        Ok(slice)
    }

    /// A vector with a copy of what the device has. Blocks until the copy is done. C:
    /// `km_slice_download`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_HOST_MEMORY`](crate::Status) when there is no memory for the vector,
    /// and what [`memcpy_dtoh`](Self::memcpy_dtoh) gives.
    pub fn clone_dtoh<T: Pod>(&self, source: &impl DeviceSlice<T>) -> Result<Vec<T>> {
        let place = source.place();
        let mut vector: Vec<T> = room_for(place.len)?;
        let (to, size) = (vector.as_mut_ptr().cast(), source.size_bytes() as u64);
        // SAFETY: the vector has room for that size, which has been written when the call returns;
        // all patterns of bits are elements. New memory is not pinned.
        unsafe {
            let stream = self.as_raw();
            check(sys::km_slice_download(stream, place.slice, place.offset_bytes, to, size))?;
            vector.set_len(place.len);
        }
        Ok(vector)
    }

    /// A new slice with a copy of what another has. Never blocks. C: `km_slice_copy`.
    ///
    /// # Errors
    ///
    /// Those of [`alloc`](Self::alloc) and of [`memcpy_dtod`](Self::memcpy_dtod).
    pub fn clone_dtod<T: Pod>(&self, source: &impl DeviceSlice<T>) -> Result<Slice<T>> {
        let mut slice = self.alloc(source.len())?;
        self.memcpy_dtod(source, &mut slice)?;
        Ok(slice)
    }

    /// Writes zeros to all elements. Never blocks. C: `km_slice_fill_u8`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_MISMATCH`](crate::Status) when the slice is of another context,
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset, the sticky error
    /// of the context when a kernel failed.
    pub fn memset_zeros<T: Pod>(&self, destination: &mut impl DeviceSliceMut<T>) -> Result<()> {
        let place = Place { len: destination.size_bytes(), ..destination.place() };
        check(0u8.fill(self, place))
    }

    /// Writes the value to all elements. Never blocks. C: `km_slice_fill_u32` and its kin.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_MISMATCH`](crate::Status) when the slice is of another context,
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset, the sticky error
    /// of the context when a kernel failed.
    pub fn fill<T: Fill>(&self, destination: &mut impl DeviceSliceMut<T>, value: T) -> Result<()> {
        check(value.fill(self, destination.place()))
    }
}

/// An empty vector with room for `len` elements.
pub(crate) fn room_for<T>(len: usize) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    vector.try_reserve_exact(len).map_err(|_| {
        let message = format!("there is no memory for a vector of {len} elements");
        Error::new(Status::ERROR_OUT_OF_HOST_MEMORY, message)
    })?;
    Ok(vector)
}

/// A vector of zeros, which are elements of every such type.
pub(crate) fn zeros<T: Pod>(len: usize) -> Result<Vec<T>> {
    let mut vector: Vec<T> = room_for(len)?;
    // SAFETY: there is room for that many elements, and zeros are elements, see Pod.
    unsafe {
        vector.as_mut_ptr().write_bytes(0, len);
        vector.set_len(len);
    }
    Ok(vector)
}

fn copy_of<T: Pod>(elements: &[T]) -> Result<Vec<T>> {
    let mut copy = room_for(elements.len())?;
    copy.extend_from_slice(elements);
    Ok(copy)
}

/// Host memory that the library reads before its call returns: page-locked memory, which it would
/// read later, when the borrow is over, is copied aside.
pub(crate) fn readable<T: Pod>(source: &[T]) -> Result<Cow<'_, [T]>> {
    Ok(if is_pinned(source) { Cow::Owned(copy_of(source)?) } else { Cow::Borrowed(source) })
}

/// Has `download` write host memory before its call returns: in the place of page-locked memory,
/// which the library would write later, when the borrow is over, it gets a copy.
pub(crate) fn write_into<T: Pod>(
    destination: &mut [T],
    download: impl FnOnce(&mut [T]) -> Result<()>,
) -> Result<()> {
    if !is_pinned(destination) {
        return download(destination);
    }
    let mut aside = copy_of(destination)?;
    download(&mut aside)?;
    destination.copy_from_slice(&aside);
    Ok(())
}

pub(crate) fn same_len(call: &str, source: usize, destination: usize) -> Result<()> {
    if source == destination {
        return Ok(());
    }
    let message = format!(
        "{call}: the source has {source} elements and the destination {destination}; copy between \
         views of the same length"
    );
    Err(Error::new(Status::ERROR_INVALID_ARGUMENT, message))
}
