//! Files that are mapped: as device memory, or as memory of the host to copy from.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::size_of;
use std::path::Path;
use std::ptr::{NonNull, null_mut};

use crate::copy::same_len;
use crate::error::{check, path_text};
use crate::{Context, DeviceSliceMut, Error, Pod, Result, Slice, Status, Stream, sys};

/// The right of what maps a file to write to it, [`km_map_flags`](sys::km_map_flags):
/// `MapFlags::READ_ONLY` refuses all writing; with `MapFlags::PRIVATE` the memory can be written,
/// and the file never changes.
pub use sys::km_map_flags as MapFlags;

impl Context {
    /// A part of a file as a slice, without reading it: pages are read when they are used, so the
    /// file may be larger than memory. `len` elements from `offset_bytes` on; none: all that there
    /// are. With [`MapFlags::READ_ONLY`] calls that would write to it are refused, and kernels that
    /// do so fail. The device sees what others write to the file meanwhile. Never blocks. C:
    /// `km_slice_map_file`.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// # let path = std::env::temp_dir().join(format!("kernelmill-doc-{}", std::process::id()));
    /// use kernelmill::MapFlags;
    /// std::fs::write(&path, [1u8, 2, 3, 4, 5, 6, 7, 8])?;
    /// let slice = context.map_slice::<u8>(&path, 2, None, MapFlags::READ_ONLY)?;
    /// assert_eq!(context.default_stream()?.clone_dtoh(&slice)?, [3, 4, 5, 6, 7, 8]);
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A file that becomes shorter while it is mapped is an error: of kernels and queued copies
    /// [`Status::ERROR_ILLEGAL_ADDRESS`], of copies that the call waits for [`Status::ERROR_IO`].
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_FOUND`] when there is no such file, [`Status::ERROR_IO`] when it cannot
    /// be opened or mapped, [`Status::ERROR_OUT_OF_BOUNDS`] when the part reaches beyond its end,
    /// [`Status::ERROR_INVALID_ARGUMENT`] when the part is empty or the path is no text,
    /// [`Status::ERROR_NOT_SUPPORTED`] when the device cannot use host memory, the sticky error of
    /// the context when a kernel failed.
    pub fn map_slice<T: Pod>(
        &self,
        path: impl AsRef<Path>,
        offset_bytes: u64,
        len: Option<usize>,
        flags: MapFlags,
    ) -> Result<Slice<T>> {
        let path = path_text(path.as_ref())?;
        size_bytes::<T>(len)?; // u64::MAX elements would be all that there are
        let (context, size) = (self.as_raw(), size_of::<T>() as u64);
        let count = len.map_or(u64::MAX, |len| len as u64);
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the arguments live through the call.
        check(unsafe {
            let path = path.as_ptr();
            sys::km_slice_map_file(context, path, offset_bytes, count, size, flags, &mut raw)
        })?;
        // SAFETY: the call gave a handle of its own.
        unsafe { Slice::from_raw(raw) }
    }

    /// A part of a file as host memory to copy from, without reading it: `len` elements from
    /// `offset_bytes` on; none: all that there are. Never blocks. C: `km_host_memory_map_file`.
    ///
    /// # Errors
    ///
    /// Those of [`map_slice`](Self::map_slice), and [`Status::ERROR_INVALID_ARGUMENT`] when the
    /// offset is no multiple of the element's alignment.
    pub fn map_host<T: Pod>(
        &self,
        path: impl AsRef<Path>,
        offset_bytes: u64,
        len: Option<usize>,
        flags: MapFlags,
    ) -> Result<MappedMemory<T>> {
        let path = path_text(path.as_ref())?;
        let size = size_bytes::<T>(len)?;
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the arguments live through the call.
        check(unsafe {
            let (context, path) = (self.as_raw(), path.as_ptr());
            sys::km_host_memory_map_file(context, path, offset_bytes, size, flags, &mut raw)
        })?;
        MappedMemory::new(raw)
    }
}

/// A part of a file as host memory, made by [`Context::map_host`]. Copies from it are errors when
/// the file has become shorter.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let context = kernelmill::Context::open("cpu")?;
/// # let path = std::env::temp_dir().join(format!("kernelmill-map-{}", std::process::id()));
/// # std::fs::write(&path, [1u8, 2, 3])?;
/// let file = context.map_host::<u8>(&path, 0, None, kernelmill::MapFlags::READ_ONLY)?;
/// let stream = context.default_stream()?;
/// let mut slice = stream.alloc(file.len())?;
/// stream.memcpy_mapped(&file, 0, &mut slice)?;
/// # assert_eq!(stream.clone_dtoh(&slice)?, [1, 2, 3]);
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct MappedMemory<T: Pod> {
    raw: sys::km_host_memory,
    pointer: NonNull<T>,
    len: usize,
    element: PhantomData<T>,
}

// SAFETY: base.h says "Threads: any" of every km_host_memory_... function; the memory is
// read by copies only, unless unsafe code takes it.
unsafe impl<T: Pod> Send for MappedMemory<T> {}
// SAFETY: the same.
unsafe impl<T: Pod> Sync for MappedMemory<T> {}

impl<T: Pod> MappedMemory<T> {
    fn new(raw: sys::km_host_memory) -> Result<Self> {
        // Owns the handle from here on.
        let mut memory = Self { raw, pointer: NonNull::dangling(), len: 0, element: PhantomData };
        let (mut pointer, mut size): (*mut c_void, u64) = (null_mut(), 0);
        // SAFETY: handles are checked ids, and the out-parameters live through the calls.
        unsafe {
            check(sys::km_host_memory_pointer(raw, &mut pointer))?;
            check(sys::km_host_memory_size_bytes(raw, &mut size))?;
        }
        let element = size_of::<T>();
        match NonNull::new(pointer.cast::<T>()) {
            Some(pointer) if pointer.is_aligned() && element != 0 => {
                memory.pointer = pointer;
                memory.len = size as usize / element;
                Ok(memory)
            }
            _ => Err(Error::new(
                Status::ERROR_INVALID_ARGUMENT,
                format!(
                    "the part of the file lies at {pointer:p}; elements of {element} bytes need a \
                     multiple of {}",
                    align_of::<T>()
                ),
            )),
        }
    }

    /// The number of whole elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The handle, for calls of [`sys`]; it stays this object's.
    pub fn as_raw(&self) -> sys::km_host_memory {
        self.raw
    }

    /// The elements themselves.
    ///
    /// # Safety
    ///
    /// Nobody, in this process or another, writes to the file or makes it shorter while the result
    /// is used: a page that is gone ends the process by SIGBUS.
    pub unsafe fn as_slice(&self) -> &[T] {
        // SAFETY: the memory has that many elements and stays mapped until the handle is destroyed;
        // the caller promises that they stay as they are.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.len) }
    }

    /// The elements themselves, to be written, which the file does not see.
    ///
    /// # Safety
    ///
    /// The file was mapped with [`MapFlags::PRIVATE`], and the rest is as for
    /// [`as_slice`](Self::as_slice).
    pub unsafe fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as above; writing goes to pages of this process.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.len) }
    }
}

impl<T: Pod> Drop for MappedMemory<T> {
    fn drop(&mut self) {
        // SAFETY: the handle is this object's own, and destroying it twice is no danger.
        unsafe { sys::km_host_memory_destroy(self.raw) };
    }
}

impl Stream {
    /// Copies from a mapped file, from element `first` on, to all elements of the destination. The
    /// file has been read when the call returns; beyond 64 KiB it waits for the stream. C:
    /// `km_slice_upload`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`] when the file has not that many elements,
    /// [`Status::ERROR_IO`] when it has become shorter, else those of
    /// [`memcpy_htod`](Self::memcpy_htod).
    pub fn memcpy_mapped<T: Pod>(
        &self,
        source: &MappedMemory<T>,
        first: usize,
        destination: &mut impl DeviceSliceMut<T>,
    ) -> Result<()> {
        let place = destination.place();
        let left = source.len.saturating_sub(first);
        same_len("memcpy_mapped", left.min(place.len), place.len)?;
        let size = destination.size_bytes() as u64;
        let from = source.pointer.as_ptr().wrapping_add(first).cast();
        // SAFETY: the file has that many elements from there on, and has been read when the call
        // returns; the library answers for pages that are gone.
        check(unsafe {
            sys::km_slice_upload(self.as_raw(), place.slice, place.offset_bytes, from, size)
        })
    }
}

/// The size of that many elements, as the library takes it: without a number, all that there are.
fn size_bytes<T>(len: Option<usize>) -> Result<u64> {
    let Some(len) = len else { return Ok(u64::MAX) };
    match len.checked_mul(size_of::<T>()) {
        Some(size) if size != usize::MAX => Ok(size as u64),
        _ => {
            let message = format!("{len} elements of {} bytes", size_of::<T>());
            Err(Error::new(Status::ERROR_INVALID_ARGUMENT, message))
        }
    }
}
