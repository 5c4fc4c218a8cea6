//! Matrices: lines at equal distances, by rows or by columns.

use std::marker::PhantomData;
use std::ops::RangeBounds;

use super::place::{MatrixPlace, Shape};
use super::{Diagonal, Layout, Operation, Triangle, Vector, VectorMut};
use crate::{DeviceSlice, DeviceSliceMut, Pod, Result, Slice};

pub(super) mod sealed {
    use super::{MatrixPlace, Operation};

    pub trait HasMatrix<T> {
        #[doc(hidden)]
        fn matrix(&self) -> MatrixPlace;
    }
    pub trait HasOperand<T> {
        #[doc(hidden)]
        fn operand(&self) -> (MatrixPlace, Operation);
    }
}
use sealed::{HasMatrix, HasOperand};

/// Views that are read as a matrix: [`Matrix`], [`MatrixMut`].
pub trait AsMatrix<T: Pod>: HasMatrix<T> {}

/// Factors of a product: [`Matrix`], [`MatrixMut`], [`Transposed`].
pub trait MatrixOperand<T: Pod>: HasOperand<T> {}

/// A matrix in a slice, to be read.
///
/// ```
/// use kernelmill::blas::{Blas, Layout, Matrix};
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// let stream = context.default_stream()?;
/// let numbers = stream.clone_htod(&[1.0f32, 2.0, 0.0, 3.0, 4.0, 0.0])?;
/// let x = stream.clone_htod(&[10.0f32, 1.0])?;
/// let mut y = stream.alloc_zeros::<f32>(2)?;
/// // Two rows of two elements, three apart.
/// let a = Matrix::strided(Layout::ROWS, &numbers, 2, 2, 3)?;
/// let blas = Blas::new(&stream, Layout::ROWS)?;
/// blas.gemv(1.0, &a, &x, 0.0, &mut y)?;
/// assert_eq!(stream.clone_dtoh(&y)?, [12.0, 34.0]);
/// blas.gemv(1.0, &a.transposed(), &x, 0.0, &mut y)?;
/// assert_eq!(stream.clone_dtoh(&y)?, [13.0, 24.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T: Pod> {
    place: MatrixPlace,
    borrow: PhantomData<&'a Slice<T>>,
}

/// A matrix in a slice, to be written; no other view reaches its elements.
///
/// Parts that may be written do not overlap:
///
/// ```compile_fail,E0499
/// # use kernelmill::blas::{Blas, Layout, MatrixMut};
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// # let stream = context.default_stream()?;
/// # let blas = Blas::new(&stream, Layout::ROWS)?;
/// let mut numbers = context.alloc_zeros::<f32>(4)?;
/// let mut a = MatrixMut::new(Layout::ROWS, &mut numbers, 2, 2)?;
/// let mut row = a.row_mut(0)?;
/// let mut column = a.column_mut(0)?; // error: borrowed twice
/// blas.swap(&mut row, &mut column)?;
/// # Ok(())
/// # }
/// ```
///
/// A matrix can be split instead:
///
/// ```
/// # use kernelmill::blas::{Blas, Layout, MatrixMut};
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// # let stream = context.default_stream()?;
/// # let blas = Blas::new(&stream, Layout::ROWS)?;
/// let mut numbers = stream.clone_htod(&[1.0f32, 2.0, 3.0, 4.0])?;
/// let a = MatrixMut::new(Layout::ROWS, &mut numbers, 2, 2)?;
/// let (mut left, mut right) = a.split_at_column(1)?;
/// blas.swap(&mut left.column_mut(0)?, &mut right.column_mut(0)?)?;
/// assert_eq!(stream.clone_dtoh(&numbers)?, [2.0, 1.0, 4.0, 3.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct MatrixMut<'a, T: Pod> {
    place: MatrixPlace,
    borrow: PhantomData<&'a mut Slice<T>>,
}

/// A matrix of which a product takes the transpose, or its complex conjugate.
#[derive(Clone, Copy, Debug)]
pub struct Transposed<'a, T: Pod> {
    matrix: Matrix<'a, T>,
    operation: Operation,
}

/// A square matrix that is symmetric, or Hermitian where the routine says so, and of which only one
/// triangle is read: [`Matrix::symmetric`].
#[derive(Clone, Copy, Debug)]
pub struct Symmetric<'a, T: Pod> {
    pub(super) matrix: Matrix<'a, T>,
    pub(super) triangle: Triangle,
}

/// A triangular matrix: all of a square one ([`Matrix::triangular`]), a band
/// ([`BandTriangle::triangular`](super::BandTriangle::triangular)) or packed
/// ([`PackedTriangle::triangular`](super::PackedTriangle::triangular)).
#[derive(Clone, Copy, Debug)]
pub struct Triangular<S> {
    pub(super) storage: S,
    pub(super) triangle: Triangle,
    pub(super) diagonal: Diagonal,
    pub(super) operation: Operation,
}

impl<S> Triangular<S> {
    pub(super) fn new(storage: S, triangle: Triangle, diagonal: Diagonal) -> Self {
        Self { storage, triangle, diagonal, operation: Operation::NONE }
    }

    /// The transpose of what is in memory.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self { operation: Operation::TRANSPOSE, ..self }
    }

    /// The complex conjugate of the transpose of what is in memory; for real numbers the transpose.
    #[must_use]
    pub fn conjugate_transposed(self) -> Self {
        Self { operation: Operation::CONJUGATE_TRANSPOSE, ..self }
    }
}

impl<'a, T: Pod> Matrix<'a, T> {
    /// Lines side by side from the first element on. Fails with `ERROR_OUT_OF_BOUNDS` where there
    /// are fewer than `rows` times `columns` elements.
    pub fn new(
        layout: Layout,
        slice: &'a impl DeviceSlice<T>,
        rows: usize,
        columns: usize,
    ) -> Result<Self> {
        let shape = Shape::dense(layout, rows, columns)?;
        Ok(Self::of(shape.place::<T>(slice.place(), 1, 0)?))
    }

    /// Lines (rows or columns, as the layout says) that begin `leading_dimension` elements after
    /// each other. Fails with `ERROR_INVALID_ARGUMENT` where that is less than a line, and with
    /// `ERROR_OUT_OF_BOUNDS` where the elements are not all there.
    pub fn strided(
        layout: Layout,
        slice: &'a impl DeviceSlice<T>,
        rows: usize,
        columns: usize,
        leading_dimension: usize,
    ) -> Result<Self> {
        let shape =
            Shape::dense(layout, rows, columns)?.with_leading_dimension(leading_dimension)?;
        Ok(Self::of(shape.place::<T>(slice.place(), 1, 0)?))
    }

    pub(super) fn of(place: MatrixPlace) -> Self {
        Self { place, borrow: PhantomData }
    }

    pub(super) fn place(&self) -> MatrixPlace {
        self.place
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.place.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.place.columns
    }

    /// The elements from the begin of a line to that of the next.
    pub fn leading_dimension(&self) -> usize {
        self.place.raw.leading_dimension as usize
    }

    /// The layout: lines are rows or columns.
    pub fn layout(&self) -> Layout {
        self.place.layout
    }

    /// One row, from 0; `ERROR_OUT_OF_BOUNDS` where there is none.
    pub fn row(&self, row: usize) -> Result<Vector<'a, T>> {
        Ok(Vector::of(self.place.row(row)?))
    }

    /// One column, from 0; `ERROR_OUT_OF_BOUNDS` where there is none.
    pub fn column(&self, column: usize) -> Result<Vector<'a, T>> {
        Ok(Vector::of(self.place.column(column)?))
    }

    /// The part of these rows and columns; `ERROR_OUT_OF_BOUNDS` where there are fewer.
    pub fn part(
        &self,
        rows: impl RangeBounds<usize>,
        columns: impl RangeBounds<usize>,
    ) -> Result<Self> {
        Ok(Self::of(self.place.part(rows, columns)?))
    }

    /// The matrix after an operation, for products.
    pub(crate) fn with_operation(&self, operation: Operation) -> Transposed<'a, T> {
        Transposed { matrix: *self, operation }
    }

    /// The transpose, for products.
    pub fn transposed(&self) -> Transposed<'a, T> {
        Transposed { matrix: *self, operation: Operation::TRANSPOSE }
    }

    /// The complex conjugate of the transpose, for products; for real numbers the transpose.
    pub fn conjugate_transposed(&self) -> Transposed<'a, T> {
        Transposed { matrix: *self, operation: Operation::CONJUGATE_TRANSPOSE }
    }

    /// The symmetric or Hermitian matrix of which this triangle is read. Fails with
    /// `ERROR_INVALID_ARGUMENT` where the matrix is not square.
    pub fn symmetric(&self, triangle: Triangle) -> Result<Symmetric<'a, T>> {
        self.place.require_square("a symmetric matrix")?;
        Ok(Symmetric { matrix: *self, triangle })
    }

    /// The triangular matrix of this triangle; the other one is not read. Fails with
    /// `ERROR_INVALID_ARGUMENT` where the matrix is not square.
    pub fn triangular(&self, triangle: Triangle, diagonal: Diagonal) -> Result<Triangular<Self>> {
        self.place.require_square("a triangular matrix")?;
        Ok(Triangular::new(*self, triangle, diagonal))
    }
}

impl<'a, T: Pod> MatrixMut<'a, T> {
    /// A matrix to be written, under the rules of [`Matrix::new`].
    pub fn new(
        layout: Layout,
        slice: &'a mut impl DeviceSliceMut<T>,
        rows: usize,
        columns: usize,
    ) -> Result<Self> {
        let shape = Shape::dense(layout, rows, columns)?;
        Ok(Self::of(shape.place::<T>(slice.place(), 1, 0)?))
    }

    /// A matrix to be written, under the rules of [`Matrix::strided`].
    pub fn strided(
        layout: Layout,
        slice: &'a mut impl DeviceSliceMut<T>,
        rows: usize,
        columns: usize,
        leading_dimension: usize,
    ) -> Result<Self> {
        let shape =
            Shape::dense(layout, rows, columns)?.with_leading_dimension(leading_dimension)?;
        Ok(Self::of(shape.place::<T>(slice.place(), 1, 0)?))
    }

    fn of(place: MatrixPlace) -> Self {
        Self { place, borrow: PhantomData }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.place.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.place.columns
    }

    /// This matrix, to be read.
    pub fn as_matrix(&self) -> Matrix<'_, T> {
        Matrix::of(self.place)
    }

    /// One row, from 0, to be read; `ERROR_OUT_OF_BOUNDS` where there is none.
    pub fn row(&self, row: usize) -> Result<Vector<'_, T>> {
        self.as_matrix().row(row)
    }

    /// One column, from 0, to be read; `ERROR_OUT_OF_BOUNDS` where there is none.
    pub fn column(&self, column: usize) -> Result<Vector<'_, T>> {
        self.as_matrix().column(column)
    }

    /// One row, from 0, to be written; `ERROR_OUT_OF_BOUNDS` where there is none.
    pub fn row_mut(&mut self, row: usize) -> Result<VectorMut<'_, T>> {
        Ok(VectorMut::of(self.place.row(row)?))
    }

    /// One column, from 0, to be written; `ERROR_OUT_OF_BOUNDS` where there is none.
    pub fn column_mut(&mut self, column: usize) -> Result<VectorMut<'_, T>> {
        Ok(VectorMut::of(self.place.column(column)?))
    }

    /// The part of these rows and columns, to be written; `ERROR_OUT_OF_BOUNDS` where there are
    /// fewer.
    pub fn part_mut(
        &mut self,
        rows: impl RangeBounds<usize>,
        columns: impl RangeBounds<usize>,
    ) -> Result<MatrixMut<'_, T>> {
        Ok(MatrixMut::of(self.place.part(rows, columns)?))
    }

    /// Two matrices, the second from this row on; `ERROR_OUT_OF_BOUNDS` where it is beyond the end.
    pub fn split_at_row(self, row: usize) -> Result<(Self, Self)> {
        let (upper, lower) = (self.place.part(..row, ..)?, self.place.part(row.., ..)?);
        Ok((Self::of(upper), Self::of(lower)))
    }

    /// Two matrices, the second from this column on; `ERROR_OUT_OF_BOUNDS` where it is beyond the
    /// end.
    pub fn split_at_column(self, column: usize) -> Result<(Self, Self)> {
        let (left, right) = (self.place.part(.., ..column)?, self.place.part(.., column..)?);
        Ok((Self::of(left), Self::of(right)))
    }
}

impl<T: Pod> HasMatrix<T> for Matrix<'_, T> {
    fn matrix(&self) -> MatrixPlace {
        self.place
    }
}
impl<T: Pod> HasMatrix<T> for MatrixMut<'_, T> {
    fn matrix(&self) -> MatrixPlace {
        self.place
    }
}
impl<T: Pod> AsMatrix<T> for Matrix<'_, T> {}
impl<T: Pod> AsMatrix<T> for MatrixMut<'_, T> {}

impl<T: Pod> HasOperand<T> for Matrix<'_, T> {
    fn operand(&self) -> (MatrixPlace, Operation) {
        (self.place, Operation::NONE)
    }
}
impl<T: Pod> HasOperand<T> for MatrixMut<'_, T> {
    fn operand(&self) -> (MatrixPlace, Operation) {
        (self.place, Operation::NONE)
    }
}
impl<T: Pod> HasOperand<T> for Transposed<'_, T> {
    fn operand(&self) -> (MatrixPlace, Operation) {
        (self.matrix.place, self.operation)
    }
}
impl<T: Pod> MatrixOperand<T> for Matrix<'_, T> {}
impl<T: Pod> MatrixOperand<T> for MatrixMut<'_, T> {}
impl<T: Pod> MatrixOperand<T> for Transposed<'_, T> {}
