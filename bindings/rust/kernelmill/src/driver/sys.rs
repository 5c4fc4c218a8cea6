//! The few types and constants of the CUDA driver's C API that programs in cudarc's idiom name.
//!
//! There are no functions and no handles: objects here are those of [`crate::sys`], on every device.
#![allow(non_camel_case_types, clippy::upper_case_acronyms)]

include!("generated/enums.rs");

/// An address in device memory.
pub type CUdeviceptr = u64;

/// The number of a device, from 0.
pub type CUdevice = i32;

/// Another name of [`CUresult`].
pub type cudaError_enum = CUresult;

/// A flag of [`CudaContext::alloc_pinned_with_flags`](super::CudaContext::alloc_pinned_with_flags):
/// memory here is always so.
pub const CU_MEMHOSTALLOC_PORTABLE: u32 = 1;

/// A flag of [`CudaContext::alloc_pinned_with_flags`](super::CudaContext::alloc_pinned_with_flags):
/// memory here is always so.
pub const CU_MEMHOSTALLOC_DEVICEMAP: u32 = 2;

/// A flag of [`CudaContext::alloc_pinned_with_flags`](super::CudaContext::alloc_pinned_with_flags):
/// a hint, which is not followed, so that the host reads the memory at full speed.
pub const CU_MEMHOSTALLOC_WRITECOMBINED: u32 = 4;

impl CUresult {
    /// The result as what functions give: [`Self::CUDA_SUCCESS`] is no error.
    ///
    /// # Errors
    ///
    /// The result itself, unless it is [`Self::CUDA_SUCCESS`].
    pub fn result(self) -> Result<(), super::DriverError> {
        match self {
            Self::CUDA_SUCCESS => Ok(()),
            failed => Err(super::DriverError(failed)),
        }
    }
}

/// True when the library that runs all of it can be loaded.
///
/// # Safety
///
/// None is needed; it is unsafe as in cudarc.
#[must_use]
pub unsafe fn is_culib_present() -> bool {
    crate::sys::load_error().is_none()
}
