//! Matrix products.

use std::ffi::{c_int, c_longlong};

use super::error::Cublas;
use super::sys::cublasOperation_t;
use super::{CublasError, CudaBlas, operation, size};
use crate::blas::{
    Bf16, Complex, F16, GemmNumber, Layout, Matrix, MatrixBatch, MatrixBatchMut, MatrixMut,
    Operation,
};
use crate::driver::{Destination, DevicePtr, DevicePtrMut, Source, place_of};

/// Sizes of a product C = alpha op(A) op(B) + beta C, of matrices by columns.
#[derive(Clone, Copy, Debug)]
pub struct GemmConfig<T> {
    /// The operation on A.
    pub transa: cublasOperation_t,
    /// The operation on B.
    pub transb: cublasOperation_t,
    /// Rows of op(A) and C.
    pub m: c_int,
    /// Columns of op(B) and C.
    pub n: c_int,
    /// Columns of op(A), rows of op(B).
    pub k: c_int,
    /// The factor of the product.
    pub alpha: T,
    /// Elements from one column of A to the next.
    pub lda: c_int,
    /// Elements from one column of B to the next.
    pub ldb: c_int,
    /// The factor of what C was; 0: it is not read.
    pub beta: T,
    /// Elements from one column of C to the next.
    pub ldc: c_int,
}

/// Sizes of several products of one shape, whose matrices lie at equal distances.
#[derive(Clone, Copy, Debug)]
pub struct StridedBatchedConfig<T> {
    /// The shape of each.
    pub gemm: GemmConfig<T>,
    /// How many there are.
    pub batch_size: c_int,
    /// Elements from one A to the next; 0: one for all.
    pub stride_a: c_longlong,
    /// Elements from one B to the next; 0: one for all.
    pub stride_b: c_longlong,
    /// Elements from one C to the next.
    pub stride_c: c_longlong,
}

/// Matrix products of elements of one type.
pub trait Gemm<T> {
    /// C = alpha op(A) op(B) + beta C. Never blocks.
    ///
    /// # Safety
    ///
    /// None is needed, because sizes are checked; it is unsafe as in cudarc.
    ///
    /// # Errors
    ///
    /// `CUBLAS_STATUS_INVALID_VALUE` when a size is negative or beyond the memory, or a leading
    /// dimension less than a column; `CUBLAS_STATUS_NOT_INITIALIZED` when the library that runs the
    /// calls is missing; `CUBLAS_STATUS_EXECUTION_FAILED` after a kernel that failed.
    unsafe fn gemm<A: DevicePtr<T>, B: DevicePtr<T>, C: DevicePtrMut<T>>(
        &self,
        cfg: GemmConfig<T>,
        a: &A,
        b: &B,
        c: &mut C,
    ) -> Result<(), CublasError>;

    /// Computes each of several products. Never blocks.
    ///
    /// # Safety
    ///
    /// That of [`gemm`](Self::gemm).
    ///
    /// # Errors
    ///
    /// Those of [`gemm`](Self::gemm).
    unsafe fn gemm_strided_batched<A: DevicePtr<T>, B: DevicePtr<T>, C: DevicePtrMut<T>>(
        &self,
        cfg: StridedBatchedConfig<T>,
        a: &A,
        b: &B,
        c: &mut C,
    ) -> Result<(), CublasError>;
}

/// Elements that have products, and their factors.
pub trait Factor: GemmNumber {
    #[doc(hidden)]
    fn scalar(self) -> Self::Scalar;
}

macro_rules! own_factors {
    ($($number:ty)*) => {
        $(
            impl Factor for $number {
                fn scalar(self) -> Self {
                    self
                }
            }
        )*
    };
}
own_factors! { f32 f64 Complex<f32> Complex<f64> }

macro_rules! factors_of_16_bits {
    ($($number:ty)*) => {
        $(
            impl Factor for $number {
                fn scalar(self) -> f32 {
                    self.to_f32()
                }
            }
        )*
    };
}
factors_of_16_bits! { F16 Bf16 }
#[cfg(feature = "half")]
factors_of_16_bits! { half::f16 half::bf16 }

/// Rows and columns of a matrix in memory, and its leading dimension.
struct Stored {
    rows: usize,
    columns: usize,
    leading: usize,
    operation: Operation,
}

impl Stored {
    /// A matrix that has so many rows and columns after the operation.
    fn new(
        name: &str,
        op: cublasOperation_t,
        (rows, columns): (usize, usize),
        leading: c_int,
    ) -> Result<Self, CublasError> {
        let (rows, columns) =
            if op == cublasOperation_t::CUBLAS_OP_N { (rows, columns) } else { (columns, rows) };
        let leading = size(name, leading.into())?;
        Ok(Self { rows, columns, leading, operation: operation(op) })
    }
}

/// The three matrices of a product.
fn shapes<T>(cfg: &GemmConfig<T>) -> Result<[Stored; 3], CublasError> {
    let (m, n) = (size("m", cfg.m.into())?, size("n", cfg.n.into())?);
    let k = size("k", cfg.k.into())?;
    Ok([
        Stored::new("lda", cfg.transa, (m, k), cfg.lda)?,
        Stored::new("ldb", cfg.transb, (k, n), cfg.ldb)?,
        Stored::new("ldc", cublasOperation_t::CUBLAS_OP_N, (m, n), cfg.ldc)?,
    ])
}

impl<T: Factor> Gemm<T> for CudaBlas {
    unsafe fn gemm<A: DevicePtr<T>, B: DevicePtr<T>, C: DevicePtrMut<T>>(
        &self,
        cfg: GemmConfig<T>,
        a: &A,
        b: &B,
        c: &mut C,
    ) -> Result<(), CublasError> {
        let [shape_a, shape_b, shape_c] = shapes(&cfg)?;
        let (a, b) = (Source(place_of::<T>(a.bytes())), Source(place_of::<T>(b.bytes())));
        let mut c = Destination(place_of::<T>(c.bytes()));
        let matrix = |source, shape: &Stored| {
            Matrix::<T>::strided(Layout::COLUMNS, source, shape.rows, shape.columns, shape.leading)
        };
        let (a, b) = (matrix(&a, &shape_a).cublas()?, matrix(&b, &shape_b).cublas()?);
        let Stored { rows, columns, leading, .. } = shape_c;
        let mut c = MatrixMut::strided(Layout::COLUMNS, &mut c, rows, columns, leading).cublas()?;
        let (a, b) = (a.with_operation(shape_a.operation), b.with_operation(shape_b.operation));
        self.native.gemm(cfg.alpha.scalar(), &a, &b, cfg.beta.scalar(), &mut c).cublas()
    }

    unsafe fn gemm_strided_batched<A: DevicePtr<T>, B: DevicePtr<T>, C: DevicePtrMut<T>>(
        &self,
        cfg: StridedBatchedConfig<T>,
        a: &A,
        b: &B,
        c: &mut C,
    ) -> Result<(), CublasError> {
        let [shape_a, shape_b, shape_c] = shapes(&cfg.gemm)?;
        let count = size("batch_size", cfg.batch_size.into())?;
        let (a, b) = (Source(place_of::<T>(a.bytes())), Source(place_of::<T>(b.bytes())));
        let mut c = Destination(place_of::<T>(c.bytes()));
        let a = batch::<T>(&a, &shape_a, count, size("stride_a", cfg.stride_a)?)?;
        let b = batch::<T>(&b, &shape_b, count, size("stride_b", cfg.stride_b)?)?;
        let (stride, shape) = (size("stride_c", cfg.stride_c)?, (shape_c.rows, shape_c.columns));
        let leading = shape_c.leading;
        let mut c = MatrixBatchMut::strided(Layout::COLUMNS, &mut c, shape, leading, count, stride)
            .cublas()?;
        let (alpha, beta) = (cfg.gemm.alpha.scalar(), cfg.gemm.beta.scalar());
        self.native.gemm_strided_batched(alpha, &a, &b, beta, &mut c).cublas()
    }
}

fn batch<'a, T: Factor>(
    source: &'a Source,
    stored: &Stored,
    count: usize,
    stride: usize,
) -> Result<MatrixBatch<'a, T>, CublasError> {
    let shape = (stored.rows, stored.columns);
    let batch = MatrixBatch::strided(Layout::COLUMNS, source, shape, stored.leading, count, stride)
        .cublas()?;
    Ok(match stored.operation {
        Operation::TRANSPOSE => batch.transposed(),
        Operation::CONJUGATE_TRANSPOSE => batch.conjugate_transposed(),
        _ => batch,
    })
}
