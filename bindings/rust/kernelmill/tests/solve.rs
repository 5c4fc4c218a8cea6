//! Solvers of dense matrices: small ones, whose factors and values are known.

mod common;

use common::{context, expect_error};
use kernelmill::blas::{
    Blas, Complex, Layout, Matrix, MatrixBatch, MatrixBatchMut, MatrixMut, Operation, Pivots, Side,
    Triangle,
};
use kernelmill::{Result, Slice, Status, Stream};

type C64 = Complex<f64>;

struct Bench {
    stream: Stream,
    blas: Blas,
    info: Slice<i32>,
}

impl Bench {
    fn new(layout: Layout) -> Result<Self> {
        let stream = context().default_stream()?;
        let blas = Blas::new(&stream, layout)?;
        let info = stream.clone_htod(&[77, 77])?;
        Ok(Self { stream, blas, info })
    }

    fn info(&self) -> Result<Vec<i32>> {
        self.stream.clone_dtoh(&self.info)
    }
}

fn expect_near(found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    for (a, b) in found.iter().zip(wanted) {
        assert!((a - b).abs() < 1e-12, "{found:?} is not {wanted:?}");
    }
}

#[test]
fn cholesky_of_a_batch_and_of_one_matrix() -> Result<()> {
    let mut f = Bench::new(Layout::ROWS)?;
    let mut a = f.stream.clone_htod(&[4.0f64, 2.0, 2.0, 5.0, 1.0, 2.0, 2.0, 1.0])?;
    let mut b = f.stream.clone_htod(&[8.0f64, 12.0, 4.0, 2.0])?;
    let mut batch = MatrixBatchMut::new(Layout::ROWS, &mut a, 2, 2, 2)?;
    f.blas.potrf(Triangle::LOWER, &mut batch, &mut f.info)?;
    assert_eq!(f.info()?, [0, 2]);
    // One factor for two systems.
    let factor = Matrix::new(Layout::ROWS, &a, 2, 2)?;
    let factors = MatrixBatch::repeated(&factor, 2);
    let mut sides = MatrixBatchMut::new(Layout::ROWS, &mut b, 2, 1, 2)?;
    f.blas.potrs(Triangle::LOWER, &factors, &mut sides, &mut f.info)?;
    assert_eq!(f.info()?, [0, 0]);
    expect_near(&f.stream.clone_dtoh(&b)?, &[1.0, 2.0, 1.0, 0.0]);
    Ok(())
}

#[test]
fn lu_solves_with_the_conjugate_transpose() -> Result<()> {
    let mut f = Bench::new(Layout::COLUMNS)?;
    let (zero, one, two_i) = (C64::new(0.0, 0.0), C64::new(1.0, 0.0), C64::new(0.0, 2.0));
    let mut a = f.stream.clone_htod(&[zero, one, two_i, zero])?;
    let mut b = f.stream.clone_htod(&[C64::new(3.0, 0.0), C64::new(4.0, 0.0)])?;
    let mut pivots = Pivots::new(&f.stream, 2, 1)?;
    assert_eq!(f.stream.clone_dtoh(pivots.rows())?, [1, 2]);
    let mut matrix = MatrixMut::new(Layout::COLUMNS, &mut a, 2, 2)?;
    f.blas.getrf(&mut matrix, &mut pivots, &mut f.info)?;
    assert_eq!(f.stream.clone_dtoh(pivots.rows())?, [2, 2]);
    let factors = Matrix::new(Layout::COLUMNS, &a, 2, 2)?;
    let mut x = MatrixMut::new(Layout::COLUMNS, &mut b, 2, 1)?;
    f.blas.getrs(&factors.conjugate_transposed(), &pivots, &mut x, &mut f.info)?;
    assert_eq!(f.info()?[0], 0);
    assert_eq!(f.stream.clone_dtoh(&b)?, [two_i, C64::new(3.0, 0.0)]);
    Ok(())
}

#[test]
fn qr_makes_and_applies_q() -> Result<()> {
    let mut f = Bench::new(Layout::ROWS)?;
    let mut a = f.stream.clone_htod(&[3.0f64, 0.0, 4.0, 5.0])?;
    let mut c = f.stream.clone_htod(&[3.0f64, 4.0])?;
    let mut tau = f.stream.alloc_zeros::<f64>(2)?;
    let mut matrix = MatrixMut::new(Layout::ROWS, &mut a, 2, 2)?;
    f.blas.geqrf(&mut matrix, &mut tau, &mut f.info)?;
    let mut sides = MatrixMut::new(Layout::ROWS, &mut c, 2, 1)?;
    f.blas.ormqr(Side::LEFT, Operation::TRANSPOSE, &matrix, &tau, &mut sides, &mut f.info)?;
    f.blas.orgqr(2, &mut matrix, &tau, &mut f.info)?;
    assert_eq!(f.info()?[0], 0);
    expect_near(&f.stream.clone_dtoh(&c)?, &[-5.0, 0.0]);
    expect_near(&f.stream.clone_dtoh(&a)?[..1], &[-0.6]);
    Ok(())
}

#[test]
fn eigenvalues_with_and_without_vectors() -> Result<()> {
    let mut f = Bench::new(Layout::ROWS)?;
    let (two, i) = (C64::new(2.0, 0.0), C64::new(0.0, 1.0));
    let hermitian = [two, i, C64::new(0.0, -1.0), two];
    let mut a = f.stream.clone_htod(&hermitian)?;
    let mut values = f.stream.alloc_zeros::<f64>(2)?;
    let mut matrix = MatrixMut::new(Layout::ROWS, &mut a, 2, 2)?;
    f.blas.syevd(Triangle::UPPER, &mut matrix, &mut values, &mut f.info)?;
    expect_near(&f.stream.clone_dtoh(&values)?, &[1.0, 3.0]);
    for each in f.stream.clone_dtoh(&a)? {
        expect_near(&[each.re * each.re + each.im * each.im], &[0.5]);
    }
    f.stream.memcpy_htod(&hermitian, &mut a)?;
    let mut matrix = MatrixMut::new(Layout::ROWS, &mut a, 2, 2)?;
    f.blas.syevd_values(Triangle::LOWER, &mut matrix, &mut values, &mut f.info)?;
    assert_eq!(f.info()?[0], 0);
    expect_near(&f.stream.clone_dtoh(&values)?, &[1.0, 3.0]);
    Ok(())
}

#[test]
fn singular_values_with_thin_and_all_vectors() -> Result<()> {
    let mut f = Bench::new(Layout::ROWS)?;
    let tall = [3.0f64, 0.0, 0.0, 4.0, 0.0, 0.0];
    let mut values = f.stream.alloc_zeros::<f64>(2)?;
    let mut vh = f.stream.alloc_zeros::<f64>(4)?;
    for columns in [2, 3] {
        let mut a = f.stream.clone_htod(&tall)?;
        let mut u = f.stream.alloc_zeros::<f64>(3 * columns)?;
        let mut matrix = MatrixMut::new(Layout::ROWS, &mut a, 3, 2)?;
        let mut left = MatrixMut::new(Layout::ROWS, &mut u, 3, columns)?;
        let mut right = MatrixMut::new(Layout::ROWS, &mut vh, 2, 2)?;
        f.blas.gesvd(&mut matrix, &mut values, &mut left, &mut right, &mut f.info)?;
        expect_near(&f.stream.clone_dtoh(&values)?, &[4.0, 3.0]);
        expect_near(&[f.stream.clone_dtoh(&u)?[columns].abs()], &[1.0]);
    }
    let mut a = f.stream.clone_htod(&tall)?;
    let mut matrix = MatrixMut::new(Layout::ROWS, &mut a, 2, 3)?;
    f.blas.gesvd_values(&mut matrix, &mut values, &mut f.info)?;
    assert_eq!(f.info()?[0], 0);
    expect_near(&f.stream.clone_dtoh(&values)?, &[5.0, 0.0]);
    Ok(())
}

#[test]
fn sizes_have_to_go_together() -> Result<()> {
    let mut f = Bench::new(Layout::ROWS)?;
    let mut a = f.stream.alloc_zeros::<f64>(6)?;
    let mut b = f.stream.alloc_zeros::<f64>(6)?;
    let mut few = f.stream.alloc_zeros::<i32>(0)?;
    let mut wide = MatrixMut::new(Layout::ROWS, &mut a, 2, 3)?;
    let invalid = Status::ERROR_INVALID_ARGUMENT;
    let result = f.blas.potrf(Triangle::LOWER, &mut wide, &mut f.info);
    expect_error(result, invalid, "must be square; this one is 2 x 3");
    let mut pivots = Pivots::new(&f.stream, 3, 1)?;
    let result = f.blas.getrf(&mut wide, &mut pivots, &mut f.info);
    expect_error(
        result,
        invalid,
        "getrf: the number of pivots is 3 and the smaller size of A is 2",
    );
    let mut square = MatrixMut::new(Layout::ROWS, &mut b, 2, 2)?;
    let result = f.blas.potrf(Triangle::LOWER, &mut square, &mut few);
    expect_error(result, Status::ERROR_OUT_OF_BOUNDS, "potrf: info needs 1 elements; there are 0");
    let result =
        f.blas.potrs(Triangle::LOWER, &square.as_matrix().transposed(), &mut wide, &mut f.info);
    expect_error(result, invalid, "potrs: A is transposed");
    let mut u = f.stream.alloc_zeros::<f64>(2)?;
    let mut left = MatrixMut::new(Layout::ROWS, &mut u, 2, 1)?;
    let mut values = f.stream.alloc_zeros::<f64>(2)?;
    let result = f.blas.gesvd(&mut wide, &mut values, &mut left, &mut square, &mut f.info);
    expect_error(result, invalid, "the number of columns of V^H is 2 and that of A is 3");
    Ok(())
}
