//! Views: parts of device memory, borrowed.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Range, RangeBounds};
use std::sync::Arc;

use super::DriverError;
use super::memory::Memory;
use super::pointer::sealed::Located;
use super::sys::CUresult;
use crate::view::Place;

/// A part of a [`CudaSlice`](super::CudaSlice), to be read. It cannot outlive the slice:
///
/// ```compile_fail,E0505
/// use kernelmill::driver::CudaContext;
/// # fn main() -> Result<(), kernelmill::driver::DriverError> {
/// let stream = CudaContext::new(0)?.default_stream();
/// let slice = stream.alloc_zeros::<f32>(100)?;
/// let view = slice.as_view();
/// drop(slice); // error: `view` is used later
/// println!("{}", view.len());
/// # Ok(())
/// # }
/// ```
pub struct CudaView<'a, T> {
    memory: &'a Arc<Memory>,
    offset_bytes: u64,
    len: usize,
    marker: PhantomData<fn() -> T>,
}

/// A part of a [`CudaSlice`](super::CudaSlice), to be written; no other view reaches its elements:
///
/// ```compile_fail,E0499
/// use kernelmill::driver::CudaContext;
/// # fn main() -> Result<(), kernelmill::driver::DriverError> {
/// let stream = CudaContext::new(0)?.default_stream();
/// let mut slice = stream.alloc_zeros::<f32>(100)?;
/// let mut left = slice.slice_mut(0..60);
/// let mut right = slice.slice_mut(40..100); // error: `left` may still write
/// stream.memset_zeros(&mut left)?;
/// stream.memset_zeros(&mut right)?;
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail,E0502
/// use kernelmill::driver::CudaContext;
/// # fn main() -> Result<(), kernelmill::driver::DriverError> {
/// let stream = CudaContext::new(0)?.default_stream();
/// let mut slice = stream.alloc_zeros::<f32>(100)?;
/// let source = slice.slice(0..50);
/// stream.memcpy_dtod(&source, &mut slice.slice_mut(50..100))?; // error: read and written at once
/// # Ok(())
/// # }
/// ```
///
/// The way that works is [`split_at_mut`](super::CudaSlice::split_at_mut).
pub struct CudaViewMut<'a, T> {
    memory: &'a Arc<Memory>,
    offset_bytes: u64,
    len: usize,
    borrow: PhantomData<&'a mut ()>,
    marker: PhantomData<fn(T) -> T>,
}

impl<T> Clone for CudaView<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for CudaView<'_, T> {}

impl<'a, T> CudaView<'a, T> {
    pub(super) fn new(memory: &'a Arc<Memory>, offset_bytes: u64, len: usize) -> Self {
        Self { memory, offset_bytes, len, marker: PhantomData }
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

    fn part(&self, range: &Range<usize>) -> Self {
        let offset = self.offset_bytes + (range.start * size_of::<T>()) as u64;
        Self::new(self.memory, offset, range.len())
    }

    /// A part of it.
    ///
    /// # Panics
    ///
    /// When the range does not lie within it, as slices of the host do.
    #[must_use]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Self {
        within(self.try_slice(range))
    }

    /// A part of it.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidValue`] when the range does not lie within it.
    pub fn try_slice(&self, range: impl RangeBounds<usize>) -> Result<Self, DriverError> {
        Ok(self.part(&range_within(range, self.len)?))
    }

    /// Two parts, the second from element `middle` on.
    ///
    /// # Panics
    ///
    /// When there is no such element.
    #[must_use]
    pub fn split_at(&self, middle: usize) -> (Self, Self) {
        within(self.try_split_at(middle))
    }

    /// Two parts, the second from element `middle` on.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidValue`] when there is no such element.
    pub fn try_split_at(&self, middle: usize) -> Result<(Self, Self), DriverError> {
        Ok((self.try_slice(..middle)?, self.try_slice(middle..)?))
    }

    /// Parts of `chunk_size` elements; what is left at the end is not among them.
    ///
    /// # Panics
    ///
    /// When `chunk_size` is 0, as slices of the host do.
    pub fn chunks_exact(&self, chunk_size: usize) -> impl Iterator<Item = Self> + 'a
    where
        T: 'a,
    {
        let view = *self;
        let chunks = chunk_count(self.len, chunk_size);
        (0..chunks).map(move |i| view.part(&(i * chunk_size..(i + 1) * chunk_size)))
    }

    /// The memory as `len` elements of another type; none when they do not fit.
    /// Launches check no types for the whole allocation from then on.
    ///
    /// # Safety
    ///
    /// The memory holds values of that type.
    #[must_use]
    pub unsafe fn transmute<S>(&self, len: usize) -> Option<CudaView<'a, S>> {
        self.memory.forget_type();
        fits::<T, S>(self.len, len).then(|| CudaView::new(self.memory, self.offset_bytes, len))
    }
}

impl<'a, T> CudaViewMut<'a, T> {
    pub(super) fn new(memory: &'a Arc<Memory>, offset_bytes: u64, len: usize) -> Self {
        Self { memory, offset_bytes, len, borrow: PhantomData, marker: PhantomData }
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

    /// Its elements, to be read.
    #[must_use]
    pub fn as_view(&self) -> CudaView<'_, T> {
        CudaView::new(self.memory, self.offset_bytes, self.len)
    }

    /// Its elements, to be read from now on.
    #[must_use]
    pub fn into_view(self) -> CudaView<'a, T> {
        CudaView::new(self.memory, self.offset_bytes, self.len)
    }

    /// Its elements, which only one of the results may reach.
    fn part(&self, range: &Range<usize>) -> Self {
        let offset = self.offset_bytes + (range.start * size_of::<T>()) as u64;
        Self::new(self.memory, offset, range.len())
    }

    /// A part of it, to be read.
    ///
    /// # Panics
    ///
    /// When the range does not lie within it, as slices of the host do.
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
    /// When the range does not lie within it, as slices of the host do.
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
        self.try_part(range)
    }

    /// A part, which only one of the results may reach.
    pub(super) fn try_part(&self, range: impl RangeBounds<usize>) -> Result<Self, DriverError> {
        Ok(self.part(&range_within(range, self.len)?))
    }

    /// Two parts, which only one of the results may reach.
    pub(super) fn try_parts(&self, middle: usize) -> Result<(Self, Self), DriverError> {
        Ok((self.try_part(..middle)?, self.try_part(middle..)?))
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
        self.try_parts(middle)
    }

    /// Parts of `chunk_size` elements, to be written; what is left at the end is not among them.
    ///
    /// # Panics
    ///
    /// When `chunk_size` is 0, as slices of the host do.
    pub fn chunks_exact_mut(self, chunk_size: usize) -> impl Iterator<Item = CudaViewMut<'a, T>>
    where
        T: 'a,
    {
        let chunks = chunk_count(self.len, chunk_size);
        (0..chunks).map(move |i| self.part(&(i * chunk_size..(i + 1) * chunk_size)))
    }

    /// The memory as `len` elements of another type, to be read; none when they do not fit.
    /// Launches check no types for the whole allocation from then on.
    ///
    /// # Safety
    ///
    /// The memory holds values of that type.
    #[must_use]
    pub unsafe fn transmute<S>(&self, len: usize) -> Option<CudaView<'_, S>> {
        self.memory.forget_type();
        fits::<T, S>(self.len, len).then(|| CudaView::new(self.memory, self.offset_bytes, len))
    }

    /// The memory as `len` elements of another type, to be written; none when they do not fit.
    /// Launches check no types for the whole allocation from then on.
    ///
    /// # Safety
    ///
    /// The memory holds values of that type, and will hold values of this one.
    #[must_use]
    pub unsafe fn transmute_mut<S>(&mut self, len: usize) -> Option<CudaViewMut<'_, S>> {
        self.memory.forget_type();
        fits::<T, S>(self.len, len).then(|| CudaViewMut::new(self.memory, self.offset_bytes, len))
    }
}

fn fits<T, S>(len: usize, wanted: usize) -> bool {
    let there = len * size_of::<T>();
    wanted.checked_mul(size_of::<S>()).is_some_and(|size| size <= there)
}

/// The elements of a range that has to lie within so many.
fn range_within(range: impl RangeBounds<usize>, len: usize) -> Result<Range<usize>, DriverError> {
    let outside = |error| DriverError::of(CUresult::CUDA_ERROR_INVALID_VALUE, error);
    crate::view::range_within(range, len).map_err(outside)
}

/// A result of calls that panic as those of the host's slices do.
#[track_caller]
pub(super) fn within<R>(result: Result<R, DriverError>) -> R {
    match result {
        Ok(part) => part,
        #[allow(clippy::panic, reason = "documented: as slices of the host do")]
        Err(error) => panic!("{error}"),
    }
}

#[track_caller]
fn chunk_count(len: usize, chunk_size: usize) -> usize {
    let none = || DriverError::invalid("chunks of 0 elements");
    within(len.checked_div(chunk_size).ok_or_else(none))
}

macro_rules! located {
    ($($view:ident)*) => {
        $(
            impl<T> Located for $view<'_, T> {
                #[inline]
                fn memory(&self) -> &Arc<Memory> {
                    self.memory
                }

                #[inline]
                fn bytes(&self) -> Place {
                    let len = self.len * size_of::<T>();
                    Place { len, offset_bytes: self.offset_bytes, ..self.memory.place() }
                }
            }

            impl<T> fmt::Debug for $view<'_, T> {
                fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                    formatter
                        .debug_struct(stringify!($view))
                        .field("offset_bytes", &self.offset_bytes)
                        .field("len", &self.len)
                        .finish_non_exhaustive()
                }
            }
        )*
    };
}
located! { CudaView CudaViewMut }
