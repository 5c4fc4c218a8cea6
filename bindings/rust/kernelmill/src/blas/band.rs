//! Matrices of which only a band or a packed triangle lies in memory.

use std::marker::PhantomData;

use super::place::{MatrixPlace, Shape};
use super::{Diagonal, Layout, Operation, Triangle, Triangular, fits};
use crate::blas::vector::offset_of;
use crate::view::Place;
use crate::{DeviceSlice, DeviceSliceMut, Error, Pod, Result, Slice, Status, sys};

/// A matrix whose elements are 0 but on some diagonals, which lie in memory: line j (a row or a
/// column, as the layout says) has `lower + upper + 1` elements, that of the main diagonal at
/// `upper` by columns, at `lower` by rows.
#[derive(Clone, Copy, Debug)]
pub struct BandMatrix<'a, T: Pod> {
    pub(super) place: MatrixPlace,
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) operation: Operation,
    borrow: PhantomData<&'a Slice<T>>,
}

/// One triangle of a square band matrix: the main diagonal and `diagonals` beside it, in
/// `diagonals + 1` elements a line.
#[derive(Clone, Copy, Debug)]
pub struct BandTriangle<'a, T: Pod> {
    pub(super) place: MatrixPlace,
    pub(super) diagonals: usize,
    pub(super) triangle: Triangle,
    borrow: PhantomData<&'a Slice<T>>,
}

/// One triangle of a square matrix, line after line without what lies on the other side of the
/// diagonal: n (n + 1) / 2 elements, to be read.
///
/// ```
/// use kernelmill::blas::{Blas, Layout, PackedTriangle, Triangle};
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// let stream = context.default_stream()?;
/// let numbers = stream.clone_htod(&[1.0f32, 2.0, 3.0])?; // the matrix 1 2 / 2 3
/// let x = stream.clone_htod(&[1.0f32, 10.0])?;
/// let mut y = stream.alloc_zeros::<f32>(2)?;
/// let a = PackedTriangle::new(Layout::ROWS, Triangle::LOWER, &numbers, 2)?;
/// Blas::new(&stream, Layout::ROWS)?.spmv(1.0, &a, &x, 0.0, &mut y)?;
/// assert_eq!(stream.clone_dtoh(&y)?, [21.0, 32.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PackedTriangle<'a, T: Pod> {
    pub(super) place: MatrixPlace,
    pub(super) triangle: Triangle,
    borrow: PhantomData<&'a Slice<T>>,
}

/// A [`PackedTriangle`] to be written; no other view reaches its elements.
#[derive(Debug)]
pub struct PackedTriangleMut<'a, T: Pod> {
    pub(super) place: MatrixPlace,
    pub(super) triangle: Triangle,
    borrow: PhantomData<&'a mut Slice<T>>,
}

impl<'a, T: Pod> BandMatrix<'a, T> {
    /// A `rows` x `columns` matrix with `lower` diagonals below the main one and `upper` above, and
    /// lines side by side. Fails with `ERROR_OUT_OF_BOUNDS` where the elements are not all there.
    pub fn new(
        layout: Layout,
        slice: &'a impl DeviceSlice<T>,
        (rows, columns): (usize, usize),
        (lower, upper): (usize, usize),
    ) -> Result<Self> {
        let shape = Shape::lines(layout, rows, columns, width(lower, upper)?)?;
        let place = shape.place::<T>(slice.place(), 1, 0)?;
        Ok(Self { place, lower, upper, operation: Operation::NONE, borrow: PhantomData })
    }

    /// A band matrix with lines that begin `leading_dimension` elements after each other; at least
    /// `lower + upper + 1`, else `ERROR_INVALID_ARGUMENT`.
    pub fn strided(
        layout: Layout,
        slice: &'a impl DeviceSlice<T>,
        (rows, columns): (usize, usize),
        (lower, upper): (usize, usize),
        leading_dimension: usize,
    ) -> Result<Self> {
        let shape = Shape::lines(layout, rows, columns, width(lower, upper)?)?;
        let shape = shape.with_leading_dimension(leading_dimension)?;
        let place = shape.place::<T>(slice.place(), 1, 0)?;
        Ok(Self { place, lower, upper, operation: Operation::NONE, borrow: PhantomData })
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

impl<'a, T: Pod> BandTriangle<'a, T> {
    /// One triangle of an `order` x `order` matrix with lines side by side. Fails with
    /// `ERROR_OUT_OF_BOUNDS` where the elements are not all there.
    pub fn new(
        layout: Layout,
        triangle: Triangle,
        slice: &'a impl DeviceSlice<T>,
        order: usize,
        diagonals: usize,
    ) -> Result<Self> {
        let shape = Shape::lines(layout, order, order, width(diagonals, 0)?)?;
        let place = shape.place::<T>(slice.place(), 1, 0)?;
        Ok(Self { place, diagonals, triangle, borrow: PhantomData })
    }

    /// One triangle with lines that begin `leading_dimension` elements after each other; at least
    /// `diagonals + 1`, else `ERROR_INVALID_ARGUMENT`.
    pub fn strided(
        layout: Layout,
        triangle: Triangle,
        slice: &'a impl DeviceSlice<T>,
        (order, diagonals): (usize, usize),
        leading_dimension: usize,
    ) -> Result<Self> {
        let shape = Shape::lines(layout, order, order, width(diagonals, 0)?)?;
        let shape = shape.with_leading_dimension(leading_dimension)?;
        let place = shape.place::<T>(slice.place(), 1, 0)?;
        Ok(Self { place, diagonals, triangle, borrow: PhantomData })
    }

    /// The triangular matrix that it is, rather than half of a symmetric one.
    pub fn triangular(&self, diagonal: Diagonal) -> Triangular<Self> {
        Triangular::new(*self, self.triangle, diagonal)
    }
}

impl<'a, T: Pod> PackedTriangle<'a, T> {
    /// One triangle of an `order` x `order` matrix. Fails with `ERROR_OUT_OF_BOUNDS` where the
    /// elements are not all there.
    pub fn new(
        layout: Layout,
        triangle: Triangle,
        slice: &'a impl DeviceSlice<T>,
        order: usize,
    ) -> Result<Self> {
        let place = packed::<T>(layout, slice.place(), order)?;
        Ok(Self { place, triangle, borrow: PhantomData })
    }

    /// The triangular matrix that it is, rather than half of a symmetric one.
    pub fn triangular(&self, diagonal: Diagonal) -> Triangular<Self> {
        Triangular::new(*self, self.triangle, diagonal)
    }
}

impl<'a, T: Pod> PackedTriangleMut<'a, T> {
    /// A triangle to be written, under the rules of [`PackedTriangle::new`].
    pub fn new(
        layout: Layout,
        triangle: Triangle,
        slice: &'a mut impl DeviceSliceMut<T>,
        order: usize,
    ) -> Result<Self> {
        let place = packed::<T>(layout, slice.place(), order)?;
        Ok(Self { place, triangle, borrow: PhantomData })
    }

    /// This triangle, to be read.
    pub fn as_packed(&self) -> PackedTriangle<'_, T> {
        PackedTriangle { place: self.place, triangle: self.triangle, borrow: PhantomData }
    }
}

/// The elements that a line of a band has.
fn width(lower: usize, upper: usize) -> Result<usize> {
    lower.checked_add(upper).and_then(|beside| beside.checked_add(1)).ok_or_else(|| {
        let message = format!("a band of {lower} diagonals below the main one and {upper} above");
        Error::new(Status::ERROR_INVALID_ARGUMENT, message)
    })
}

fn packed<T: Pod>(layout: Layout, memory: Place, order: usize) -> Result<MatrixPlace> {
    let shape = Shape::dense(layout, order, order)?;
    // One of the two factors is even.
    let (one, other) = if order % 2 == 0 {
        (order / 2, order.checked_add(1))
    } else {
        (order, Some(order / 2 + 1))
    };
    let needed = other.and_then(|other| one.checked_mul(other));
    fits(|| format!("a packed triangle of order {order}"), needed, memory.len)?;
    let raw = sys::km_blas_matrix {
        slice: memory.slice.addr() as u64,
        offset: offset_of::<T>(memory)?,
        ..Default::default()
    };
    Ok(MatrixPlace { raw, layout: shape.layout, rows: order, columns: order })
}
