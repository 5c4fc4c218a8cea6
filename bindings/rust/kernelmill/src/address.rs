//! Copies and fills by raw device address, and what lies at one. All of it is unsafe: addresses go
//! past the borrows that keep slices apart.

use std::mem::size_of_val;
use std::ptr::null_mut;

use crate::copy::{readable, write_into};
use crate::error::check;
use crate::rows::copy_shape;
use crate::{Context, Extent, Fill, Pod, Result, Rows, Slice, Stream, sys};

impl Context {
    /// The allocation of this context that holds a device address, as a new slice over all of it,
    /// and how many bytes into it the address lies. The memory is kept while the slice lives. Never
    /// blocks. C: `km_context_find_slice`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// let slice = context.alloc_zeros::<u32>(4)?;
    /// // SAFETY: both slices are only read.
    /// let (found, offset) = unsafe { context.find_slice(slice.address()? + 8) }?;
    /// assert_eq!((found.len(), offset), (16, 8));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    ///
    /// The slice shares its memory with another one, or with page-locked memory of the host: who
    /// uses both keeps to what one slice would allow. Memory of the host is not written by the
    /// device while the host uses it, and not used by the host while the device writes it.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_FOUND`](crate::Status) when no live allocation of the context holds the
    /// address.
    pub unsafe fn find_slice(&self, address: u64) -> Result<(Slice<u8>, u64)> {
        let (mut raw, mut offset) = (null_mut(), 0);
        // SAFETY: handles are checked ids, and the out-parameters live through the call.
        check(unsafe {
            sys::km_context_find_slice(self.as_raw(), address, &mut raw, &mut offset)
        })?;
        // SAFETY: the call gave a handle of its own.
        Ok((unsafe { Slice::from_raw(raw) }?, offset))
    }
}

impl Stream {
    /// [`memcpy_htod`](Self::memcpy_htod) to a device address. C: `km_memory_upload`.
    ///
    /// # Safety
    ///
    /// The memory is not borrowed, and no other work uses it at the same time.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_BOUNDS`](crate::Status) when the elements do not lie within one
    /// allocation of the context, [`Status::ERROR_NOT_PERMITTED`](crate::Status) inside a callback,
    /// the sticky error of the context when a kernel failed.
    pub unsafe fn memcpy_htod_address<T: Pod>(&self, source: &[T], address: u64) -> Result<()> {
        let source = readable(source)?;
        let (from, size) = (source.as_ptr().cast(), size_of_val(&*source) as u64);
        // SAFETY: the source has that size, and has been read when the call returns; the caller
        // answers for the destination.
        check(unsafe { sys::km_memory_upload(self.as_raw(), address, from, size) })
    }

    /// [`memcpy_dtoh`](Self::memcpy_dtoh) from a device address. C: `km_memory_download`.
    ///
    /// # Safety
    ///
    /// The memory is not borrowed to be written, and no other work writes it at the same time.
    ///
    /// # Errors
    ///
    /// Those of [`memcpy_htod_address`](Self::memcpy_htod_address).
    pub unsafe fn memcpy_dtoh_address<T: Pod>(
        &self,
        address: u64,
        destination: &mut [T],
    ) -> Result<()> {
        write_into(destination, |destination| {
            let (to, size) = (destination.as_mut_ptr().cast(), size_of_val(destination) as u64);
            // SAFETY: the destination has that size, and has been written when the call returns.
            check(unsafe { sys::km_memory_download(self.as_raw(), address, to, size) })
        })
    }

    /// Copies bytes from one device address to another. Never blocks. C: `km_memory_copy`.
    ///
    /// # Safety
    ///
    /// Those of [`memcpy_htod_address`](Self::memcpy_htod_address) and
    /// [`memcpy_dtoh_address`](Self::memcpy_dtoh_address).
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_BOUNDS`](crate::Status) when the bytes do not lie within one
    /// allocation of the context each, [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when they
    /// overlap, the sticky error of the context when a kernel failed.
    pub unsafe fn memcpy_dtod_address(
        &self,
        source: u64,
        destination: u64,
        size_bytes: u64,
    ) -> Result<()> {
        // SAFETY: the caller answers for the memory.
        check(unsafe { sys::km_memory_copy(self.as_raw(), destination, source, size_bytes) })
    }

    /// Copies bytes between device addresses of two contexts, which may be the same. Never blocks.
    /// C: `km_memory_copy_peer`.
    ///
    /// # Safety
    ///
    /// That of [`memcpy_dtod_address`](Self::memcpy_dtod_address).
    ///
    /// # Errors
    ///
    /// Those of [`memcpy_dtod_address`](Self::memcpy_dtod_address), and
    /// [`Status::ERROR_NOT_SUPPORTED`](crate::Status) when the contexts are of different backends.
    pub unsafe fn memcpy_peer_address(
        &self,
        (source_context, source): (&Context, u64),
        (destination_context, destination): (&Context, u64),
        size_bytes: u64,
    ) -> Result<()> {
        let (from, to) = (source_context.as_raw(), destination_context.as_raw());
        // SAFETY: the caller answers for the memory.
        check(unsafe {
            sys::km_memory_copy_peer(self.as_raw(), to, destination, from, source, size_bytes)
        })
    }

    /// Writes a value `count` times from a device address on. Never blocks. C: `km_memory_fill_u8`,
    /// `km_memory_fill_u16`, `km_memory_fill_u32`.
    ///
    /// # Safety
    ///
    /// That of [`memcpy_htod_address`](Self::memcpy_htod_address).
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_BOUNDS`](crate::Status) when the values do not lie within one
    /// allocation of the context, [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the
    /// address is no multiple of the value's size, the sticky error of the context when a kernel
    /// failed.
    pub unsafe fn fill_address<T: Fill>(&self, address: u64, value: T, count: u64) -> Result<()> {
        let (stream, (value, size)) = (self.as_raw(), value.bits());
        // SAFETY: the caller answers for the memory.
        check(unsafe {
            match size {
                1 => sys::km_memory_fill_u8(stream, address, value as u8, count),
                2 => sys::km_memory_fill_u16(stream, address, value as u16, count),
                _ => sys::km_memory_fill_u32(stream, address, value, count),
            }
        })
    }

    /// [`memcpy_htod_3d`](Self::memcpy_htod_3d) to a device address, from which the rows' offset
    /// counts. C: `km_memory_upload_3d`.
    ///
    /// # Safety
    ///
    /// That of [`memcpy_htod_address`](Self::memcpy_htod_address).
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_BOUNDS`](crate::Status) when the rows do not lie within one
    /// allocation of the context or within the source, else those of
    /// [`memcpy_htod_3d`](Self::memcpy_htod_3d).
    pub unsafe fn memcpy_htod_3d_address<T: Pod>(
        &self,
        source: &[T],
        source_rows: Rows,
        address: u64,
        destination_rows: Rows,
        extent: Extent,
    ) -> Result<()> {
        let source = readable(source)?;
        let from = (source_rows, source.len());
        let shape = copy_shape::<T>(from, (destination_rows, usize::MAX), extent)?;
        let source = source.as_ptr().cast();
        // SAFETY: all rows lie within the source, which has been read when the call returns; the
        // caller answers for the destination.
        check(unsafe { sys::km_memory_upload_3d(self.as_raw(), address, source, &shape) })
    }

    /// [`memcpy_dtoh_3d`](Self::memcpy_dtoh_3d) from a device address, from which the rows' offset
    /// counts. C: `km_memory_download_3d`.
    ///
    /// # Safety
    ///
    /// That of [`memcpy_dtoh_address`](Self::memcpy_dtoh_address).
    ///
    /// # Errors
    ///
    /// Those of [`memcpy_htod_3d_address`](Self::memcpy_htod_3d_address).
    pub unsafe fn memcpy_dtoh_3d_address<T: Pod>(
        &self,
        address: u64,
        source_rows: Rows,
        destination: &mut [T],
        destination_rows: Rows,
        extent: Extent,
    ) -> Result<()> {
        let to = (destination_rows, destination.len());
        let shape = copy_shape::<T>((source_rows, usize::MAX), to, extent)?;
        write_into(destination, |destination| {
            let to = destination.as_mut_ptr().cast();
            // SAFETY: all rows lie within the destination, which has been written when the call
            // returns; the caller answers for the source.
            check(unsafe { sys::km_memory_download_3d(self.as_raw(), address, to, &shape) })
        })
    }

    /// [`memcpy_dtod_3d`](Self::memcpy_dtod_3d) of elements of `T` between device addresses, from
    /// which the rows' offsets count. C: `km_memory_copy_3d`.
    ///
    /// # Safety
    ///
    /// That of [`memcpy_dtod_address`](Self::memcpy_dtod_address).
    ///
    /// # Errors
    ///
    /// Those of [`memcpy_dtod_3d`](Self::memcpy_dtod_3d).
    pub unsafe fn memcpy_dtod_3d_address<T: Pod>(
        &self,
        source: u64,
        source_rows: Rows,
        destination: u64,
        destination_rows: Rows,
        extent: Extent,
    ) -> Result<()> {
        let (from, to) = ((source_rows, usize::MAX), (destination_rows, usize::MAX));
        let shape = copy_shape::<T>(from, to, extent)?;
        // SAFETY: the caller answers for the memory.
        check(unsafe { sys::km_memory_copy_3d(self.as_raw(), destination, source, &shape) })
    }

    /// [`fill_2d`](Self::fill_2d) of rows that begin `pitch_bytes` apart from a device address on;
    /// 0: without gaps. C: `km_memory_fill_2d`.
    ///
    /// # Safety
    ///
    /// That of [`memcpy_htod_address`](Self::memcpy_htod_address).
    ///
    /// # Errors
    ///
    /// Those of [`fill_2d`](Self::fill_2d).
    pub unsafe fn fill_2d_address<T: Fill>(
        &self,
        address: u64,
        pitch_bytes: u64,
        width: u64,
        height: u64,
        value: T,
    ) -> Result<()> {
        let (stream, (value, size)) = (self.as_raw(), value.bits());
        // SAFETY: the caller answers for the memory.
        check(unsafe {
            sys::km_memory_fill_2d(stream, address, pitch_bytes, value, size, width, height)
        })
    }
}
