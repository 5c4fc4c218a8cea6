//! Unified memory: memory that host and device share.

use std::ops::{Deref, RangeBounds};
use std::sync::Arc;

use super::error::Cuda;
use super::memory::{Attachment, Memory, size_of_elements};
use super::pointer::sealed::Located;
use super::sys::CUmemAttach_flags;
use super::{
    CudaContext, CudaSlice, CudaStream, CudaView, CudaViewMut, DeviceRepr, DriverError,
    ValidAsZeroBits,
};
use crate::view::Place;
use crate::{Error, Status};

/// Memory that host and device share: a [`CudaSlice`] whose elements the host reaches by
/// [`as_slice`](Self::as_slice) and [`as_mut_slice`](Self::as_mut_slice), which wait for the
/// device.
///
/// ```
/// use kernelmill::driver::CudaContext;
/// # fn main() -> Result<(), kernelmill::driver::DriverError> {
/// let context = CudaContext::new(0)?;
/// let stream = context.default_stream();
/// // SAFETY: all patterns of bits are numbers.
/// let mut shared = unsafe { context.alloc_unified::<u32>(3, true) }?;
/// shared.as_mut_slice()?.copy_from_slice(&[1, 2, 3]);
/// assert_eq!(stream.clone_dtoh(&shared)?, [1, 2, 3]);
/// stream.memset_zeros(&mut shared)?;
/// assert_eq!(shared.as_slice()?, [0, 0, 0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct UnifiedSlice<T> {
    slice: CudaSlice<T>,
    pointer: *mut T,
}

// SAFETY: the pointer is that of the slice's memory, which is Send and Sync; elements are reached
// through `&` and `&mut`, when no work is under way.
unsafe impl<T> Send for UnifiedSlice<T> {}
// SAFETY: the same.
unsafe impl<T> Sync for UnifiedSlice<T> {}

/// A part of unified memory, to be read.
pub type UnifiedView<'a, T> = CudaView<'a, T>;

/// A part of unified memory, to be written.
pub type UnifiedViewMut<'a, T> = CudaViewMut<'a, T>;

impl CudaContext {
    /// Memory for `len` elements, zeroed, that host and device share, for all streams
    /// (`attach_global`) or first for the host.
    ///
    /// # Safety
    ///
    /// The elements are written before they are read, unless zeros are elements.
    ///
    /// # Errors
    ///
    /// [`DriverError::NotSupported`] when the device has no such memory,
    /// [`DriverError::OutOfMemory`] when there is not that much, [`DriverError::InvalidValue`] when
    /// the size does not fit 64 bits.
    pub unsafe fn alloc_unified<T: DeviceRepr>(
        self: &Arc<Self>,
        len: usize,
        attach_global: bool,
    ) -> Result<UnifiedSlice<T>, DriverError> {
        let size = size_of_elements::<T>(len)?;
        let slice = self.native().alloc_managed::<u8>(size).cuda()?;
        let pointer: *mut T = match size {
            0 => std::ptr::NonNull::dangling().as_ptr(),
            _ => slice.host_pointer().cuda()?.cast(),
        };
        if !pointer.is_aligned() {
            let message = format!("unified memory at {pointer:p} does not fit the alignment");
            return Err(DriverError::of_library(Error::new(Status::ERROR_NOT_SUPPORTED, message)));
        }
        let attachment = Attachment::new(if attach_global {
            CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL
        } else {
            CUmemAttach_flags::CU_MEM_ATTACH_HOST
        });
        let memory = Memory::attached(slice, &self.default_stream(), Some(attachment));
        Ok(UnifiedSlice { slice: CudaSlice::typed(memory, len), pointer })
    }
}

impl<T> UnifiedSlice<T> {
    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slice.len()
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slice.is_empty()
    }

    /// The size of all elements.
    #[must_use]
    pub fn num_bytes(&self) -> usize {
        self.slice.num_bytes()
    }

    /// Which streams may use the memory.
    #[must_use]
    pub fn attach_mode(&self) -> CUmemAttach_flags {
        let attachment = self.slice.memory().attachment.as_ref();
        attachment.map_or(CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL, Attachment::flags)
    }

    /// Says which streams may use the memory from now on: `CU_MEM_ATTACH_SINGLE`, only this one;
    /// else all. Waits for the work that uses it.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidContext`] when the stream is of another context, the error of a kernel
    /// that failed.
    pub fn attach(
        &mut self,
        stream: &CudaStream,
        flags: CUmemAttach_flags,
    ) -> Result<(), DriverError> {
        if stream.context() != self.slice.context() {
            let message = "the stream is of another context than the unified memory";
            return Err(DriverError::of_library(Error::new(
                Status::ERROR_CONTEXT_MISMATCH,
                message,
            )));
        }
        self.slice.memory().wait_for_uses()?;
        if let Some(attachment) = &self.slice.memory().attachment {
            attachment.set(flags, stream);
        }
        Ok(())
    }

    /// All of it, to be written by the device.
    #[must_use]
    pub fn as_view_mut(&mut self) -> UnifiedViewMut<'_, T> {
        self.slice.as_view_mut()
    }

    /// A part of it, to be written by the device.
    ///
    /// # Panics
    ///
    /// When the range does not lie within it.
    #[must_use]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> UnifiedViewMut<'_, T> {
        self.slice.slice_mut(range)
    }

    /// A part of it, to be written by the device.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidValue`] when the range does not lie within it.
    pub fn try_slice_mut(
        &mut self,
        range: impl RangeBounds<usize>,
    ) -> Result<UnifiedViewMut<'_, T>, DriverError> {
        self.slice.try_slice_mut(range)
    }

    /// Two parts, to be written by the device, the second from element `middle` on.
    ///
    /// # Panics
    ///
    /// When there is no such element.
    #[must_use]
    pub fn split_at_mut(
        &mut self,
        middle: usize,
    ) -> (UnifiedViewMut<'_, T>, UnifiedViewMut<'_, T>) {
        self.slice.split_at_mut(middle)
    }

    /// Waits until no queued work that was given the memory writes it, as the host may not read it
    /// before that.
    ///
    /// # Errors
    ///
    /// The error of a kernel that failed.
    pub fn check_host_access(&self) -> Result<(), DriverError> {
        self.slice.memory().wait_for_writes()
    }

    /// Fails when the stream may not use the memory.
    ///
    /// # Errors
    ///
    /// [`DriverError::NotPermitted`] when it is attached to another stream.
    pub fn check_device_access(&self, stream: &CudaStream) -> Result<(), DriverError> {
        self.slice.memory().check_access(stream)
    }
}

impl<T: ValidAsZeroBits> UnifiedSlice<T> {
    /// The elements, for the host. Waits for queued work that writes them.
    ///
    /// # Errors
    ///
    /// The error of a kernel that failed.
    pub fn as_slice(&self) -> Result<&[T], DriverError> {
        self.check_host_access()?;
        // SAFETY: the memory has that many elements, zeros at first; what writes it needs `&mut`,
        // and no work is under way. Launches answer for themselves.
        Ok(unsafe { std::slice::from_raw_parts(self.pointer, self.slice.len()) })
    }

    /// The elements, for the host to change. Waits for queued work that uses them.
    ///
    /// # Errors
    ///
    /// Those of [`as_slice`](Self::as_slice).
    pub fn as_mut_slice(&mut self) -> Result<&mut [T], DriverError> {
        self.slice.memory().wait_for_uses()?;
        // SAFETY: as above; what reads it needs `&`.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.pointer, self.slice.len()) })
    }
}

impl<T> Located for UnifiedSlice<T> {
    fn memory(&self) -> &Arc<Memory> {
        self.slice.memory()
    }

    fn bytes(&self) -> Place {
        self.slice.bytes()
    }
}

impl<T> Deref for UnifiedSlice<T> {
    type Target = CudaSlice<T>;

    fn deref(&self) -> &CudaSlice<T> {
        &self.slice
    }
}
