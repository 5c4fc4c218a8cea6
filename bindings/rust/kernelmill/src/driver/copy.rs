//! Allocations, copies and fills in the order of a stream.

use std::mem::MaybeUninit;

use super::error::Cuda;
use super::host::{Readable, Writable};
use super::memory::{Destination, Memory, Source, size_of_elements};
use super::{
    CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr, DriverError, HostSlice,
    ValidAsZeroBits,
};
use crate::error::check;
use crate::pinned::is_pinned;
use crate::view::Place;
use crate::{Result as NativeResult, Stream, sys};

impl CudaStream {
    /// An empty slice.
    ///
    /// # Errors
    ///
    /// The error of a kernel that failed.
    pub fn null<T>(&self) -> Result<CudaSlice<T>, DriverError> {
        Ok(CudaSlice::new(Memory::new(self, 0)?, 0))
    }

    /// Device memory for `len` elements with any content, for work that is queued here from now on.
    ///
    /// # Safety
    ///
    /// The memory is written before elements are read from it, unless all patterns of bits are
    /// elements.
    ///
    /// # Errors
    ///
    /// [`DriverError::OutOfMemory`] when the device has not that much left, with the figures;
    /// [`DriverError::InvalidValue`] when the size does not fit 64 bits; the error of a kernel that
    /// failed.
    pub unsafe fn alloc<T: DeviceRepr>(&self, len: usize) -> Result<CudaSlice<T>, DriverError> {
        self.uninit(len)
    }

    fn uninit<T: DeviceRepr>(&self, len: usize) -> Result<CudaSlice<T>, DriverError> {
        Ok(CudaSlice::typed(Memory::new(self, size_of_elements::<T>(len)?)?, len))
    }

    /// Device memory for `len` elements, zeroed, for work that is queued here from now on.
    ///
    /// # Errors
    ///
    /// Those of [`alloc`](Self::alloc).
    pub fn alloc_zeros<T: DeviceRepr + ValidAsZeroBits>(
        &self,
        len: usize,
    ) -> Result<CudaSlice<T>, DriverError> {
        Ok(CudaSlice::typed(Memory::zeroed(self, size_of_elements::<T>(len)?)?, len))
    }

    /// Writes zeros to all elements. Never blocks.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidContext`] when the memory is of another context, the error of a kernel
    /// that failed.
    pub fn memset_zeros<T: DeviceRepr + ValidAsZeroBits, Dst: DevicePtrMut<T>>(
        &self,
        dst: &mut Dst,
    ) -> Result<(), DriverError> {
        let place = dst.bytes();
        self.on_device([dst.memory()], |stream| stream.memset_zeros::<u8>(&mut Destination(place)))
    }

    /// Copies from the host to the beginning of device memory, which is at least as long. The source
    /// has been read when the call returns; beyond 64 KiB it waits for the stream. From
    /// [`PinnedHostSlice`](super::PinnedHostSlice) it never waits.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidValue`] when the destination is shorter,
    /// [`DriverError::StreamCaptureUnsupported`] while the stream is captured, else those of
    /// [`memset_zeros`](Self::memset_zeros).
    pub fn memcpy_htod<T, Src, Dst>(&self, src: &Src, dst: &mut Dst) -> Result<(), DriverError>
    where
        T: DeviceRepr,
        Src: HostSlice<T> + ?Sized,
        Dst: DevicePtrMut<T>,
    {
        fits("memcpy_htod", src.len(), dst.len())?;
        dst.memory().check_access(self)?;
        let place = Place { len: src.len() * size_of::<T>(), ..dst.bytes() };
        match src.readable() {
            Readable::Pageable(bytes) => {
                self.queue.with_host_memory(|stream| upload(stream, bytes, place))
            }
            Readable::Pinned(pages) => pages.upload(self, place),
            Readable::Unified(memory, from) => {
                self.on_device([memory, dst.memory()], |stream| copy(stream, from, place))
            }
        }
    }

    /// Copies from the device to the beginning of host memory, which is at least as long. It has
    /// been written when the call returns, which waits for the stream. To
    /// [`PinnedHostSlice`](super::PinnedHostSlice) it never waits.
    ///
    /// # Errors
    ///
    /// Those of [`memcpy_htod`](Self::memcpy_htod).
    pub fn memcpy_dtoh<T, Src, Dst>(&self, src: &Src, dst: &mut Dst) -> Result<(), DriverError>
    where
        T: DeviceRepr,
        Src: DevicePtr<T>,
        Dst: HostSlice<T> + ?Sized,
    {
        fits("memcpy_dtoh", src.len(), dst.len())?;
        src.memory().check_access(self)?;
        let place = src.bytes();
        match dst.writable() {
            Writable::Pageable(bytes) => {
                let bytes = bytes.get_mut(..place.len).unwrap_or_default();
                self.queue.with_host_memory(|stream| download(stream, place, bytes))
            }
            Writable::Pinned(pages) => pages.download(self, place),
            Writable::Unified(memory, to) => {
                let to = Place { len: place.len, ..to };
                self.on_device([memory, src.memory()], |stream| copy(stream, place, to))
            }
        }
    }

    /// Copies within the device, or between devices, to the beginning of memory that is at least as
    /// long. Never blocks within a context; between contexts it waits for the memory's other uses, and
    /// for the copy.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidValue`] when the destination is shorter, else those of
    /// [`memset_zeros`](Self::memset_zeros).
    pub fn memcpy_dtod<T, Src, Dst>(&self, src: &Src, dst: &mut Dst) -> Result<(), DriverError>
    where
        Src: DevicePtr<T>,
        Dst: DevicePtrMut<T>,
    {
        fits("memcpy_dtod", src.len(), dst.len())?;
        let (from, to) = (src.bytes(), dst.bytes());
        let to = Place { len: from.len, ..to };
        let contexts = (src.stream().context(), dst.stream().context());
        if contexts.0 != contexts.1 {
            return self.copy_between(src, dst, (from, to));
        }
        self.on_device([src.memory(), dst.memory()], |stream| copy(stream, from, to))
    }

    /// Copies between contexts, each of which orders its own uses only.
    fn copy_between<T, Src: DevicePtr<T>, Dst: DevicePtrMut<T>>(
        &self,
        src: &Src,
        dst: &mut Dst,
        (from, to): (Place, Place),
    ) -> Result<(), DriverError> {
        src.memory().wait_for_writes()?;
        dst.memory().wait_for_uses()?;
        self.on_device([src.memory(), dst.memory()], |stream| {
            stream.memcpy_peer::<u8>(&Source(from), &mut Destination(to))?;
            stream.synchronize()
        })
    }

    /// A new slice with a copy of what the host has.
    ///
    /// # Errors
    ///
    /// Those of [`alloc`](Self::alloc) and [`memcpy_htod`](Self::memcpy_htod).
    pub fn clone_htod<T: DeviceRepr, Src: HostSlice<T> + ?Sized>(
        &self,
        src: &Src,
    ) -> Result<CudaSlice<T>, DriverError> {
        let mut slice = self.uninit(src.len())?;
        self.memcpy_htod(src, &mut slice)?;
        Ok(slice)
    }

    /// A vector with a copy of what the device has.
    ///
    /// # Errors
    ///
    /// [`DriverError::OutOfMemory`] when the host has no memory for it, else those of
    /// [`memcpy_dtoh`](Self::memcpy_dtoh).
    pub fn clone_dtoh<T: DeviceRepr, Src: DevicePtr<T>>(
        &self,
        src: &Src,
    ) -> Result<Vec<T>, DriverError> {
        let (len, place) = (src.len(), src.bytes());
        src.memory().check_access(self)?;
        let mut vector: Vec<T> = crate::copy::room_for(len).cuda()?;
        self.queue.with_host_memory(|stream| {
            let room: *mut MaybeUninit<u8> = vector.as_mut_ptr().cast();
            // SAFETY: the vector has room for the elements.
            let bytes = unsafe { std::slice::from_raw_parts_mut(room, place.len) };
            download(stream, place, bytes)
        })?;
        // SAFETY: they have been copied from memory that holds elements of the type.
        unsafe { vector.set_len(len) };
        Ok(vector)
    }

    /// A new slice on this stream with a copy of what another has, perhaps on another device.
    ///
    /// # Errors
    ///
    /// Those of [`alloc`](Self::alloc) and [`memcpy_dtod`](Self::memcpy_dtod).
    pub fn clone_dtod<T: DeviceRepr, Src: DevicePtr<T>>(
        &self,
        src: &Src,
    ) -> Result<CudaSlice<T>, DriverError> {
        let mut slice = self.uninit(src.len())?;
        self.memcpy_dtod(src, &mut slice)?;
        Ok(slice)
    }

    /// Queues work on device memory. If the host shares some of it, that is an error in a capture.
    fn on_device<const N: usize>(
        &self,
        memories: [&Memory; N],
        act: impl FnOnce(&Stream) -> NativeResult<()>,
    ) -> Result<(), DriverError> {
        let mut is_shared = false;
        for memory in memories {
            memory.check_access(self)?;
            is_shared |= memory.attachment.is_some();
        }
        if is_shared { self.queue.with_host_memory(act) } else { act(self.native()).cuda() }
    }
}

/// Checks that a copy has room.
fn fits(call: &str, source: usize, destination: usize) -> Result<(), DriverError> {
    if source <= destination {
        return Ok(());
    }
    Err(DriverError::invalid(format!(
        "{call}: the source has {source} elements and the destination {destination}; it must have \
         at least as many"
    )))
}

fn copy(stream: &Stream, from: Place, to: Place) -> NativeResult<()> {
    stream.memcpy_dtod::<u8>(&Source(from), &mut Destination(to))
}

/// Copies bytes of the host, which have been read when it returns: page-locked ones, which the
/// library would read later, by way of a copy.
fn upload(stream: &Stream, bytes: &[MaybeUninit<u8>], place: Place) -> NativeResult<()> {
    let aside = if is_pinned(bytes) { Some(bytes.to_vec()) } else { None };
    let from = aside.as_deref().unwrap_or(bytes).as_ptr().cast();
    // SAFETY: the source has that size, and has been read when the call returns.
    check(unsafe {
        let size = bytes.len() as u64;
        sys::km_slice_upload(stream.as_raw(), place.slice, place.offset_bytes, from, size)
    })
}

/// Copies to bytes of the host, which have been written when it returns: page-locked ones, which the
/// library would write later, by way of a copy.
fn download(stream: &Stream, place: Place, bytes: &mut [MaybeUninit<u8>]) -> NativeResult<()> {
    let mut aside = if is_pinned(bytes) { Some(bytes.to_vec()) } else { None };
    let to = aside.as_deref_mut().unwrap_or(&mut *bytes).as_mut_ptr();
    // SAFETY: the destination has that size, and has been written when the call returns.
    check(unsafe {
        let size = place.len as u64;
        sys::km_slice_download(stream.as_raw(), place.slice, place.offset_bytes, to.cast(), size)
    })?;
    if let Some(aside) = aside {
        bytes.copy_from_slice(&aside);
    }
    Ok(())
}
