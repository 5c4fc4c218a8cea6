//! Page-locked host memory, and copies under way that own it.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::mem::{size_of, size_of_val};
use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

use crate::copy::same_len;
use crate::error::check;
use crate::{Context, DeviceSlice, DeviceSliceMut, Error, Event, Pod, Result, Status, Stream, sys};

/// Page-locked host memory: a slice of the host from and to which copies are asynchronous. Such a
/// copy takes the memory along until it is done, so that nobody touches it meanwhile:
///
/// ```
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// let stream = context.new_stream()?;
/// let mut host = context.alloc_pinned::<f32>(1000)?;
/// host.fill(1.5);
/// let mut slice = stream.alloc_zeros(1000)?;
/// let pending = stream.memcpy_htod_async(host, &mut slice)?;
/// // ... other work ...
/// let host = pending.wait()?;
/// # assert_eq!(host[999], 1.5);
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail,E0382
/// # fn main() -> kernelmill::Result<()> {
/// let context = kernelmill::Context::open("auto")?;
/// let stream = context.new_stream()?;
/// let mut host = context.alloc_pinned::<f32>(1000)?;
/// let mut slice = stream.alloc_zeros(1000)?;
/// let pending = stream.memcpy_htod_async(host, &mut slice)?;
/// host[0] = 1.0; // error: the copy has it
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PinnedMemory<T: Pod> {
    raw: sys::km_host_memory,
    pointer: NonNull<T>,
    len: usize,
}

// SAFETY: include/c_api.h says "Threads: any" of every km_host_memory_... function; the memory
// itself is this object's own, like that of a Vec.
unsafe impl<T: Pod> Send for PinnedMemory<T> {}
// SAFETY: the same.
unsafe impl<T: Pod> Sync for PinnedMemory<T> {}

impl<T: Pod> PinnedMemory<T> {
    pub(crate) fn new(context: &Context, len: usize) -> Result<Self> {
        let too_large = || Error::new(Status::ERROR_INVALID_ARGUMENT, format!("{len} elements"));
        let size = len.checked_mul(size_of::<T>()).ok_or_else(too_large)?;
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe {
            let flags = sys::km_host_memory_flags::DEFAULT;
            sys::km_host_memory_create(context.as_raw(), size as u64, flags, &mut raw)
        })?;
        // Owned from here on; the length is 0 until the memory is known to be right.
        let mut memory = Self { raw, pointer: NonNull::dangling(), len: 0 };
        let mut pointer: *mut c_void = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_host_memory_pointer(raw, &mut pointer) })?;
        match NonNull::new(pointer.cast::<T>()) {
            Some(pointer) if pointer.is_aligned() => {
                // SAFETY: the memory has `size` bytes; zeros are elements, see Pod.
                unsafe { pointer.write_bytes(0, len) };
                memory.pointer = pointer;
                memory.len = len;
                remember(pointer.addr().get(), size);
                Ok(memory)
            }
            _ => Err(Error::new(
                Status::ERROR_NOT_SUPPORTED,
                format!("page-locked memory at {pointer:p} does not fit the element's alignment"),
            )),
        }
    }

    /// The handle, for calls of [`sys`]; it stays this object's.
    pub fn as_raw(&self) -> sys::km_host_memory {
        self.raw
    }
}

impl<T: Pod> Deref for PinnedMemory<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the memory has `len` elements, stays mapped until the handle is destroyed, also
        // when the context is reset, and no copy is under way: those own the object.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.len) }
    }
}

impl<T: Pod> DerefMut for PinnedMemory<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.len) }
    }
}

impl<T: Pod> Drop for PinnedMemory<T> {
    fn drop(&mut self) {
        if self.len != 0 {
            forget(self.pointer.addr().get());
        }
        // SAFETY: the handle is this object's own. The library frees the memory after the last
        // copy from or to it.
        unsafe { sys::km_host_memory_destroy(self.raw) };
    }
}

/// A copy under way, which owns the host memory. Dropping it does not wait: the memory is freed
/// when the copy is done.
#[derive(Debug)]
#[must_use = "wait() gives the memory back"]
pub struct Pending<T: Pod> {
    memory: PinnedMemory<T>,
    done: Event,
}

impl<T: Pod> Pending<T> {
    /// Whether the copy is done.
    pub fn is_done(&self) -> Result<bool> {
        self.done.is_done()
    }

    /// Waits until the copy is done and gives the memory back.
    pub fn wait(self) -> Result<PinnedMemory<T>> {
        self.done.synchronize()?;
        Ok(self.memory)
    }
}

impl Stream {
    /// Copies from page-locked memory to as many elements on the device, later, in stream order.
    pub fn memcpy_htod_async<T: Pod>(
        &self,
        source: PinnedMemory<T>,
        destination: &mut impl DeviceSliceMut<T>,
    ) -> Result<Pending<T>> {
        let place = destination.place();
        same_len("memcpy_htod_async", source.len(), place.len)?;
        let done = self.context()?.new_event_without_timing()?;
        let (from, size) = (source.pointer.as_ptr().cast(), size_of_val(&*source) as u64);
        // SAFETY: the source has that size, and nobody writes it while Pending owns it; if that is
        // dropped first, the library keeps it.
        check(unsafe {
            sys::km_slice_upload(self.as_raw(), place.slice, place.offset_bytes, from, size)
        })?;
        done.record(self)?;
        Ok(Pending { memory: source, done })
    }

    /// Copies from the device to as many elements of page-locked memory, later, in stream order.
    pub fn memcpy_dtoh_async<T: Pod>(
        &self,
        source: &impl DeviceSlice<T>,
        destination: PinnedMemory<T>,
    ) -> Result<Pending<T>> {
        let place = source.place();
        same_len("memcpy_dtoh_async", place.len, destination.len())?;
        let done = self.context()?.new_event_without_timing()?;
        let (to, size) = (destination.pointer.as_ptr().cast(), size_of_val(&*destination) as u64);
        // SAFETY: the destination has that size, and nobody touches it while Pending owns it; if
        // that is dropped first, the library keeps it.
        check(unsafe {
            sys::km_slice_download(self.as_raw(), place.slice, place.offset_bytes, to, size)
        })?;
        done.record(self)?;
        Ok(Pending { memory: destination, done })
    }
}

// All page-locked memory of this crate, first byte to size: copies with a borrowed `&[T]` of it
// must not be asynchronous.
static PINNED: RwLock<BTreeMap<usize, usize>> = RwLock::new(BTreeMap::new());
static PINNED_COUNT: AtomicUsize = AtomicUsize::new(0);

fn remember(address: usize, size: usize) {
    PINNED.write().unwrap_or_else(PoisonError::into_inner).insert(address, size);
    PINNED_COUNT.fetch_add(1, Ordering::Release);
}

fn forget(address: usize) {
    PINNED.write().unwrap_or_else(PoisonError::into_inner).remove(&address);
    PINNED_COUNT.fetch_sub(1, Ordering::Release);
}

/// Whether some of the elements lie in page-locked memory.
pub(crate) fn is_pinned<T>(elements: &[T]) -> bool {
    if PINNED_COUNT.load(Ordering::Acquire) == 0 {
        return false;
    }
    let start = elements.as_ptr().addr();
    let end = start + size_of_val(elements);
    let pinned = PINNED.read().unwrap_or_else(PoisonError::into_inner);
    pinned.range(..end).next_back().is_some_and(|(address, size)| start < address + size)
}
