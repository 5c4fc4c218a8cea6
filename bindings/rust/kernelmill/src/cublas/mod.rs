//! Matrix products and the like in cudarc's idiom, on the library's [`blas`](crate::blas).
//!
//! ```
//! use kernelmill::cublas::{CudaBlas, Gemm, GemmConfig, sys::cublasOperation_t::CUBLAS_OP_N};
//! use kernelmill::driver::CudaContext;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = CudaContext::new(0)?.default_stream();
//! let blas = CudaBlas::new(stream.clone())?;
//! let a = stream.clone_htod(&[1.0f32, 2.0, 3.0, 4.0])?; // by columns
//! let b = stream.clone_htod(&[10.0f32, 1.0])?;
//! let mut c = stream.alloc_zeros::<f32>(2)?;
//! let config = GemmConfig {
//!     transa: CUBLAS_OP_N,
//!     transb: CUBLAS_OP_N,
//!     m: 2,
//!     n: 1,
//!     k: 2,
//!     alpha: 1.0,
//!     lda: 2,
//!     ldb: 2,
//!     beta: 0.0,
//!     ldc: 2,
//! };
//! // SAFETY: sizes are checked.
//! unsafe { blas.gemm(config, &a, &b, &mut c) }?;
//! assert_eq!(stream.clone_dtoh(&c)?, [13.0, 24.0]);
//! # Ok(())
//! # }
//! ```
//!
//! Sizes, leading dimensions and increments are checked against the memory: what does not fit is an
//! error. The calls are unsafe as in cudarc. What a call uses on other streams is waited for.

mod asum;
mod error;
mod gemm;
mod gemv;
pub mod sys;

use std::sync::Arc;

pub use asum::{Asum, AsumConfig};
use error::Cublas;
pub use error::CublasError;
pub use gemm::{Gemm, GemmConfig, StridedBatchedConfig};
pub use gemv::{Gemv, GemvConfig};

use crate::blas::{Blas, Layout, Operation};
use crate::driver::CudaStream;

/// All safe names again, under the name that cudarc gives their module.
pub mod safe {
    pub use super::{
        Asum, AsumConfig, CudaBlas, Gemm, GemmConfig, Gemv, GemvConfig, StridedBatchedConfig,
    };
}

/// Errors, under the name that cudarc gives their module.
pub mod result {
    pub use super::CublasError;
}

/// BLAS calls in a stream, for matrices by columns.
#[derive(Debug)]
pub struct CudaBlas {
    native: Blas,
    stream: Arc<CudaStream>,
}

impl CudaBlas {
    /// An object for BLAS calls in this stream. The library that runs them is looked for at the
    /// first call.
    ///
    /// # Errors
    ///
    /// `CUBLAS_STATUS_NOT_SUPPORTED` when the backend has no BLAS.
    pub fn new(stream: Arc<CudaStream>) -> Result<Self, CublasError> {
        let native = Blas::new(stream.native(), Layout::COLUMNS).cublas()?;
        Ok(Self { native, stream })
    }

    /// Has later calls join another stream.
    ///
    /// # Safety
    ///
    /// None is needed, because the library orders uses of the same memory; it is unsafe as in
    /// cudarc.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub unsafe fn set_stream(&mut self, stream: Arc<CudaStream>) -> Result<(), CublasError> {
        *self = Self::new(stream)?;
        Ok(())
    }

    /// The place of results that are numbers: always in memory of the host.
    ///
    /// # Errors
    ///
    /// None; the signature is cudarc's.
    pub fn get_pointer_mode(&self) -> Result<sys::cublasPointerMode_t, CublasError> {
        Ok(sys::cublasPointerMode_t::CUBLAS_POINTER_MODE_HOST)
    }

    /// Asks for results in memory of the host, where they lie. [`Blas`] has them on the device.
    ///
    /// # Errors
    ///
    /// `CUBLAS_STATUS_NOT_SUPPORTED` for memory of the device.
    pub fn set_pointer_mode(&self, mode: sys::cublasPointerMode_t) -> Result<(), CublasError> {
        match mode {
            sys::cublasPointerMode_t::CUBLAS_POINTER_MODE_HOST => Ok(()),
            sys::cublasPointerMode_t::CUBLAS_POINTER_MODE_DEVICE => {
                let message = "results of the facade are numbers of the host; kernelmill::Blas has \
                               them on the device";
                Err(crate::Error::new(crate::Status::ERROR_NOT_SUPPORTED, message)).cublas()
            }
        }
    }

    /// The object itself, for what the library can do beyond cudarc.
    #[must_use]
    pub fn native(&self) -> &Blas {
        &self.native
    }
}

/// A size as the library takes it.
fn size(name: &str, value: i64) -> Result<usize, CublasError> {
    usize::try_from(value).map_err(|_| CublasError::invalid(format!("{name} is {value}")))
}

fn operation(operation: sys::cublasOperation_t) -> Operation {
    match operation {
        sys::cublasOperation_t::CUBLAS_OP_N => Operation::NONE,
        sys::cublasOperation_t::CUBLAS_OP_T => Operation::TRANSPOSE,
        sys::cublasOperation_t::CUBLAS_OP_C => Operation::CONJUGATE_TRANSPOSE,
    }
}
