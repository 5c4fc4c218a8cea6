//! BLAS of level 2 and 3 gives right results for all types and layouts; matrices are checked.

mod common;
#[path = "common/dense.rs"]
mod dense;

use common::{context, expect_error};
use dense::{C, Dense, Element, numbers};
use kernelmill::blas::{
    BandMatrix, BandTriangle, Bf16, Blas, Complex, Diagonal, F16, GemmNumber, Layout, Matrix,
    MatrixBatch, MatrixBatchMut, MatrixMut, PackedTriangle, PackedTriangleMut, Side, Triangle,
};
use kernelmill::{Context, Result, Slice, Status, Stream};

const TRIANGLES: [Triangle; 2] = [Triangle::LOWER, Triangle::UPPER];
const ONE: C = C(1.0, 0.0);

/// The objects that a test of one type and layout uses.
struct Bench {
    stream: Stream,
    blas: Blas,
    layout: Layout,
}

impl Bench {
    fn new(layout: Layout) -> Result<Self> {
        let stream = context().default_stream()?;
        Ok(Self { blas: Blas::new(&stream, layout)?, stream, layout })
    }

    fn upload<T: Element>(&self, numbers: &[C]) -> Result<Slice<T>> {
        self.stream.clone_htod(&numbers.iter().map(|value| T::of(*value)).collect::<Vec<_>>())
    }

    /// A matrix with two elements between its lines.
    fn store<T: Element>(&self, matrix: &Dense) -> Result<Slice<T>> {
        self.stream.clone_htod(&matrix.stored::<T>(self.layout, 2))
    }

    fn view<'a, T: Element>(&self, memory: &'a Slice<T>, like: &Dense) -> Result<Matrix<'a, T>> {
        let line = if self.layout == Layout::ROWS { like.columns } else { like.rows };
        Matrix::strided(self.layout, memory, like.rows, like.columns, line + 2)
    }

    fn view_mut<'a, T: Element>(
        &self,
        memory: &'a mut Slice<T>,
        like: &Dense,
    ) -> Result<MatrixMut<'a, T>> {
        let line = if self.layout == Layout::ROWS { like.columns } else { like.rows };
        MatrixMut::strided(self.layout, memory, like.rows, like.columns, line + 2)
    }

    fn matrix<T: Element>(&self, memory: &Slice<T>, like: &Dense) -> Result<Dense> {
        let memory = self.stream.clone_dtoh(memory)?;
        Ok(Dense::from_stored(self.layout, like.rows, like.columns, 2, &memory))
    }

    fn vector<T: Element>(&self, memory: &Slice<T>) -> Result<Vec<C>> {
        Ok(self.stream.clone_dtoh(memory)?.into_iter().map(T::value).collect())
    }
}

/// alpha A x + beta y
fn product(alpha: C, a: &Dense, x: &[C], beta: C, y: &[C]) -> Vec<C> {
    let product = a.times(&Dense::vector(x)).scaled(alpha);
    product.plus(&Dense::vector(y).scaled(beta)).numbers
}

fn general<T: Element>(bench: &Bench) -> Result<()> {
    let a = Dense::new::<T>(3, 5, 1);
    let (x, y) = (numbers::<T>(5, 2), numbers::<T>(3, 3));
    let (alpha, beta) = (numbers::<T>(1, 4)[0], numbers::<T>(1, 5)[0]);
    let (on_a, on_x, on_y) =
        (bench.store::<T>(&a)?, bench.upload::<T>(&x)?, bench.upload::<T>(&y)?);
    let matrix = bench.view(&on_a, &a)?;
    let (to, from) = (&mut bench.upload::<T>(&y)?, &mut bench.upload::<T>(&x)?);
    bench.blas.gemv(T::of(alpha), &matrix, &on_x, T::of(beta), to)?;
    assert_eq!(bench.vector(to)?, product(alpha, &a, &x, beta, &y));
    bench.blas.gemv(T::of(alpha), &matrix.transposed(), &on_y, T::of(beta), from)?;
    assert_eq!(bench.vector(from)?, product(alpha, &a.transpose(), &y, beta, &x));
    bench.blas.gemv(T::of(ONE), &matrix.conjugate_transposed(), &on_y, T::of(C(0.0, 0.0)), from)?;
    assert_eq!(bench.vector(from)?, product(ONE, &a.transpose().conj(), &y, C(0.0, 0.0), &x));
    // A = alpha y x^T + A and its conjugate twin.
    let (column, row) = (Dense::vector(&y), Dense::vector(&x).transpose());
    let mut on_b = bench.store::<T>(&a)?;
    bench.blas.ger(T::of(alpha), &on_y, &on_x, &mut bench.view_mut(&mut on_b, &a)?)?;
    let sum = a.plus(&column.times(&row).scaled(alpha));
    assert_eq!(bench.matrix(&on_b, &a)?, sum);
    bench.blas.gerc(T::of(alpha), &on_y, &on_x, &mut bench.view_mut(&mut on_b, &a)?)?;
    assert_eq!(bench.matrix(&on_b, &a)?, sum.plus(&column.times(&row.conj()).scaled(alpha)));
    Ok(())
}

fn band<T: Element>(bench: &Bench) -> Result<()> {
    let a = Dense::new::<T>(4, 5, 1).band(1, 2);
    let (x, y) = (numbers::<T>(5, 2), numbers::<T>(4, 3));
    let (on_x, on_y) = (bench.upload::<T>(&x)?, bench.upload::<T>(&y)?);
    let memory = bench.stream.clone_htod(&a.stored_band::<T>(bench.layout, 1, 2))?;
    let matrix = BandMatrix::new(bench.layout, &memory, (4, 5), (1, 2))?;
    let (to, from) = (&mut bench.upload::<T>(&y)?, &mut bench.upload::<T>(&x)?);
    bench.blas.gbmv(T::of(ONE), &matrix, &on_x, T::of(ONE), to)?;
    assert_eq!(bench.vector(to)?, product(ONE, &a, &x, ONE, &y));
    bench.blas.gbmv(T::of(ONE), &matrix.transposed(), &on_y, T::of(ONE), from)?;
    assert_eq!(bench.vector(from)?, product(ONE, &a.transpose(), &y, ONE, &x));
    Ok(())
}

fn symmetric<T: Element>(bench: &Bench, triangle: Triangle) -> Result<()> {
    let stored = Dense::new::<T>(4, 4, 1).mirrored(triangle, T::IS_COMPLEX);
    let (x, y) = (numbers::<T>(4, 2), numbers::<T>(4, 3));
    let on_x = bench.upload::<T>(&x)?;
    // The other triangle has other numbers, which are not read.
    let noise = Dense::new::<T>(4, 4, 6).with_triangle(triangle, &stored);
    let (memory, to) = (bench.store::<T>(&noise)?, &mut bench.upload::<T>(&y)?);
    let matrix = bench.view(&memory, &noise)?.symmetric(triangle)?;
    bench.blas.symv(T::of(ONE), &matrix, &on_x, T::of(ONE), to)?;
    assert_eq!(bench.vector(to)?, product(ONE, &stored, &x, ONE, &y));
    let memory = bench.stream.clone_htod(&stored.packed::<T>(bench.layout, triangle))?;
    let (matrix, to) =
        (PackedTriangle::new(bench.layout, triangle, &memory, 4)?, &mut bench.upload::<T>(&y)?);
    bench.blas.spmv(T::of(ONE), &matrix, &on_x, T::of(ONE), to)?;
    assert_eq!(bench.vector(to)?, product(ONE, &stored, &x, ONE, &y));
    let banded = stored.band(1, 1);
    let (lower, upper) = if triangle == Triangle::LOWER { (1, 0) } else { (0, 1) };
    let memory = bench.stream.clone_htod(&banded.stored_band::<T>(bench.layout, lower, upper))?;
    let (matrix, to) =
        (BandTriangle::new(bench.layout, triangle, &memory, 4, 1)?, &mut bench.upload::<T>(&y)?);
    bench.blas.sbmv(T::of(ONE), &matrix, &on_x, T::of(ONE), to)?;
    assert_eq!(bench.vector(to)?, product(ONE, &banded, &x, ONE, &y));
    Ok(())
}

/// x = op(A) x by mv, and back by sv.
fn triangular<T: Element>(bench: &Bench, triangle: Triangle) -> Result<()> {
    let stored = Dense::new::<T>(4, 4, 1);
    let a = stored.unit_triangle(triangle);
    let x = numbers::<T>(4, 2);
    let image = |a: &Dense| product(ONE, a, &x, C(0.0, 0.0), &x);
    let on_x = &mut bench.upload::<T>(&x)?;
    let memory = bench.store::<T>(&stored)?;
    let matrix = bench.view(&memory, &stored)?.triangular(triangle, Diagonal::UNIT)?;
    bench.blas.trmv(&matrix, on_x)?;
    assert_eq!(bench.vector(on_x)?, image(&a));
    bench.blas.trsv(&matrix, on_x)?;
    assert_eq!(bench.vector(on_x)?, x);
    bench.blas.trmv(&matrix.conjugate_transposed(), on_x)?;
    assert_eq!(bench.vector(on_x)?, image(&a.transpose().conj()));
    bench.blas.trsv(&matrix.conjugate_transposed(), on_x)?;
    let memory = bench.stream.clone_htod(&stored.packed::<T>(bench.layout, triangle))?;
    let matrix =
        PackedTriangle::new(bench.layout, triangle, &memory, 4)?.triangular(Diagonal::UNIT);
    bench.blas.tpmv(&matrix.transposed(), on_x)?;
    assert_eq!(bench.vector(on_x)?, image(&a.transpose()));
    bench.blas.tpsv(&matrix.transposed(), on_x)?;
    assert_eq!(bench.vector(on_x)?, x);
    let (lower, upper) = if triangle == Triangle::LOWER { (2, 0) } else { (0, 2) };
    let memory = bench.stream.clone_htod(&stored.stored_band::<T>(bench.layout, lower, upper))?;
    let matrix =
        BandTriangle::new(bench.layout, triangle, &memory, 4, 2)?.triangular(Diagonal::UNIT);
    bench.blas.tbmv(&matrix, on_x)?;
    assert_eq!(bench.vector(on_x)?, image(&a.band(2, 2)));
    bench.blas.tbsv(&matrix, on_x)?;
    assert_eq!(bench.vector(on_x)?, x);
    Ok(())
}

fn rank_updates<T: Element>(bench: &Bench, triangle: Triangle) -> Result<()> {
    let old = Dense::new::<T>(4, 4, 1).mirrored(triangle, T::IS_COMPLEX);
    let (x, y) = (numbers::<T>(4, 2), numbers::<T>(4, 3));
    let (on_x, on_y) = (bench.upload::<T>(&x)?, bench.upload::<T>(&y)?);
    let (x, y) = (Dense::vector(&x), Dense::vector(&y));
    let alpha = numbers::<T>(1, 4)[0];
    let one = old.plus(&x.times(&x.transpose().conj()).scaled(C(2.0, 0.0)));
    let first = x.times(&y.transpose().conj()).scaled(alpha);
    let two = one.plus(&first).plus(&first.transpose().conj());
    let mut memory = bench.store::<T>(&old)?;
    bench.blas.syr(triangle, T::real(2.0), &on_x, &mut bench.view_mut(&mut memory, &old)?)?;
    assert_eq!(bench.matrix(&memory, &old)?, old.with_triangle(triangle, &one));
    let target = &mut bench.view_mut(&mut memory, &old)?;
    bench.blas.syr2(triangle, T::of(alpha), &on_x, &on_y, target)?;
    assert_eq!(bench.matrix(&memory, &old)?, old.with_triangle(triangle, &two));
    let mut memory = bench.stream.clone_htod(&old.packed::<T>(bench.layout, triangle))?;
    let mut target = PackedTriangleMut::new(bench.layout, triangle, &mut memory, 4)?;
    bench.blas.spr(T::real(2.0), &on_x, &mut target)?;
    bench.blas.spr2(T::of(alpha), &on_x, &on_y, &mut target)?;
    let zeros = Dense::by(4, 4, |_, _| C(0.0, 0.0));
    let found = bench.stream.clone_dtoh(&memory)?;
    let found = Dense::from_packed(bench.layout, triangle, 4, &found);
    assert_eq!(found, zeros.with_triangle(triangle, &two));
    Ok(())
}

fn products<T: Element>(bench: &Bench) -> Result<()> {
    let (a, b, c) = (Dense::new::<T>(3, 4, 1), Dense::new::<T>(5, 4, 2), Dense::new::<T>(3, 5, 3));
    let (alpha, beta) = (numbers::<T>(1, 4)[0], numbers::<T>(1, 5)[0]);
    let (on_a, on_b, mut on_c) =
        (bench.store::<T>(&a)?, bench.store::<T>(&b)?, bench.store::<T>(&c)?);
    let (left, right) = (bench.view(&on_a, &a)?, bench.view(&on_b, &b)?);
    let target = &mut bench.view_mut(&mut on_c, &c)?;
    bench.blas.gemm(T::of(alpha), &left, &right.transposed(), T::of(beta), target)?;
    let expected = a.times(&b.transpose()).scaled(alpha).plus(&c.scaled(beta));
    assert_eq!(bench.matrix(&on_c, &c)?, expected);
    let target = &mut bench.view_mut(&mut on_c, &c)?;
    let zero = T::of(C(0.0, 0.0));
    bench.blas.gemm(T::of(ONE), &left, &right.conjugate_transposed(), zero, target)?;
    assert_eq!(bench.matrix(&on_c, &c)?, a.times(&b.transpose().conj()));
    Ok(())
}

fn symmetric_products<T: Element>(bench: &Bench, triangle: Triangle) -> Result<()> {
    let stored = Dense::new::<T>(3, 3, 1);
    let (b, c) = (Dense::new::<T>(3, 4, 2), Dense::new::<T>(3, 4, 3));
    let (on_a, on_b) = (bench.store::<T>(&stored)?, bench.store::<T>(&b)?);
    let matrix = bench.view(&on_a, &stored)?.symmetric(triangle)?;
    let right = bench.view(&on_b, &b)?;
    let mut on_c = bench.store::<T>(&c)?;
    let target = &mut bench.view_mut(&mut on_c, &c)?;
    bench.blas.symm(Side::LEFT, T::of(ONE), &matrix, &right, T::of(ONE), target)?;
    assert_eq!(bench.matrix(&on_c, &c)?, stored.mirrored(triangle, false).times(&b).plus(&c));
    let mut on_c = bench.store::<T>(&c.transpose())?;
    let b = b.transpose();
    let on_b = bench.store::<T>(&b)?;
    let (left, target) = (bench.view(&on_b, &b)?, &mut bench.view_mut(&mut on_c, &c.transpose())?);
    let hermitian = Dense::by(3, 3, |i, j| if i == j { C(2.0, 0.0) } else { stored.at(i, j) });
    let on_a = bench.store::<T>(&hermitian)?;
    let matrix = bench.view(&on_a, &stored)?.symmetric(triangle)?;
    bench.blas.hemm(Side::RIGHT, T::of(ONE), &matrix, &left, T::of(ONE), target)?;
    let expected = b.times(&hermitian.mirrored(triangle, T::IS_COMPLEX)).plus(&c.transpose());
    assert_eq!(bench.matrix(&on_c, &c.transpose())?, expected);
    Ok(())
}

fn rank_k_updates<T: Element>(bench: &Bench, triangle: Triangle) -> Result<()> {
    let (a, b) = (Dense::new::<T>(2, 3, 1), Dense::new::<T>(2, 3, 2));
    let c = Dense::new::<T>(3, 3, 3).mirrored(triangle, true);
    let (on_a, on_b) = (bench.store::<T>(&a)?, bench.store::<T>(&b)?);
    let (view_a, view_b) = (bench.view(&on_a, &a)?, bench.view(&on_b, &b)?);
    let alpha = numbers::<T>(1, 4)[0];
    let check = |memory: &Slice<T>, new: &Dense| -> Result<()> {
        assert_eq!(bench.matrix(memory, &c)?, c.with_triangle(triangle, new));
        Ok(())
    };
    let mut memory = bench.store::<T>(&c)?;
    let target = &mut bench.view_mut(&mut memory, &c)?;
    bench.blas.syrk(triangle, T::of(alpha), &view_a.transposed(), T::of(ONE), target)?;
    check(&memory, &c.plus(&a.transpose().times(&a).scaled(alpha)))?;
    let mut memory = bench.store::<T>(&c)?;
    let target = &mut bench.view_mut(&mut memory, &c)?;
    bench.blas.herk(
        triangle,
        T::real(2.0),
        &view_a.conjugate_transposed(),
        T::real(1.0),
        target,
    )?;
    check(&memory, &c.plus(&a.transpose().conj().times(&a).scaled(C(2.0, 0.0))))?;
    let mut memory = bench.store::<T>(&c)?;
    let target = &mut bench.view_mut(&mut memory, &c)?;
    let (left, right) = (view_a.transposed(), view_b.transposed());
    bench.blas.syr2k(triangle, T::of(alpha), &left, &right, T::of(ONE), target)?;
    let first = a.transpose().times(&b).scaled(alpha);
    check(&memory, &c.plus(&first).plus(&first.transpose()))?;
    let mut memory = bench.store::<T>(&c)?;
    let target = &mut bench.view_mut(&mut memory, &c)?;
    let (left, right) = (view_a.conjugate_transposed(), view_b.conjugate_transposed());
    bench.blas.her2k(triangle, T::of(alpha), &left, &right, T::real(1.0), target)?;
    let first = a.transpose().conj().times(&b).scaled(alpha);
    check(&memory, &c.plus(&first).plus(&first.transpose().conj()))
}

fn triangular_products<T: Element>(bench: &Bench, triangle: Triangle) -> Result<()> {
    let (stored, b) = (Dense::new::<T>(3, 3, 1), Dense::new::<T>(3, 4, 2));
    let a = stored.unit_triangle(triangle);
    let memory = bench.store::<T>(&stored)?;
    let matrix = bench.view(&memory, &stored)?.triangular(triangle, Diagonal::UNIT)?;
    let mut on_b = bench.store::<T>(&b)?;
    let target = &mut bench.view_mut(&mut on_b, &b)?;
    bench.blas.trmm(Side::LEFT, T::of(C(2.0, 0.0)), &matrix.transposed(), target)?;
    assert_eq!(bench.matrix(&on_b, &b)?, a.transpose().times(&b).scaled(C(2.0, 0.0)));
    let target = &mut bench.view_mut(&mut on_b, &b)?;
    bench.blas.trsm(Side::LEFT, T::of(C(0.5, 0.0)), &matrix.transposed(), target)?;
    assert_eq!(bench.matrix(&on_b, &b)?, b);
    let mut on_b = bench.store::<T>(&b.transpose())?;
    let target = &mut bench.view_mut(&mut on_b, &b.transpose())?;
    bench.blas.trmm(Side::RIGHT, T::of(ONE), &matrix, target)?;
    assert_eq!(bench.matrix(&on_b, &b.transpose())?, b.transpose().times(&a));
    Ok(())
}

#[test]
fn level_2_and_3_are_right_for_all_types_and_layouts() -> Result<()> {
    fn all<T: Element>() -> Result<()> {
        for layout in [Layout::ROWS, Layout::COLUMNS] {
            let bench = Bench::new(layout)?;
            general::<T>(&bench)?;
            band::<T>(&bench)?;
            products::<T>(&bench)?;
            for triangle in TRIANGLES {
                symmetric::<T>(&bench, triangle)?;
                triangular::<T>(&bench, triangle)?;
                rank_updates::<T>(&bench, triangle)?;
                symmetric_products::<T>(&bench, triangle)?;
                rank_k_updates::<T>(&bench, triangle)?;
                triangular_products::<T>(&bench, triangle)?;
            }
        }
        Ok(())
    }
    all::<f32>()?;
    all::<f64>()?;
    all::<Complex<f32>>()?;
    all::<Complex<f64>>()
}

fn batch<T: GemmNumber<Scalar = f32>>(number: impl Fn(f32) -> T) -> Result<Vec<T>> {
    let bench = Bench::new(Layout::COLUMNS)?;
    let upload = |numbers: &[f32]| {
        bench.stream.clone_htod(&numbers.iter().map(|v| number(*v)).collect::<Vec<_>>())
    };
    // Two matrices of 2 x 2, three columns apart; one B for both.
    let a = upload(&[1.0, 2.0, 3.0, 4.0, 9.0, 9.0, 5.0, 6.0, 7.0, 8.0])?;
    let b = upload(&[1.0, 10.0])?;
    let mut c = upload(&[0.5; 6])?;
    let left = MatrixBatch::strided(Layout::COLUMNS, &a, (2, 2), 2, 2, 6)?.transposed();
    let right = MatrixBatch::repeated(&Matrix::new(Layout::COLUMNS, &b, 2, 1)?, 2);
    let mut target = MatrixBatchMut::strided(Layout::COLUMNS, &mut c, (2, 1), 2, 2, 4)?;
    bench.blas.gemm_strided_batched(1.0, &left, &right, 2.0, &mut target)?;
    bench.stream.clone_dtoh(&c)
}

#[test]
fn batches_are_right_for_narrow_types_too() -> Result<()> {
    let expected = [22.0, 44.0, 0.5, 0.5, 66.0, 88.0];
    assert_eq!(batch::<f32>(|v| v)?, expected);
    assert_eq!(batch::<F16>(F16::from_f32)?, expected.map(F16::from_f32));
    assert_eq!(batch::<Bf16>(Bf16::from_f32)?, expected.map(Bf16::from_f32));
    Ok(())
}

#[test]
fn narrow_numbers_are_rounded_to_the_nearest() {
    for bits in 0..=u16::MAX {
        let (half, brain) = (F16(bits), Bf16(bits));
        if !half.to_f32().is_nan() {
            assert_eq!(F16::from_f32(half.to_f32()), half, "{bits:#x}");
        }
        assert_eq!(half.to_f32().is_nan(), bits & 0x7fff > 0x7c00);
        if !brain.to_f32().is_nan() {
            assert_eq!(Bf16::from_f32(brain.to_f32()), brain, "{bits:#x}");
        }
    }
    let ulp = 2.0f32.powi(-10);
    assert_eq!(F16::from_f32(1.0 + ulp / 2.0).to_f32(), 1.0);
    assert_eq!(F16::from_f32(1.0 + ulp * 1.5).to_f32(), 1.0 + 2.0 * ulp);
    assert_eq!(F16::from_f32(1.0 + ulp * 0.51).to_f32(), 1.0 + ulp);
    assert_eq!(F16::from_f32(-65519.0).to_f32(), -65504.0);
    assert_eq!(F16::from_f32(-65520.0).to_f32(), f32::NEG_INFINITY);
    assert_eq!(F16::from_f32(2.0f32.powi(-25)).to_f32(), 0.0);
    assert_eq!(F16::from_f32(2.0f32.powi(-25) * 1.01).to_f32(), 2.0f32.powi(-24));
    assert_eq!(F16::from_f32(2.0f32.powi(-14) * 0.9999).to_f32(), 2.0f32.powi(-14));
    assert!(
        F16::from_f32(f32::NAN).to_f32().is_nan() && Bf16::from_f32(f32::NAN).to_f32().is_nan()
    );
    assert_eq!(Bf16::from_f32(1.0 + 2.0f32.powi(-8)).to_f32(), 1.0);
    assert_eq!(Bf16::from_f32(f32::MAX).to_f32(), f32::INFINITY);
}

fn small(context: &Context) -> Result<(Blas, Slice<f32>, Slice<f32>)> {
    let blas = Blas::new(&context.default_stream()?, Layout::ROWS)?;
    Ok((blas, context.alloc_zeros(12)?, context.alloc_zeros(12)?))
}

#[test]
fn memory_of_matrices_is_checked() -> Result<()> {
    let (_, mut x, _) = small(&context())?;
    let (bounds, argument) = (Status::ERROR_OUT_OF_BOUNDS, Status::ERROR_INVALID_ARGUMENT);
    let rows = Layout::ROWS;
    let message = "a 3 x 5 matrix with leading dimension 5 needs 15 elements; there are 12";
    expect_error(Matrix::new(rows, &x, 3, 5), bounds, message);
    let message = "leading dimension is 3; lines have 4";
    expect_error(Matrix::strided(rows, &x, 3, 4, 3), argument, message);
    expect_error(MatrixMut::strided(rows, &mut x, 3, 3, 5), bounds, "needs 13 elements");
    assert_eq!(Matrix::strided(rows, &x, 3, 2, 5)?.leading_dimension(), 5);
    expect_error(Matrix::new(rows, &x, usize::MAX, 2), bounds, "more than 2^64");
    expect_error(Matrix::new(Layout(9), &x, 1, 2), argument, "layout is 9");
    let (lower, order) = (Triangle::LOWER, 5);
    let message = "a packed triangle of order 5 needs 15 elements; there are 12";
    expect_error(PackedTriangle::new(rows, lower, &x, order), bounds, message);
    expect_error(PackedTriangle::new(rows, lower, &x, usize::MAX), bounds, "more than 2^64");
    expect_error(BandTriangle::new(rows, lower, &x, 5, 2), bounds, "needs 15 elements");
    expect_error(BandTriangle::new(rows, lower, &x, 5, usize::MAX), argument, "diagonals");
    expect_error(BandMatrix::strided(rows, &x, (4, 4), (1, 1), 2), argument, "lines have 3");
    let message = "3 times a 2 x 2 matrix with leading dimension 2, 5 apart, needs 14 elements";
    expect_error(MatrixBatch::strided(rows, &x, (2, 2), 2, 3, 5), bounds, message);
    expect_error(MatrixBatchMut::strided(rows, &mut x, (2, 2), 2, 3, 0), argument, "stride is 0");
    assert_eq!(MatrixBatch::new(rows, &x, 0, 0, 100)?.len(), 100);
    Ok(())
}

#[test]
fn parts_of_matrices_are_checked() -> Result<()> {
    let (_, x, _) = small(&context())?;
    let bounds = Status::ERROR_OUT_OF_BOUNDS;
    let a = Matrix::new(Layout::ROWS, &x, 3, 4)?;
    expect_error(a.row(3), bounds, "row 3 of a matrix that has 3");
    expect_error(a.column(4), bounds, "column 4 of a matrix that has 4");
    expect_error(a.part(1..4, ..), bounds, "a matrix that has 3");
    expect_error(a.part(.., 2..=usize::MAX), bounds, "a matrix that has 4");
    let part = a.part(1.., 1..3)?;
    assert_eq!((part.rows(), part.columns(), part.leading_dimension()), (2, 2, 4));
    assert_eq!((part.column(1)?.len(), part.column(1)?.increment()), (2, 4));
    assert_eq!((part.row(1)?.len(), part.row(1)?.increment()), (2, 1));
    expect_error(a.symmetric(Triangle::LOWER), Status::ERROR_INVALID_ARGUMENT, "3 x 4");
    let upper = a.triangular(Triangle::UPPER, Diagonal::UNIT);
    expect_error(upper, Status::ERROR_INVALID_ARGUMENT, "3 x 4");
    Ok(())
}

#[test]
fn sizes_that_do_not_go_together() -> Result<()> {
    let context = context();
    let (blas, x, mut y) = small(&context)?;
    let argument = Status::ERROR_INVALID_ARGUMENT;
    let rows = Layout::ROWS;
    let a = Matrix::new(rows, &x, 3, 4)?;
    let short = x.view(..2)?;
    let message = "length of x is 2 and the number of columns of op(A) is 4";
    expect_error(blas.gemv(1.0, &a, &short, 0.0, &mut y.view_mut(..3)?), argument, message);
    let message = "length of y is 12 and the number of rows of op(A) is 4";
    expect_error(blas.gemv(1.0, &a.transposed(), &x.view(..3)?, 0.0, &mut y), argument, message);
    let c = &mut MatrixMut::new(rows, &mut y, 3, 3)?;
    let message = "gemm: the number of columns of op(A) is 4 and that of rows of op(B) is 3";
    expect_error(blas.gemm(1.0, &a, &a, 0.0, c), argument, message);
    blas.gemm(1.0, &a, &a.transposed(), 0.0, c)?;
    let message = "syrk: the number of rows of op(A) is 4 and that of C is 3";
    expect_error(blas.syrk(Triangle::LOWER, 1.0, &a.transposed(), 0.0, c), argument, message);
    let message = "the operation of A is 1 and that of B is 2";
    let twice = blas.syr2k(Triangle::LOWER, 1.0, &a, &a.transposed(), 0.0, c);
    expect_error(twice, argument, message);
    let square = a.part(.., ..3)?.symmetric(Triangle::LOWER)?;
    let message = "the order of A is 3 and the number of columns of B is 4";
    expect_error(blas.symm(Side::RIGHT, 1.0, &square, &a, 0.0, c), argument, message);
    expect_error(blas.symm(Side(5), 1.0, &square, &a, 0.0, c), argument, "side is 5");
    expect_error(blas.syr(Triangle(7), 1.0, &x.view(..3)?, c), argument, "triangle is 7");
    let column_major = Matrix::new(Layout::COLUMNS, &x, 3, 3)?;
    let message = "gemm: B is stored by columns, and this BLAS object takes rows";
    expect_error(blas.gemm(1.0, &a.part(.., ..3)?, &column_major, 0.0, c), argument, message);
    Ok(())
}

#[test]
fn what_is_written_lies_between_what_is_read() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let blas = Blas::new(&stream, Layout::COLUMNS)?;
    let mut numbers = stream.clone_htod(&[1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let a = MatrixMut::new(Layout::COLUMNS, &mut numbers, 2, 3)?;
    // The second row gets three times the first: both lie in the same three columns.
    let (first, mut second) = a.split_at_row(1)?;
    blas.axpy(3.0, &first.row(0)?, &mut second.row_mut(0)?)?;
    blas.scal(10.0, &mut second.part_mut(.., 1..2)?.column_mut(0)?)?;
    assert_eq!(stream.clone_dtoh(&numbers)?, [1.0, 5.0, 3.0, 130.0, 5.0, 21.0]);
    let batch = MatrixBatchMut::new(Layout::COLUMNS, &mut numbers, 1, 2, 3)?;
    assert_eq!(batch.len(), 3);
    let mut overlapping = MatrixBatchMut::strided(Layout::COLUMNS, &mut numbers, (1, 2), 1, 2, 1)?;
    let source = stream.clone_htod(&[1.0f64; 4])?;
    let left = MatrixBatch::new(Layout::COLUMNS, &source, 1, 1, 2)?;
    let right = MatrixBatch::new(Layout::COLUMNS, &source, 1, 2, 2)?;
    expect_error(
        blas.gemm_strided_batched(1.0, &left, &right, 0.0, &mut overlapping),
        Status::ERROR_INVALID_ARGUMENT,
        "overlap",
    );
    Ok(())
}
