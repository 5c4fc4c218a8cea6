//! Page-locked host memory, and copies under way that own it.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::mem::{size_of, size_of_val};
use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::copy::{same_len, zeros};
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
    registered: Option<Registered<T>>,
}

/// The program's own memory, page-locked.
struct Registered<T> {
    vector: Vec<T>,
    context: Context,
    last_copy: Option<Arc<Event>>, // the end of it
}

impl<T> std::fmt::Debug for Registered<T> {
    /// Without the elements, which a copy may be writing.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Registered").field("context", &self.context).finish_non_exhaustive()
    }
}

// SAFETY: base.h says "Threads: any" of every km_host_memory_... function; the memory
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
        let mut memory = Self { raw, pointer: NonNull::dangling(), len: 0, registered: None };
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

    /// Makes the memory of a vector page-locked, without a copy;
    /// [`into_vec`](Self::into_vec) gives it back. Never blocks. C: `km_host_memory_register`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// let stream = context.new_stream()?;
    /// let host = kernelmill::PinnedMemory::from_vec(&context, vec![1.5f32; 1000])?;
    /// let mut slice = stream.alloc_zeros(1000)?;
    /// let host = stream.memcpy_htod_async(host, &mut slice)?.wait()?;
    /// assert_eq!(host.into_vec()?, [1.5; 1000]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`] when the vector is empty,
    /// [`Status::ERROR_NOT_SUPPORTED`] when the backend has no such thing, the sticky error of the
    /// context when a kernel failed; the vector is dropped then.
    pub fn from_vec(context: &Context, mut vector: Vec<T>) -> Result<Self> {
        let size = size_of_val(&*vector);
        let owner = context.default_stream()?.context()?; // a handle of its own
        let mut raw = null_mut();
        // SAFETY: the memory stays where it is until the handle has been destroyed.
        check(unsafe {
            let flags = sys::km_host_memory_flags::DEFAULT;
            let pointer = vector.as_mut_ptr().cast();
            let context = context.as_raw();
            sys::km_host_memory_register(context, pointer, size as u64, flags, &mut raw)
        })?;
        let pointer = NonNull::new(vector.as_mut_ptr()).unwrap_or(NonNull::dangling());
        let len = vector.len();
        remember(pointer.addr().get(), size);
        let registered = Some(Registered { vector, context: owner, last_copy: None });
        Ok(Self { raw, pointer, len, registered })
    }

    /// The elements as a vector: the one that [`from_vec`](Self::from_vec) was given, else a copy.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_HOST_MEMORY`] when there is no memory for a copy.
    pub fn into_vec(mut self) -> Result<Vec<T>> {
        if let Some(done) = self.registered.as_ref().and_then(|own| own.last_copy.as_ref()) {
            done.synchronize()?; // it is, where the memory was given back
        }
        if let Some(registered) = self.registered.take() {
            drop(self); // no longer page-locked
            return Ok(registered.vector);
        }
        let mut vector = zeros(self.len)?;
        vector.copy_from_slice(&self);
        Ok(vector)
    }

    /// The handle, for calls of [`sys`]; it stays this object's.
    pub fn as_raw(&self) -> sys::km_host_memory {
        self.raw
    }

    /// The size in bytes that the library knows, which may be more than that of all elements. Never
    /// blocks. C: `km_host_memory_size_bytes`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub fn size_bytes(&self) -> Result<u64> {
        let mut size = 0;
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_host_memory_size_bytes(self.raw, &mut size) })?;
        Ok(size)
    }

    /// True when the memory is the program's own, which the library does not keep.
    pub(crate) fn is_registered(&self) -> bool {
        self.registered.is_some()
    }

    /// The first element and the number of elements, without a look at them.
    pub(crate) fn parts(&self) -> (NonNull<T>, usize) {
        (self.pointer, self.len)
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
        let address = if self.len == 0 { None } else { Some(self.pointer.addr().get()) };
        let Some(registered) = self.registered.take() else {
            drop(Rest::<T> { raw: self.raw, address, _vector: Vec::new() });
            return;
        };
        let rest = Rest { raw: self.raw, address, _vector: registered.vector };
        match registered.last_copy {
            Some(done) => rest.drop_when_done(&registered.context, &done),
            None => drop(rest),
        }
    }
}

/// The rest of page-locked memory that nobody has any more. The library frees its own memory
/// after the last copy from or to it; that of the program stays until then.
struct Rest<T> {
    raw: sys::km_host_memory,
    address: Option<usize>,
    _vector: Vec<T>, // freed last
}

// SAFETY: the handle is a checked id, and no pointer to anything.
unsafe impl<T: Send> Send for Rest<T> {}

impl<T> Drop for Rest<T> {
    fn drop(&mut self) {
        if let Some(address) = self.address {
            forget(address);
        }
        // SAFETY: the handle is this object's own, and destroying it twice is no danger.
        unsafe { sys::km_host_memory_destroy(self.raw) };
    }
}

impl<T: Send + 'static> Rest<T> {
    /// Drops it when the event's work is done, on a stream that waits for that. Where that cannot
    /// be known, as after a kernel that failed, it is never dropped.
    fn drop_when_done(self, context: &Context, done: &Event) {
        if matches!(done.is_done(), Ok(true)) {
            return;
        }
        let rest = Arc::new(Mutex::new(self));
        let kept = Arc::clone(&rest);
        let queue = || {
            let stream = context.new_stream()?;
            stream.wait(done)?;
            stream.add_callback(move |_| drop(rest))
        };
        match queue() {
            Ok(()) => drop(kept),
            Err(_) => std::mem::forget(kept),
        }
    }
}

/// A copy under way, which owns the host memory. Dropping it does not wait: the memory is freed
/// when the copy is done.
#[derive(Debug)]
#[must_use = "wait(), or awaiting it, gives the memory back"]
pub struct Pending<T: Pod> {
    memory: PinnedMemory<T>, // which knows the end of the copy, too, where that matters
    done: Arc<Event>,
}

impl<T: Pod> Pending<T> {
    /// Queues a copy from or to all of the memory, which `copy` is given the address of.
    pub(crate) fn queue(
        stream: &Stream,
        mut memory: PinnedMemory<T>,
        copy: impl FnOnce(*mut T) -> Status,
    ) -> Result<Self> {
        let done = Arc::new(stream.context()?.new_event_without_timing()?);
        check(copy(memory.pointer.as_ptr()))?;
        if let Err(error) = done.record(stream) {
            // The copy is under way without a mark to wait for.
            if memory.is_registered() && stream.synchronize().is_err() {
                std::mem::forget(memory);
            }
            return Err(error);
        }
        if let Some(registered) = &mut memory.registered {
            registered.last_copy = Some(Arc::clone(&done));
        }
        Ok(Self { memory, done })
    }

    /// True when the copy is done. Never blocks. C: `km_event_query`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset, the sticky error
    /// of the context when a kernel failed.
    pub fn is_done(&self) -> Result<bool> {
        self.done.is_done()
    }

    /// The memory, and the event of the copy's end.
    pub(crate) fn into_parts(self) -> (PinnedMemory<T>, Arc<Event>) {
        (self.memory, self.done)
    }

    /// Waits until the copy is done and gives the memory back. Awaiting the object does the same
    /// without a thread that waits. C: `km_event_synchronize`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_PERMITTED`](crate::Status) inside a callback of this library,
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset, the sticky error
    /// of the context when a kernel failed.
    pub fn wait(self) -> Result<PinnedMemory<T>> {
        self.done.synchronize()?;
        Ok(self.memory)
    }
}

impl Stream {
    /// Copies from page-locked memory to as many elements on the device, later, in stream order.
    /// Never blocks. C: `km_slice_upload`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the lengths differ,
    /// [`Status::ERROR_CONTEXT_MISMATCH`](crate::Status) when the slice is of another context,
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset, the sticky error
    /// of the context when a kernel failed.
    pub fn memcpy_htod_async<T: Pod>(
        &self,
        source: PinnedMemory<T>,
        destination: &mut impl DeviceSliceMut<T>,
    ) -> Result<Pending<T>> {
        let place = destination.place();
        same_len("memcpy_htod_async", source.len(), place.len)?;
        let size = size_of_val(&*source) as u64;
        Pending::queue(self, source, |from| {
            let (stream, from) = (self.as_raw(), from.cast());
            // SAFETY: the source has that size, and nobody writes it while Pending owns it; if that
            // is dropped first, the memory is kept.
            unsafe { sys::km_slice_upload(stream, place.slice, place.offset_bytes, from, size) }
        })
    }

    /// Copies from the device to as many elements of page-locked memory, later, in stream order.
    /// Never blocks. C: `km_slice_download`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the lengths differ,
    /// [`Status::ERROR_CONTEXT_MISMATCH`](crate::Status) when the slice is of another context,
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset, the sticky error
    /// of the context when a kernel failed.
    pub fn memcpy_dtoh_async<T: Pod>(
        &self,
        source: &impl DeviceSlice<T>,
        destination: PinnedMemory<T>,
    ) -> Result<Pending<T>> {
        let place = source.place();
        same_len("memcpy_dtoh_async", place.len, destination.len())?;
        let size = size_of_val(&*destination) as u64;
        Pending::queue(self, destination, |to| {
            let (stream, to) = (self.as_raw(), to.cast());
            // SAFETY: the destination has that size, and nobody touches it while Pending owns it;
            // if that is dropped first, the memory is kept.
            unsafe { sys::km_slice_download(stream, place.slice, place.offset_bytes, to, size) }
        })
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

/// True when some of the elements lie in page-locked memory.
pub(crate) fn is_pinned<T>(elements: &[T]) -> bool {
    if PINNED_COUNT.load(Ordering::Acquire) == 0 {
        return false;
    }
    let start = elements.as_ptr().addr();
    let end = start + size_of_val(elements);
    let pinned = PINNED.read().unwrap_or_else(PoisonError::into_inner);
    pinned.range(..end).next_back().is_some_and(|(address, size)| start < address + size)
}
