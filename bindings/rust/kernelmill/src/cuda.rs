//! Results of the CUDA driver, to and from statuses.

use std::ffi::CStr;

use crate::error::check;
use crate::{Error, Result, Status, sys};

/// The status for a result of the CUDA driver (`CUresult`). The mapping never changes; it covers all
/// results of CUDA 13. Never blocks. C: `km_status_from_cuda`.
///
/// ```
/// # fn main() -> kernelmill::Result<()> {
/// use kernelmill::{Status, cuda_result_name, status_from_cuda, status_to_cuda};
/// assert_eq!(status_from_cuda(2)?, Status::ERROR_OUT_OF_DEVICE_MEMORY);
/// assert_eq!(status_to_cuda(Status::ERROR_OUT_OF_DEVICE_MEMORY)?, 2);
/// assert_eq!(cuda_result_name(2)?, "CUDA_ERROR_OUT_OF_MEMORY");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// `ERROR_INVALID_ARGUMENT` when CUDA has no such result.
pub fn status_from_cuda(cuda_result: i32) -> Result<Status> {
    let mut status = Status::SUCCESS;
    // SAFETY: the out-parameter lives through the call.
    check(unsafe { sys::km_status_from_cuda(cuda_result, &mut status) })?;
    Ok(status)
}

/// The result that the CUDA driver gives (`CUresult`) where this library gives the status. The
/// mapping never changes. Never blocks. C: `km_status_to_cuda`.
///
/// # Errors
///
/// `ERROR_INVALID_ARGUMENT` when it is no status of this library.
pub fn status_to_cuda(status: Status) -> Result<i32> {
    let mut result = 0;
    // SAFETY: the out-parameter lives through the call.
    check(unsafe { sys::km_status_to_cuda(status, &mut result) })?;
    Ok(result)
}

/// The name of a result of the CUDA driver: "CUDA_ERROR_INVALID_VALUE". Never blocks.
/// C: `km_cuda_result_name`.
///
/// # Errors
///
/// `ERROR_INVALID_ARGUMENT` when CUDA has no such result.
pub fn cuda_result_name(cuda_result: i32) -> Result<&'static str> {
    Ok(cuda_result_c_name(cuda_result)?.to_str().unwrap_or_default())
}

pub(crate) fn cuda_result_c_name(cuda_result: i32) -> Result<&'static CStr> {
    let mut name = std::ptr::null();
    // SAFETY: the out-parameter lives through the call.
    check(unsafe { sys::km_cuda_result_name(cuda_result, &mut name) })?;
    if name.is_null() {
        return Err(Error::new(Status::ERROR_INTERNAL, "the library gave no name"));
    }
    // SAFETY: the call succeeded, and its text is static and ends with a zero.
    Ok(unsafe { CStr::from_ptr(name) })
}
