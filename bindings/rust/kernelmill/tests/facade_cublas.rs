//! Matrix products and the like of the facade.

use kernelmill::blas::{Bf16, Complex, F16};
use kernelmill::cublas::sys::{cublasOperation_t, cublasPointerMode_t, cublasStatus_t};
use kernelmill::cublas::{
    Asum, AsumConfig, CublasError, CudaBlas, Gemm, GemmConfig, Gemv, GemvConfig,
    StridedBatchedConfig,
};
use kernelmill::driver::{CudaContext, DeviceRepr, ValidAsZeroBits};

type Tested = Result<(), Box<dyn std::error::Error>>;

const N: cublasOperation_t = cublasOperation_t::CUBLAS_OP_N;
const T: cublasOperation_t = cublasOperation_t::CUBLAS_OP_T;
const C: cublasOperation_t = cublasOperation_t::CUBLAS_OP_C;

/// m 2, n 2, k 3, without gaps.
fn config<S>(
    transa: cublasOperation_t,
    transb: cublasOperation_t,
    alpha: S,
    beta: S,
) -> GemmConfig<S> {
    let lda = if transa == N { 2 } else { 3 };
    let ldb = if transb == N { 3 } else { 2 };
    GemmConfig { transa, transb, m: 2, n: 2, k: 3, alpha, lda, ldb, beta, ldc: 2 }
}

/// [1 2 3; 4 5 6] [7 8; 9 10; 11 12], with either matrix stored as it is or transposed.
fn product_is_right<S>(of: impl Fn(f32) -> S) -> Tested
where
    S: Copy + PartialEq + std::fmt::Debug + DeviceRepr + ValidAsZeroBits,
    CudaBlas: Gemm<S>,
{
    let stream = CudaContext::new(0)?.new_stream()?;
    let blas = CudaBlas::new(stream.clone())?;
    let upload = |numbers: &[f32]| {
        stream.clone_htod(&numbers.iter().map(|number| of(*number)).collect::<Vec<_>>())
    };
    let a = [upload(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0])?, upload(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?];
    let b =
        [upload(&[7.0, 9.0, 11.0, 8.0, 10.0, 12.0])?, upload(&[7.0, 8.0, 9.0, 10.0, 11.0, 12.0])?];
    let expected: Vec<S> = [117.0, 279.0, 129.0, 309.0].map(&of).to_vec();
    for (i, transa) in [N, T].into_iter().enumerate() {
        for (j, transb) in [N, T].into_iter().enumerate() {
            let mut c = upload(&[1.0, 1.0, 1.0, 1.0])?;
            let config = config(transa, transb, of(2.0), of(1.0));
            unsafe { blas.gemm(config, &a[i], &b[j], &mut c) }?;
            assert_eq!(stream.clone_dtoh(&c)?, expected, "{transa:?} {transb:?}");
        }
    }
    Ok(())
}

#[test]
fn products_are_right_for_all_types() -> Tested {
    product_is_right(|number| number)?;
    product_is_right(f64::from)?;
    product_is_right(|number| Complex::new(number, 0.0))?;
    product_is_right(|number| Complex::new(f64::from(number), 0.0))?;
    product_is_right(F16::from_f32)?;
    #[cfg(feature = "half")]
    {
        product_is_right(half::f16::from_f32)?;
        product_is_right(half::bf16::from_f32)?;
    }
    product_is_right(Bf16::from_f32)
}

#[test]
fn conjugates_are_taken_of_complex_matrices() -> Tested {
    let stream = CudaContext::new(0)?.new_stream()?;
    let blas = CudaBlas::new(stream.clone())?;
    let i = stream.clone_htod(&[Complex::new(0.0f32, 1.0)])?;
    let mut c = stream.alloc_zeros::<Complex<f32>>(1)?;
    let one = Complex::new(1.0, 0.0);
    let config = GemmConfig {
        transa: C,
        transb: N,
        m: 1,
        n: 1,
        k: 1,
        alpha: one,
        lda: 1,
        ldb: 1,
        beta: Complex::default(),
        ldc: 1,
    };
    unsafe { blas.gemm(config, &i, &i, &mut c) }?;
    assert_eq!(stream.clone_dtoh(&c)?, [one]);
    Ok(())
}

#[test]
fn batches_are_products_at_equal_distances() -> Tested {
    let stream = CudaContext::new(0)?.new_stream()?;
    let blas = CudaBlas::new(stream.clone())?;
    let a = stream.clone_htod(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let b = stream.clone_htod(&[1.0f32, 1.0, 1.0, 10.0, 10.0, 10.0])?; // of both
    let mut c = stream.alloc_zeros::<f32>(10)?;
    let gemm = GemmConfig { lda: 1, ..config(N, N, 1.0, 0.0) };
    let gemm = GemmConfig { m: 1, ldc: 2, ..gemm };
    let batch = StridedBatchedConfig { gemm, batch_size: 2, stride_a: 3, stride_b: 0, stride_c: 5 };
    unsafe { blas.gemm_strided_batched(batch, &a, &b, &mut c) }?;
    let expected = [6.0, 0.0, 60.0, 0.0, 0.0, 15.0, 0.0, 150.0, 0.0, 0.0];
    assert_eq!(stream.clone_dtoh(&c)?, expected);
    let transposed = GemmConfig { transa: T, lda: 3, ..gemm };
    let batch = StridedBatchedConfig { gemm: transposed, ..batch };
    unsafe { blas.gemm_strided_batched(batch, &a, &b, &mut c) }?;
    assert_eq!(stream.clone_dtoh(&c)?, expected);
    Ok(())
}

#[test]
fn products_with_vectors_are_right() -> Tested {
    let stream = CudaContext::new(0)?.new_stream()?;
    let blas = CudaBlas::new(stream.clone())?;
    let a = stream.clone_htod(&[1.0f64, 4.0, 2.0, 5.0, 3.0, 6.0])?; // [1 2 3; 4 5 6]
    let x = stream.clone_htod(&[1.0f64, 0.0, 10.0, 0.0, 100.0])?;
    let mut y = stream.clone_htod(&[1.0f64, 2.0])?;
    let config =
        GemvConfig { trans: N, m: 2, n: 3, alpha: 1.0, lda: 2, incx: 2, beta: 1.0, incy: 1 };
    unsafe { blas.gemv(config, &a, &x, &mut y) }?;
    assert_eq!(stream.clone_dtoh(&y)?, [322.0, 656.0]);
    let mut y = stream.alloc_zeros::<f64>(3)?;
    let config = GemvConfig { trans: T, incx: 1, beta: 0.0, incy: -1, ..config };
    unsafe { blas.gemv(config, &a, &x.slice(2..4), &mut y) }?;
    assert_eq!(stream.clone_dtoh(&y)?, [30.0, 20.0, 10.0]);
    Ok(())
}

#[test]
fn sums_of_magnitudes_are_numbers_of_the_host() -> Tested {
    let stream = CudaContext::new(0)?.new_stream()?;
    let mut blas = CudaBlas::new(stream.clone())?;
    let x = stream.clone_htod(&[1.0f32, -2.0, 3.0, -4.0])?;
    let mut sum = -1.0;
    unsafe { blas.asum(AsumConfig { n: 4, incx: 1 }, &x, &mut sum) }?;
    assert_eq!(sum, 10.0);
    unsafe { blas.set_stream(stream.fork()?) }?;
    unsafe { blas.asum(AsumConfig { n: 2, incx: 2 }, &x, &mut sum) }?;
    assert_eq!(sum, 4.0);
    unsafe { blas.asum(AsumConfig { n: 0, incx: 1 }, &x, &mut sum) }?;
    assert_eq!(sum, 0.0);
    let host = cublasPointerMode_t::CUBLAS_POINTER_MODE_HOST;
    blas.set_pointer_mode(host)?;
    assert_eq!(blas.get_pointer_mode()?, host);
    let device = blas.set_pointer_mode(cublasPointerMode_t::CUBLAS_POINTER_MODE_DEVICE);
    assert_eq!(device, Err(CublasError(cublasStatus_t::CUBLAS_STATUS_NOT_SUPPORTED)));
    Ok(())
}

#[test]
fn sizes_that_do_not_fit_are_errors() -> Tested {
    let stream = CudaContext::new(0)?.new_stream()?;
    let blas = CudaBlas::new(stream.clone())?;
    let matrix = stream.clone_htod(&[1.0f32; 6])?;
    let mut c = stream.alloc_zeros::<f32>(3)?;
    let wrong = |result: Result<(), CublasError>, part: &str| {
        let error = result.expect_err("sizes that do not fit");
        assert_eq!(error.0, cublasStatus_t::CUBLAS_STATUS_INVALID_VALUE);
        assert!(error.to_string().contains(part), "{error}");
    };
    let config = config(N, N, 1.0, 0.0);
    wrong(unsafe { blas.gemm(config, &matrix, &matrix, &mut c) }, "needs 4 elements; there are 3");
    let negative = GemmConfig { m: -1, ..config };
    wrong(unsafe { blas.gemm(negative, &matrix, &matrix, &mut c) }, "m is -1");
    let narrow = GemmConfig { lda: 1, ..config };
    wrong(unsafe { blas.gemm(narrow, &matrix, &matrix, &mut c) }, "leading dimension is 1");
    let mut sum = 0.0;
    let far = AsumConfig { n: 7, incx: 1 };
    wrong(unsafe { blas.asum(far, &matrix, &mut sum) }, "7");
    assert_eq!(stream.clone_dtoh(&c)?, [0.0; 3]);
    Ok(())
}
