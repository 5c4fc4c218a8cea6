//! Errors of BLAS calls.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use super::sys::cublasStatus_t;
use crate::driver::DriverError;
use crate::{Error, Status};

/// A call that failed: cuBLAS's result. `Display` gives the library's whole text on the thread on
/// which the call failed, until another one fails there with the same result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CublasError(pub cublasStatus_t);

thread_local! {
    // The last failure of this thread for each result.
    static FAILURES: RefCell<BTreeMap<cublasStatus_t, Error>> =
        const { RefCell::new(BTreeMap::new()) };
}

impl CublasError {
    /// The failure itself; none when this thread has had no failure with this result.
    #[must_use]
    pub fn details(&self) -> Option<Error> {
        FAILURES.try_with(|known| known.borrow().get(&self.0).cloned()).ok().flatten()
    }

    pub(super) fn invalid(message: String) -> Self {
        Self::of_library(Error::new(Status::ERROR_INVALID_ARGUMENT, message))
    }
}

/// Results of the library in cuBLAS's terms.
pub(super) trait Cublas<T> {
    fn cublas(self) -> Result<T, CublasError>;
}

impl<T> Cublas<T> for Result<T, Error> {
    fn cublas(self) -> Result<T, CublasError> {
        self.map_err(CublasError::of_library)
    }
}

impl<T> Cublas<T> for Result<T, DriverError> {
    fn cublas(self) -> Result<T, CublasError> {
        self.map_err(|error| match error.details() {
            Some(known) => CublasError::of_library(known),
            None => CublasError(cublasStatus_t::CUBLAS_STATUS_EXECUTION_FAILED),
        })
    }
}

impl CublasError {
    #[cold]
    fn of_library(error: Error) -> Self {
        let result = match error.status() {
            Status::ERROR_INVALID_ARGUMENT
            | Status::ERROR_OUT_OF_BOUNDS
            | Status::ERROR_CONTEXT_MISMATCH => cublasStatus_t::CUBLAS_STATUS_INVALID_VALUE,
            Status::ERROR_BLAS_UNAVAILABLE | Status::ERROR_BACKEND_UNAVAILABLE => {
                cublasStatus_t::CUBLAS_STATUS_NOT_INITIALIZED
            }
            Status::ERROR_NOT_SUPPORTED => cublasStatus_t::CUBLAS_STATUS_NOT_SUPPORTED,
            Status::ERROR_OUT_OF_HOST_MEMORY | Status::ERROR_OUT_OF_DEVICE_MEMORY => {
                cublasStatus_t::CUBLAS_STATUS_ALLOC_FAILED
            }
            Status::ERROR_INTERNAL => cublasStatus_t::CUBLAS_STATUS_INTERNAL_ERROR,
            _ => cublasStatus_t::CUBLAS_STATUS_EXECUTION_FAILED,
        };
        // Without a place to keep it, at the end of a thread, the result alone has to do.
        let _ = FAILURES.try_with(|known| known.borrow_mut().insert(result, error));
        Self(result)
    }
}

impl fmt::Display for CublasError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.details() {
            Some(error) => write!(formatter, "{:?}: {}", self.0, error.message()),
            None => write!(formatter, "{:?}", self.0),
        }
    }
}

impl fmt::Debug for CublasError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tuple = formatter.debug_tuple("CublasError");
        tuple.field(&self.0);
        if let Some(error) = self.details() {
            tuple.field(&error.message());
        }
        tuple.finish()
    }
}

impl std::error::Error for CublasError {}
