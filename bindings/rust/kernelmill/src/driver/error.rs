//! Errors: CUDA's results, with the library's own texts as long as they are known.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fmt;

use super::sys::CUresult;
use crate::{Error, Status, cuda_result_name, status_to_cuda};

/// A call that failed: CUDA's result. It is small, can be copied, and its constants serve as
/// patterns:
///
/// ```
/// use kernelmill::driver::{CudaContext, DriverError};
/// # fn main() -> Result<(), DriverError> {
/// let stream = CudaContext::new(0)?.default_stream();
/// match stream.alloc_zeros::<f32>(1 << 60) {
///     Ok(_) => unreachable!(),
///     Err(DriverError::OutOfMemory) => println!("a smaller batch then"),
///     Err(DriverError::InvalidValue) => println!("no such size"),
///     Err(error) => return Err(error),
/// }
/// # Ok(())
/// # }
/// ```
///
/// `Display` gives the library's whole text, values included, on the thread on which the call
/// failed, until another one fails there with the same result; else CUDA's name.
/// [`details`](Self::details) has the rest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DriverError(pub CUresult);

#[allow(non_upper_case_globals)]
mod constants {
    use super::{CUresult, DriverError};
    include!("generated/errors.rs");
}

thread_local! {
    // The last failure of this thread for each result.
    static FAILURES: RefCell<BTreeMap<CUresult, Error>> = const { RefCell::new(BTreeMap::new()) };
}

impl DriverError {
    /// The failure itself: status, text, category, suggestion, and the backend's code. None when
    /// this thread has had no failure with this result.
    #[must_use]
    pub fn details(&self) -> Option<Error> {
        FAILURES.try_with(|known| known.borrow().get(&self.0).cloned()).ok().flatten()
    }

    /// CUDA's name of the result: "CUDA_ERROR_INVALID_VALUE".
    ///
    /// # Errors
    ///
    /// [`DriverError::SharedObjectInitFailed`] when the library cannot be loaded.
    pub fn error_name(&self) -> Result<&'static CStr, DriverError> {
        crate::cuda::cuda_result_c_name(self.0 as i32).cuda()
    }

    /// The meaning of the result, in a sentence.
    ///
    /// # Errors
    ///
    /// [`DriverError::SharedObjectInitFailed`] when the library cannot be loaded.
    pub fn error_string(&self) -> Result<&'static CStr, DriverError> {
        let status = crate::status_from_cuda(self.0 as i32).cuda()?;
        crate::error::status_description(status).cuda()
    }

    /// An error with a text of this crate's own.
    #[cold]
    pub(super) fn new(result: CUresult, status: Status, message: impl Into<String>) -> Self {
        Self::of(result, Error::new(status, message))
    }

    /// A wrong argument.
    #[cold]
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(CUresult::CUDA_ERROR_INVALID_VALUE, Status::ERROR_INVALID_ARGUMENT, message)
    }

    /// Keeps the failure for this thread's [`details`](Self::details).
    #[cold]
    pub(super) fn of(result: CUresult, error: Error) -> Self {
        // Without a place to keep it, at the end of a thread, the result alone has to do.
        let _ = FAILURES.try_with(|known| known.borrow_mut().insert(result, error));
        Self(result)
    }
}

/// Results of the library in CUDA's terms. (Not by `From`: closures that end with `Ok(())` are to
/// know their error from `?` alone, as with cudarc.)
pub(crate) trait Cuda<T> {
    fn cuda(self) -> Result<T, DriverError>;
}

impl<T> Cuda<T> for Result<T, Error> {
    #[inline]
    fn cuda(self) -> Result<T, DriverError> {
        self.map_err(DriverError::of_library)
    }
}

impl DriverError {
    /// The error in CUDA's terms.
    #[cold]
    pub(crate) fn of_library(error: Error) -> Self {
        let result = match status_to_cuda(error.status()) {
            Ok(number) => CUresult::from_number(number),
            Err(_) => CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, // there is no library to ask
        };
        Self::of(result, error)
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = cuda_result_name(self.0 as i32);
        match (name, self.details()) {
            (Ok(name), Some(error)) => write!(formatter, "{name}: {}", error.message()),
            (Ok(name), None) => formatter.write_str(name),
            (Err(_), Some(error)) => write!(formatter, "{:?}: {}", self.0, error.message()),
            (Err(_), None) => write!(formatter, "{:?}", self.0),
        }
    }
}

impl fmt::Debug for DriverError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tuple = formatter.debug_tuple("DriverError");
        tuple.field(&self.0);
        if let Some(error) = self.details() {
            tuple.field(&error.message());
        }
        tuple.finish()
    }
}

impl std::error::Error for DriverError {}
