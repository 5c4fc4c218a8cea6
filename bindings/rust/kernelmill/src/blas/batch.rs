//! Batches: matrices of one shape at equal distances.

use std::marker::PhantomData;

use super::place::{MatrixPlace, Shape};
use super::{Layout, Matrix, MatrixMut, Operation, require};
use crate::{DeviceSlice, DeviceSliceMut, Pod, Result, Slice};

/// Matrices of one shape at equal distances, to be read by
/// [`Blas::gemm_strided_batched`](super::Blas::gemm_strided_batched).
///
/// ```
/// use kernelmill::blas::{Blas, Layout, Matrix, MatrixBatch, MatrixBatchMut};
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// let stream = context.default_stream()?;
/// let rows = stream.clone_htod(&[1.0f32, 2.0, 3.0, 4.0])?;
/// let column = stream.clone_htod(&[10.0f32, 1.0])?;
/// let mut products = stream.alloc_zeros::<f32>(2)?;
/// let a = MatrixBatch::new(Layout::ROWS, &rows, 1, 2, 2)?; // two of 1 x 2
/// let b = MatrixBatch::repeated(&Matrix::new(Layout::ROWS, &column, 2, 1)?, 2);
/// let mut c = MatrixBatchMut::new(Layout::ROWS, &mut products, 1, 1, 2)?;
/// Blas::new(&stream, Layout::ROWS)?.gemm_strided_batched(1.0, &a, &b, 0.0, &mut c)?;
/// assert_eq!(stream.clone_dtoh(&products)?, [12.0, 34.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MatrixBatch<'a, T: Pod> {
    pub(super) place: MatrixPlace,
    pub(super) count: usize,
    pub(super) operation: Operation,
    borrow: PhantomData<&'a Slice<T>>,
}

/// A [`MatrixBatch`] to be written; no other view reaches its elements.
#[derive(Debug)]
pub struct MatrixBatchMut<'a, T: Pod> {
    pub(super) place: MatrixPlace,
    pub(super) count: usize,
    borrow: PhantomData<&'a mut Slice<T>>,
}

impl<'a, T: Pod> MatrixBatch<'a, T> {
    /// `count` matrices of `rows` x `columns`, one after the other without gaps. Fails with
    /// `ERROR_OUT_OF_BOUNDS` where the elements are not all there.
    pub fn new(
        layout: Layout,
        slice: &'a impl DeviceSlice<T>,
        rows: usize,
        columns: usize,
        count: usize,
    ) -> Result<Self> {
        let shape = Shape::dense(layout, rows, columns)?;
        let stride = shape.extent().unwrap_or(usize::MAX);
        Ok(Self::of(shape.place::<T>(slice.place(), count, stride)?, count))
    }

    /// `count` matrices of `rows` x `columns`, the first of which begins with the first element,
    /// each `stride` elements after the one before; with lines that begin `leading_dimension`
    /// elements after each other. Fails with `ERROR_INVALID_ARGUMENT` where that is less than a
    /// line, and with `ERROR_OUT_OF_BOUNDS` where the elements are not all there.
    pub fn strided(
        layout: Layout,
        slice: &'a impl DeviceSlice<T>,
        (rows, columns): (usize, usize),
        leading_dimension: usize,
        count: usize,
        stride: usize,
    ) -> Result<Self> {
        let shape =
            Shape::dense(layout, rows, columns)?.with_leading_dimension(leading_dimension)?;
        Ok(Self::of(shape.place::<T>(slice.place(), count, stride)?, count))
    }

    /// One matrix, `count` times.
    pub fn repeated(matrix: &Matrix<'a, T>, count: usize) -> Self {
        Self::of(matrix.place(), count)
    }

    fn of(place: MatrixPlace, count: usize) -> Self {
        Self { place, count, operation: Operation::NONE, borrow: PhantomData }
    }

    /// The number of matrices.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True when the batch has no matrices.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The transposes of what is in memory.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self { operation: Operation::TRANSPOSE, ..self }
    }

    /// The complex conjugates of the transposes of what is in memory.
    #[must_use]
    pub fn conjugate_transposed(self) -> Self {
        Self { operation: Operation::CONJUGATE_TRANSPOSE, ..self }
    }
}

impl<'a, T: Pod> MatrixBatchMut<'a, T> {
    /// A batch to be written, under the rules of [`MatrixBatch::new`].
    pub fn new(
        layout: Layout,
        slice: &'a mut impl DeviceSliceMut<T>,
        rows: usize,
        columns: usize,
        count: usize,
    ) -> Result<Self> {
        let shape = Shape::dense(layout, rows, columns)?;
        let stride = shape.extent().unwrap_or(usize::MAX);
        let place = shape.place::<T>(slice.place(), count, stride)?;
        Ok(Self { place, count, borrow: PhantomData })
    }

    /// A batch to be written, under the rules of [`MatrixBatch::strided`]. Matrices that share
    /// elements are an error of the call.
    pub fn strided(
        layout: Layout,
        slice: &'a mut impl DeviceSliceMut<T>,
        (rows, columns): (usize, usize),
        leading_dimension: usize,
        count: usize,
        stride: usize,
    ) -> Result<Self> {
        let shape =
            Shape::dense(layout, rows, columns)?.with_leading_dimension(leading_dimension)?;
        require(stride != 0 || count < 2 || shape.extent() == Some(0), || {
            format!("{count} matrices that are written lie in one place: the stride is 0")
        })?;
        let place = shape.place::<T>(slice.place(), count, stride)?;
        Ok(Self { place, count, borrow: PhantomData })
    }

    /// A batch of this one matrix.
    pub fn of_one(matrix: MatrixMut<'a, T>) -> Self {
        use super::matrix::sealed::HasMatrix;
        Self { place: matrix.matrix(), count: 1, borrow: PhantomData }
    }

    /// The number of matrices.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True when the batch has no matrices.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}
