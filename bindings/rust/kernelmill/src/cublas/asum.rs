//! Sums of magnitudes.

use std::ffi::c_int;

use super::error::Cublas;
use super::{CublasError, CudaBlas, size};
use crate::blas::{Real, Vector};
use crate::driver::{
    Destination, DevicePtr, DeviceRepr, Located, Source, ValidAsZeroBits, place_of,
};

/// The elements that are summed up.
#[derive(Clone, Copy, Debug)]
pub struct AsumConfig {
    /// How many there are.
    pub n: c_int,
    /// Elements from one to the next.
    pub incx: c_int,
}

/// Sums of magnitudes of elements of one type.
pub trait Asum<T> {
    /// The sum of the magnitudes in x, as a number of the host. Waits for the stream.
    ///
    /// # Safety
    ///
    /// None is needed, because sizes are checked; it is unsafe as in cudarc.
    ///
    /// # Errors
    ///
    /// Those of [`Gemm::gemm`](super::Gemm::gemm).
    unsafe fn asum<X: DevicePtr<T>>(
        &self,
        cfg: AsumConfig,
        x: &X,
        result: &mut T,
    ) -> Result<(), CublasError>;
}

impl<T: Real + DeviceRepr + ValidAsZeroBits> Asum<T> for CudaBlas {
    unsafe fn asum<X: DevicePtr<T>>(
        &self,
        cfg: AsumConfig,
        x: &X,
        result: &mut T,
    ) -> Result<(), CublasError> {
        let x = Source(place_of::<T>(x.bytes()));
        let x = Vector::<T>::strided(&x, size("n", cfg.n.into())?, cfg.incx.into()).cublas()?;
        let sum = self.stream.alloc_zeros::<T>(1).cublas()?;
        self.native.asum(&x, &mut Destination(place_of::<T>(sum.bytes()))).cublas()?;
        self.stream.memcpy_dtoh(&sum, std::array::from_mut(result)).cublas()
    }
}
