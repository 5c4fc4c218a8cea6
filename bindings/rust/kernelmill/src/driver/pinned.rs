//! Page-locked host memory, from and to which copies go on while the host does other work.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::error::Cuda;
use super::memory::size_of_elements;
use super::{CudaContext, CudaStream, DeviceRepr, DriverError, ValidAsZeroBits};
use crate::error::check;
use crate::view::Place;
use crate::{Event, PinnedMemory, Result as NativeResult, Stream, sys};

/// Page-locked host memory. Copies from and to it are queued and go on by themselves; its elements
/// are reached by calls that wait for them, and it may be dropped at any time.
///
/// ```
/// use kernelmill::driver::CudaContext;
/// # fn main() -> Result<(), kernelmill::driver::DriverError> {
/// let stream = CudaContext::new(0)?.default_stream();
/// let mut pinned = stream.pin_memory(&[1.0f32, 2.0, 3.0])?;
/// let mut data = stream.alloc_zeros::<f32>(3)?;
/// stream.htod_copy_async(&pinned, &mut data)?; // queued
/// pinned.as_mut_slice()?.fill(0.0); // waits for the copy
/// assert_eq!(stream.clone_dtoh(&data)?, [1.0, 2.0, 3.0]);
/// # Ok(())
/// # }
/// ```
///
/// It cannot be changed without that wait:
///
/// ```compile_fail,E0608
/// use kernelmill::driver::CudaContext;
/// # fn main() -> Result<(), kernelmill::driver::DriverError> {
/// let stream = CudaContext::new(0)?.default_stream();
/// let mut pinned = stream.pin_memory(&[1.0f32, 2.0, 3.0])?;
/// let mut data = stream.alloc_zeros::<f32>(3)?;
/// stream.htod_copy_async(&pinned, &mut data)?;
/// pinned[0] = 0.0; // error: there is no such way
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PinnedHostSlice<T> {
    pages: Pages,
    len: usize,
    context: Arc<CudaContext>,
    marker: PhantomData<fn(T) -> T>,
}

/// Another name of [`PinnedHostSlice`].
pub type PinnedBuffer<T> = PinnedHostSlice<T>;

/// The memory, and the last copy from or to it.
#[derive(Debug)]
pub struct Pages {
    _memory: PinnedMemory<u8>,
    pointer: NonNull<u8>,
    last: Mutex<LastCopy>,
}

/// The last copy.
#[derive(Debug, Default)]
struct LastCopy {
    done: Option<Event>, // its end
    is_lost: bool,       // one may go on without a mark to wait for
}

// SAFETY: the pointer is that of the memory, which is Send and Sync.
unsafe impl Send for Pages {}
// SAFETY: the same; elements are reached when no copy is under way.
unsafe impl Sync for Pages {}

impl CudaContext {
    /// Page-locked memory for `len` elements. Here it is zeroed, and never write-combined, so that
    /// the host reads it at full speed.
    ///
    /// # Safety
    ///
    /// The elements are written before they are read, unless zeros are elements.
    ///
    /// # Errors
    ///
    /// [`DriverError::OutOfMemory`] when there is not that much, [`DriverError::InvalidValue`] when
    /// the size is 0 or does not fit 64 bits.
    pub unsafe fn alloc_pinned<T: DeviceRepr>(
        self: &Arc<Self>,
        len: usize,
    ) -> Result<PinnedHostSlice<T>, DriverError> {
        PinnedHostSlice::new(self, len)
    }

    /// Page-locked memory with flags of CUDA, [`sys::CU_MEMHOSTALLOC_PORTABLE`](super::sys) and the
    /// like, which make no difference.
    ///
    /// # Safety
    ///
    /// That of [`alloc_pinned`](Self::alloc_pinned).
    ///
    /// # Errors
    ///
    /// Those of [`alloc_pinned`](Self::alloc_pinned), and [`DriverError::InvalidValue`] when CUDA
    /// has no such flag.
    pub unsafe fn alloc_pinned_with_flags<T: DeviceRepr>(
        self: &Arc<Self>,
        len: usize,
        flags: u32,
    ) -> Result<PinnedHostSlice<T>, DriverError> {
        if flags > 7 {
            return Err(DriverError::invalid(format!(
                "flags is {flags}; CUDA has bits 1, 2 and 4"
            )));
        }
        PinnedHostSlice::new(self, len)
    }
}

impl CudaStream {
    /// Page-locked memory with a copy of the elements.
    ///
    /// # Errors
    ///
    /// Those of [`CudaContext::alloc_pinned`].
    pub fn pin_memory<T: DeviceRepr + Copy>(
        &self,
        elements: &[T],
    ) -> Result<PinnedBuffer<T>, DriverError> {
        let pinned = PinnedHostSlice::new(&self.context, elements.len())?;
        let place: NonNull<T> = pinned.pages.pointer.cast();
        // SAFETY: it has room for as many elements, and no copy is under way.
        unsafe { place.as_ptr().copy_from_nonoverlapping(elements.as_ptr(), elements.len()) };
        Ok(pinned)
    }
}

impl<T> PinnedHostSlice<T> {
    fn new(context: &Arc<CudaContext>, len: usize) -> Result<Self, DriverError> {
        let size = size_of_elements::<T>(len)?;
        let mut memory = context.native().alloc_pinned::<u8>(size).cuda()?;
        let pointer: NonNull<u8> = NonNull::from(&mut *memory).cast();
        if !pointer.cast::<T>().is_aligned() {
            let message = format!("page-locked memory at {pointer:p} does not fit the alignment");
            return Err(DriverError::invalid(message));
        }
        let pages = Pages { _memory: memory, pointer, last: Mutex::default() };
        Ok(Self { pages, len, context: Arc::clone(context), marker: PhantomData })
    }

    pub(super) fn pages(&self) -> &Pages {
        &self.pages
    }

    /// The context of the memory.
    #[must_use]
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The size of all elements.
    #[must_use]
    pub fn num_bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    fn when_idle(&self) -> Result<*mut T, DriverError> {
        self.pages.wait()?;
        Ok(self.pages.pointer.as_ptr().cast())
    }
}

impl<T: ValidAsZeroBits> PinnedHostSlice<T> {
    /// The address of the first element. Waits for copies that are under way, as all calls here do.
    ///
    /// # Errors
    ///
    /// The error of a kernel that failed before the copy was over.
    pub fn as_ptr(&self) -> Result<*const T, DriverError> {
        self.when_idle().map(<*mut T>::cast_const)
    }

    /// The address of the first element.
    ///
    /// # Errors
    ///
    /// Those of [`as_ptr`](Self::as_ptr).
    pub fn as_mut_ptr(&mut self) -> Result<*mut T, DriverError> {
        self.when_idle()
    }

    /// The elements.
    ///
    /// # Errors
    ///
    /// Those of [`as_ptr`](Self::as_ptr).
    pub fn as_slice(&self) -> Result<&[T], DriverError> {
        let pointer = self.when_idle()?;
        // SAFETY: the memory has that many elements, zeros at first; copies that write it need
        // `&mut`, and none is under way.
        Ok(unsafe { std::slice::from_raw_parts(pointer, self.len) })
    }

    /// The elements, to be changed.
    ///
    /// # Errors
    ///
    /// Those of [`as_ptr`](Self::as_ptr).
    pub fn as_mut_slice(&mut self) -> Result<&mut [T], DriverError> {
        let pointer = self.when_idle()?;
        // SAFETY: as above; no copy at all is under way, and none can be queued meanwhile.
        Ok(unsafe { std::slice::from_raw_parts_mut(pointer, self.len) })
    }
}

impl Pages {
    fn last(&self) -> MutexGuard<'_, LastCopy> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no copy is under way.
    fn wait(&self) -> Result<(), DriverError> {
        let last = self.last();
        if last.is_lost {
            return Err(DriverError::IllegalState);
        }
        last.done.as_ref().map_or(Ok(()), |done| done.synchronize().cuda())
    }

    /// Queues a copy from the beginning of the memory to all of the place.
    pub(super) fn upload(&self, stream: &CudaStream, place: Place) -> Result<(), DriverError> {
        self.queue(stream, |native| {
            let (from, size) = (self.pointer.as_ptr().cast(), place.len as u64);
            // SAFETY: the memory has that size, is kept by the library until the copy is done, and
            // is not written before that: wait().
            check(unsafe {
                sys::km_slice_upload(native.as_raw(), place.slice, place.offset_bytes, from, size)
            })
        })
    }

    /// Queues a copy from all of the place to the beginning of the memory.
    pub(super) fn download(&self, stream: &CudaStream, place: Place) -> Result<(), DriverError> {
        self.queue(stream, |native| {
            let (to, size) = (self.pointer.as_ptr().cast(), place.len as u64);
            // SAFETY: the memory has that size, is kept by the library until the copy is done, and
            // is not used before that: wait().
            check(unsafe {
                sys::km_slice_download(native.as_raw(), place.slice, place.offset_bytes, to, size)
            })
        })
    }

    /// Queues a copy behind the one before, and marks its end.
    fn queue(
        &self,
        stream: &CudaStream,
        copy: impl FnOnce(&Stream) -> NativeResult<()>,
    ) -> Result<(), DriverError> {
        stream.queue.with_host_memory(|native| {
            let mut last = self.last();
            if let Some(before) = &last.done {
                native.wait(before)?;
            }
            let done = native.context()?.new_event_without_timing()?;
            copy(native)?;
            let marked = done.record(native);
            match marked {
                Ok(()) => last.done = Some(done),
                Err(_) => last.is_lost |= native.synchronize().is_err(),
            }
            marked
        })
    }
}
