//! Products of matrices and vectors.

use std::ffi::c_int;

use super::error::Cublas;
use super::sys::cublasOperation_t;
use super::{CublasError, CudaBlas, operation, size};
use crate::blas::{Layout, Matrix, Number, Vector, VectorMut};
use crate::driver::{Destination, DevicePtr, DevicePtrMut, Source, place_of};

/// Sizes of a product y = alpha op(A) x + beta y, of a matrix by columns.
#[derive(Clone, Copy, Debug)]
pub struct GemvConfig<T> {
    /// The operation on A.
    pub trans: cublasOperation_t,
    /// Rows of A.
    pub m: c_int,
    /// Columns of A.
    pub n: c_int,
    /// The factor of the product.
    pub alpha: T,
    /// Elements from one column of A to the next.
    pub lda: c_int,
    /// Elements from one of x to the next.
    pub incx: c_int,
    /// The factor of what y was; 0: it is not read.
    pub beta: T,
    /// Elements from one of y to the next.
    pub incy: c_int,
}

/// Products of matrices and vectors with elements of one type.
pub trait Gemv<T> {
    /// y = alpha op(A) x + beta y. Never blocks.
    ///
    /// # Safety
    ///
    /// None is needed, because sizes are checked; it is unsafe as in cudarc.
    ///
    /// # Errors
    ///
    /// Those of [`Gemm::gemm`](super::Gemm::gemm).
    unsafe fn gemv<A: DevicePtr<T>, X: DevicePtr<T>, Y: DevicePtrMut<T>>(
        &self,
        cfg: GemvConfig<T>,
        a: &A,
        x: &X,
        y: &mut Y,
    ) -> Result<(), CublasError>;
}

impl<T: Number> Gemv<T> for CudaBlas {
    unsafe fn gemv<A: DevicePtr<T>, X: DevicePtr<T>, Y: DevicePtrMut<T>>(
        &self,
        cfg: GemvConfig<T>,
        a: &A,
        x: &X,
        y: &mut Y,
    ) -> Result<(), CublasError> {
        let (m, n) = (size("m", cfg.m.into())?, size("n", cfg.n.into())?);
        let is_plain = cfg.trans == cublasOperation_t::CUBLAS_OP_N;
        let (x_len, y_len) = if is_plain { (n, m) } else { (m, n) };
        let (a, x) = (Source(place_of::<T>(a.bytes())), Source(place_of::<T>(x.bytes())));
        let mut y = Destination(place_of::<T>(y.bytes()));
        let a = Matrix::<T>::strided(Layout::COLUMNS, &a, m, n, size("lda", cfg.lda.into())?)
            .cublas()?;
        let x = Vector::strided(&x, x_len, cfg.incx.into()).cublas()?;
        let mut y = VectorMut::strided(&mut y, y_len, cfg.incy.into()).cublas()?;
        let a = a.with_operation(operation(cfg.trans));
        self.native.gemv(cfg.alpha, &a, &x, cfg.beta, &mut y).cublas()
    }
}
