//! Slices: device memory, owned.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use super::memory::Memory;
use super::pointer::sealed::Located;
use super::sys::CUdeviceptr;
use super::view::within;
use super::{CudaContext, CudaStream, CudaView, CudaViewMut, DeviceRepr, DriverError};
use crate::view::Place;

/// Device memory for elements of one type. Any thread may use it; it keeps its stream and its
/// context. Dropping it does not wait: the memory is freed after its last use by queued work.
///
/// ```
/// use kernelmill::driver::CudaContext;
/// # fn main() -> Result<(), kernelmill::driver::DriverError> {
/// let stream = CudaContext::new(0)?.default_stream();
/// let mut data = stream.alloc_zeros::<f32>(4)?;
/// stream.htod_copy_into(&[1.0, 2.0], &mut data.try_slice_mut(2..)?)?;
/// assert_eq!(stream.clone_dtoh(&data)?, [0.0, 0.0, 1.0, 2.0]);
/// # Ok(())
/// # }
/// ```
pub struct CudaSlice<T> {
    memory: Arc<Memory>,
    len: usize,
    marker: PhantomData<fn(T) -> T>,
}

impl<T> CudaSlice<T> {
    /// All of the memory, as so many elements, which fit.
    pub(super) fn new(memory: Arc<Memory>, len: usize) -> Self {
        Self { memory, len, marker: PhantomData }
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

    /// The number of the device.
    #[must_use]
    pub fn ordinal(&self) -> usize {
        self.context().ordinal()
    }

    /// The context of the memory.
    #[must_use]
    pub fn context(&self) -> &Arc<CudaContext> {
        self.memory.stream.context()
    }

    /// The stream that the memory was allocated on.
    #[must_use]
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.memory.stream
    }

    /// All of it, to be read.
    #[must_use]
    pub fn as_view(&self) -> CudaView<'_, T> {
        CudaView::new(&self.memory, 0, self.len)
    }

    /// All of it, to be written.
    #[must_use]
    pub fn as_view_mut(&mut self) -> CudaViewMut<'_, T> {
        CudaViewMut::new(&self.memory, 0, self.len)
    }

    /// A part of it, to be read.
    ///
    /// # Panics
    ///
    /// When the range does not lie within it, as slices of the host do;
    /// [`try_slice`](Self::try_slice) gives an error.
    #[must_use]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> CudaView<'_, T> {
        self.as_view().slice(range)
    }

    /// A part of it, to be read.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidValue`] when the range does not lie within it.
    pub fn try_slice(
        &self,
        range: impl RangeBounds<usize>,
    ) -> Result<CudaView<'_, T>, DriverError> {
        self.as_view().try_slice(range)
    }

    /// A part of it, to be written.
    ///
    /// # Panics
    ///
    /// When the range does not lie within it, as slices of the host do;
    /// [`try_slice_mut`](Self::try_slice_mut) gives an error.
    #[must_use]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> CudaViewMut<'_, T> {
        within(self.try_slice_mut(range))
    }

    /// A part of it, to be written.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidValue`] when the range does not lie within it.
    pub fn try_slice_mut(
        &mut self,
        range: impl RangeBounds<usize>,
    ) -> Result<CudaViewMut<'_, T>, DriverError> {
        self.as_view_mut().try_part(range)
    }

    /// Two parts, to be read, the second from element `middle` on.
    ///
    /// # Panics
    ///
    /// When there is no such element.
    #[must_use]
    pub fn split_at(&self, middle: usize) -> (CudaView<'_, T>, CudaView<'_, T>) {
        self.as_view().split_at(middle)
    }

    /// Two parts, to be read, the second from element `middle` on.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidValue`] when there is no such element.
    pub fn try_split_at(
        &self,
        middle: usize,
    ) -> Result<(CudaView<'_, T>, CudaView<'_, T>), DriverError> {
        self.as_view().try_split_at(middle)
    }

    /// Two parts, to be written, the second from element `middle` on.
    ///
    /// # Panics
    ///
    /// When there is no such element.
    #[must_use]
    pub fn split_at_mut(&mut self, middle: usize) -> (CudaViewMut<'_, T>, CudaViewMut<'_, T>) {
        within(self.try_split_at_mut(middle))
    }

    /// Two parts, to be written, the second from element `middle` on.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidValue`] when there is no such element.
    pub fn try_split_at_mut(
        &mut self,
        middle: usize,
    ) -> Result<(CudaViewMut<'_, T>, CudaViewMut<'_, T>), DriverError> {
        self.as_view_mut().try_parts(middle)
    }

    /// The memory as `len` elements of another type, to be read; none when they do not fit.
    /// Launches check no types for the whole allocation from then on.
    ///
    /// # Safety
    ///
    /// The memory holds values of that type.
    #[must_use]
    pub unsafe fn transmute<S>(&self, len: usize) -> Option<CudaView<'_, S>> {
        // SAFETY: the caller answers for the values.
        unsafe { self.as_view().transmute(len) }
    }

    /// The memory as `len` elements of another type, to be written; none when they do not fit.
    /// Launches check no types for the whole allocation from then on.
    ///
    /// # Safety
    ///
    /// The memory holds values of that type, and will hold values of this one.
    #[must_use]
    pub unsafe fn transmute_mut<S>(&mut self, len: usize) -> Option<CudaViewMut<'_, S>> {
        let fits = len.checked_mul(size_of::<S>()).is_some_and(|size| size <= self.num_bytes());
        self.memory.forget_type();
        fits.then(|| CudaViewMut::new(&self.memory, 0, len))
    }

    /// Gives the memory away: its address, by which [`CudaStream::upgrade_device_ptr`] takes it
    /// back. Else it is never freed. The address is 0 where there is none.
    #[must_use]
    pub fn leak(self) -> CUdeviceptr {
        let Ok(address) = self.memory.address() else { return 0 };
        if address != 0 {
            self.memory.forget_type();
            let key = (Arc::as_ptr(&self.context().shared).addr(), address);
            leaked().insert(key, self.memory);
        }
        address
    }
}

// Memory that was given away, by context and address.
type Leaked = HashMap<(usize, CUdeviceptr), Arc<Memory>>;

fn leaked() -> MutexGuard<'static, Leaked> {
    static LEAKED: LazyLock<Mutex<Leaked>> = LazyLock::new(Mutex::default);
    LEAKED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: DeviceRepr> CudaSlice<T> {
    /// The same of new memory: launches check the type of its elements.
    pub(super) fn typed(memory: Arc<Memory>, len: usize) -> Self {
        memory.set_type(T::DEVICE_TYPE);
        Self::new(memory, len)
    }

    /// A new slice with a copy of the elements, made on the slice's own stream.
    ///
    /// # Errors
    ///
    /// Those of [`CudaStream::clone_dtod`].
    pub fn try_clone(&self) -> Result<Self, DriverError> {
        self.stream().clone_dtod(self)
    }
}

impl<T: DeviceRepr> Clone for CudaSlice<T> {
    /// [`CudaSlice::try_clone`].
    ///
    /// # Panics
    ///
    /// When that fails, for one because the memory is used up.
    fn clone(&self) -> Self {
        within(self.try_clone())
    }
}

impl<T: DeviceRepr> TryFrom<CudaSlice<T>> for Vec<T> {
    type Error = DriverError;

    fn try_from(slice: CudaSlice<T>) -> Result<Self, DriverError> {
        slice.stream().clone_dtoh(&slice)
    }
}

impl CudaStream {
    /// Takes over memory by its address: that which [`CudaSlice::leak`] gave away. For another
    /// address the slice is empty, and [`CudaContext::check_err`] has the error.
    ///
    /// # Safety
    ///
    /// The memory holds `len` values of the type.
    pub unsafe fn upgrade_device_ptr<T>(&self, address: CUdeviceptr, len: usize) -> CudaSlice<T> {
        let key = (Arc::as_ptr(&self.context.shared).addr(), address);
        let mut leaked = leaked();
        let fits = leaked.get(&key).is_some_and(|memory| has_room::<T>(memory, len));
        match fits.then(|| leaked.remove(&key)).flatten() {
            Some(memory) => CudaSlice::new(memory, len),
            None => {
                let message = format!(
                    "{len} elements of {} bytes at {address:#x} are no memory that leak() gave away",
                    size_of::<T>()
                );
                self.context.record_err::<()>(Err(DriverError::invalid(message)));
                CudaSlice::new(Memory::nothing(self), 0)
            }
        }
    }
}

fn has_room<T>(memory: &Memory, len: usize) -> bool {
    len.checked_mul(size_of::<T>()).is_some_and(|size| size <= memory.size_bytes())
}

impl<T> Located for CudaSlice<T> {
    #[inline]
    fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    #[inline]
    fn bytes(&self) -> Place {
        Place { len: self.num_bytes(), ..self.memory.place() }
    }
}

impl<T> fmt::Debug for CudaSlice<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CudaSlice").field("len", &self.len).finish_non_exhaustive()
    }
}
