//! Sparse matrices: products and solvers.

use std::marker::PhantomData;

use super::vector::{VectorPlace, offset_of};
use super::{
    AsVector, AsVectorMut, Blas, Diagonal, MatrixMut, MatrixOperand, Number, Operation, Triangle,
    Triangular, call, fits, require, same, scalar,
};
use crate::view::Place;
use crate::{DeviceSlice, Pod, Result, Slice, sys};

/// How a sparse matrix is stored, [`km_sparse_format`](sys::km_sparse_format):
/// `SparseFormat::CSR`.
pub use sys::km_sparse_format as SparseFormat;

mod sealed {
    pub trait IsIndex {}
    impl IsIndex for i32 {}
    impl IsIndex for i64 {}
}

/// Integers of offsets and indices: `i32` and `i64`.
pub trait SparseIndex: Pod + sealed::IsIndex {}
impl SparseIndex for i32 {}
impl SparseIndex for i64 {}

/// A sparse matrix in three slices, to be read.
///
/// ```
/// use kernelmill::blas::{Blas, Layout, SparseMatrix};
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// let stream = context.default_stream()?;
/// // 1 0 2
/// // 0 3 0
/// let offsets = stream.clone_htod(&[0i32, 2, 3])?;
/// let columns = stream.clone_htod(&[0i32, 2, 1])?;
/// let values = stream.clone_htod(&[1.0f32, 2.0, 3.0])?;
/// let a = SparseMatrix::csr(2, 3, &offsets, &columns, &values)?;
/// let x = stream.clone_htod(&[1.0f32, 10.0, 100.0])?;
/// let mut y = stream.alloc_zeros::<f32>(2)?;
/// Blas::new(&stream, Layout::ROWS)?.sparse_mv(1.0, &a, &x, 0.0, &mut y)?;
/// assert_eq!(stream.clone_dtoh(&y)?, [201.0, 30.0]);
/// # Ok(())
/// # }
/// ```
///
/// Its offsets and indices are read when a call runs: on a CPU, one that points outside of the matrix
/// ends the context with `ERROR_ILLEGAL_ADDRESS`, as a fault of a kernel does. Nonzeros in one place
/// count together, and those of a row (of a column, in CSC) need no order.
///
/// A matrix does not outlive its memory:
///
/// ```compile_fail,E0505
/// # use kernelmill::blas::{Blas, Layout, SparseMatrix};
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// # let stream = context.default_stream()?;
/// # let indices = context.alloc_zeros::<i32>(2)?;
/// # let x = context.alloc_zeros::<f32>(1)?;
/// # let mut y = context.alloc_zeros::<f32>(1)?;
/// let values = context.alloc_zeros::<f32>(1)?;
/// let a = SparseMatrix::csr(1, 1, &indices, &indices, &values)?;
/// drop(values); // error: `a` is used later
/// Blas::new(&stream, Layout::ROWS)?.sparse_mv(1.0, &a, &x, 0.0, &mut y)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SparseMatrix<'a, T: Pod> {
    raw: sys::km_sparse_matrix,
    operation: Operation,
    borrow: PhantomData<&'a Slice<T>>,
}

impl<'a, T: Number> SparseMatrix<'a, T> {
    /// The nonzeros row by row: those of row i are at `offsets[i]` to before `offsets[i + 1]`, with
    /// their columns in `columns_of`. There are as many as values. Fails with `ERROR_OUT_OF_BOUNDS`
    /// where there are too few offsets or columns.
    pub fn csr<I: SparseIndex>(
        rows: usize,
        columns: usize,
        offsets: &'a impl DeviceSlice<I>,
        columns_of: &'a impl DeviceSlice<I>,
        values: &'a impl DeviceSlice<T>,
    ) -> Result<Self> {
        let count = rows.checked_add(1);
        let lists = (offsets.place(), count, columns_of.place());
        Self::make::<I>(SparseFormat::CSR, (rows, columns), lists, values.place())
    }

    /// The nonzeros column by column, with their rows in `rows_of`, under the rules of
    /// [`SparseMatrix::csr`].
    pub fn csc<I: SparseIndex>(
        rows: usize,
        columns: usize,
        offsets: &'a impl DeviceSlice<I>,
        rows_of: &'a impl DeviceSlice<I>,
        values: &'a impl DeviceSlice<T>,
    ) -> Result<Self> {
        let count = columns.checked_add(1);
        let lists = (offsets.place(), count, rows_of.place());
        Self::make::<I>(SparseFormat::CSC, (rows, columns), lists, values.place())
    }

    /// The row and the column of each value, sorted by rows.
    pub fn coo<I: SparseIndex>(
        rows: usize,
        columns: usize,
        rows_of: &'a impl DeviceSlice<I>,
        columns_of: &'a impl DeviceSlice<I>,
        values: &'a impl DeviceSlice<T>,
    ) -> Result<Self> {
        let values = values.place();
        let lists = (rows_of.place(), Some(values.len), columns_of.place());
        Self::make::<I>(SparseFormat::COO, (rows, columns), lists, values)
    }

    fn make<I: SparseIndex>(
        format: SparseFormat,
        (rows, columns): (usize, usize),
        (offsets, offset_count, indices): (Place, Option<usize>, Place),
        values: Place,
    ) -> Result<Self> {
        let nonzeros = values.len;
        fits(|| "the first index array of a sparse matrix".into(), offset_count, offsets.len)?;
        fits(|| "the second index array of a sparse matrix".into(), Some(nonzeros), indices.len)?;
        let raw = sys::km_sparse_matrix {
            format,
            index_size_bytes: size_of::<I>() as u32,
            index_base: 0,
            reserved: 0,
            rows: rows as u64,
            columns: columns as u64,
            nonzeros: nonzeros as u64,
            offsets: array::<I>(offsets)?,
            indices: array::<I>(indices)?,
            values: array::<T>(values)?,
        };
        Ok(Self { raw, operation: Operation::NONE, borrow: PhantomData })
    }

    /// Counts rows and columns from 1 in the offsets and indices, as Fortran does.
    #[must_use]
    pub fn one_based(mut self) -> Self {
        self.raw.index_base = 1;
        self
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

    /// The number of rows, of the transpose if it is one.
    pub fn rows(&self) -> usize {
        self.sizes().0
    }

    /// The number of columns, of the transpose if it is one.
    pub fn columns(&self) -> usize {
        self.sizes().1
    }

    /// The number of values.
    pub fn nonzeros(&self) -> usize {
        self.raw.nonzeros as usize
    }

    fn sizes(&self) -> (usize, usize) {
        let (rows, columns) = (self.raw.rows as usize, self.raw.columns as usize);
        if self.operation == Operation::NONE { (rows, columns) } else { (columns, rows) }
    }

    /// The triangular matrix of this triangle of what is in memory; the other one is not used. Fails
    /// with `ERROR_INVALID_ARGUMENT` where the matrix is not square.
    pub fn triangular(&self, triangle: Triangle, diagonal: Diagonal) -> Result<Triangular<Self>> {
        let (rows, columns) = self.sizes();
        require(rows == columns, || {
            format!("a triangular matrix must be square; this one is {rows} x {columns}")
        })?;
        Ok(Triangular { storage: *self, triangle, diagonal, operation: self.operation })
    }
}

fn array<T: Pod>(place: Place) -> Result<sys::km_array> {
    let (slice, offset) = (place.slice.addr() as u64, offset_of::<T>(place)?);
    Ok(sys::km_array { slice, address: 0, offset, stride: 0 })
}

/// The place of a vector, whose elements go forward.
fn forward<T: Pod>(call: &str, name: &str, vector: &impl AsVector<T>) -> Result<VectorPlace> {
    let place = vector.vector()?;
    require(place.raw.increment > 0, || {
        let increment = place.raw.increment;
        format!("{call}: the increment of {name} is {increment}; sparse calls take positive ones")
    })?;
    Ok(place)
}

impl Blas {
    /// y = alpha op(A) x + beta y. Vectors have positive increments.
    /// C: [`km_sparse_mv`](sys::km_sparse_mv).
    pub fn sparse_mv<T: Number>(
        &self,
        alpha: T,
        a: &SparseMatrix<'_, T>,
        x: &impl AsVector<T>,
        beta: T,
        y: &mut impl AsVectorMut<T>,
    ) -> Result<()> {
        let name = "sparse_mv";
        let (x, y) = (forward(name, "x", x)?, forward(name, "y", y)?);
        same(name, ("the length of x", x.len), ("the number of columns of op(A)", a.columns()))?;
        same(name, ("the length of y", y.len), ("the number of rows of op(A)", a.rows()))?;
        let (alpha, beta) = (scalar(&alpha), scalar(&beta));
        call!(self, T, km_sparse_mv(a.operation, alpha, &a.raw, &x.raw, beta, &y.raw))
    }

    /// C = alpha op(A) op(B) + beta C. C: [`km_sparse_mm`](sys::km_sparse_mm).
    pub fn sparse_mm<T: Number>(
        &self,
        alpha: T,
        a: &SparseMatrix<'_, T>,
        b: &impl MatrixOperand<T>,
        beta: T,
        c: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        let name = "sparse_mm";
        let ((b, operation), c) = (b.operand(), c.as_matrix().place());
        self.take(name, "B", b.layout)?;
        self.take(name, "C", c.layout)?;
        let is_plain = operation == Operation::NONE;
        let (rows, columns) = if is_plain { (b.rows, b.columns) } else { (b.columns, b.rows) };
        same(name, ("the number of rows of op(B)", rows), ("that of columns of A", a.columns()))?;
        same(name, ("the number of rows of C", c.rows), ("that of rows of op(A)", a.rows()))?;
        same(name, ("the number of columns of C", c.columns), ("that of op(B)", columns))?;
        let (alpha, beta, columns) = (scalar(&alpha), scalar(&beta), columns as u64);
        let (op_a, a, b, c) = (a.operation, &a.raw, &b.raw, &c.raw);
        call!(self, T, km_sparse_mm(op_a, operation, columns, alpha, a, b, beta, c))
    }

    /// Solves op(A) y = alpha x for a triangular A. C: [`km_sparse_sv`](sys::km_sparse_sv).
    pub fn sparse_sv<T: Number>(
        &self,
        alpha: T,
        a: &Triangular<SparseMatrix<'_, T>>,
        x: &impl AsVector<T>,
        y: &mut impl AsVectorMut<T>,
    ) -> Result<()> {
        let name = "sparse_sv";
        let (x, y) = (forward(name, "x", x)?, forward(name, "y", y)?);
        same(name, ("the length of x", x.len), ("that of y", y.len))?;
        self.solve_vector(name, alpha, a, x, y)
    }

    /// Solves op(A) y = alpha x for a triangular A and puts y into x.
    /// C: [`km_sparse_sv`](sys::km_sparse_sv).
    pub fn sparse_sv_in_place<T: Number>(
        &self,
        alpha: T,
        a: &Triangular<SparseMatrix<'_, T>>,
        x: &mut impl AsVectorMut<T>,
    ) -> Result<()> {
        let x = forward("sparse_sv_in_place", "x", x)?;
        self.solve_vector("sparse_sv_in_place", alpha, a, x, x)
    }

    fn solve_vector<T: Number>(
        &self,
        name: &str,
        alpha: T,
        a: &Triangular<SparseMatrix<'_, T>>,
        x: VectorPlace,
        y: VectorPlace,
    ) -> Result<()> {
        same(name, ("the length of x", x.len), ("the order of A", a.storage.rows()))?;
        let (alpha, triangle, diagonal) = (scalar(&alpha), a.triangle, a.diagonal);
        let (operation, a, x, y) = (a.operation, &a.storage.raw, &x.raw, &y.raw);
        call!(self, T, km_sparse_sv(operation, triangle, diagonal, alpha, a, x, y))
    }

    /// Solves op(A) C = alpha B for a triangular A. C: [`km_sparse_sm`](sys::km_sparse_sm).
    pub fn sparse_sm<T: Number>(
        &self,
        alpha: T,
        a: &Triangular<SparseMatrix<'_, T>>,
        b: &impl super::AsMatrix<T>,
        c: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        let (b, c) = (b.matrix(), c.as_matrix().place());
        self.solve_matrix("sparse_sm", alpha, a, b, c)
    }

    /// Solves op(A) C = alpha B for a triangular A and puts C into B.
    /// C: [`km_sparse_sm`](sys::km_sparse_sm).
    pub fn sparse_sm_in_place<T: Number>(
        &self,
        alpha: T,
        a: &Triangular<SparseMatrix<'_, T>>,
        b: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        let b = b.as_matrix().place();
        self.solve_matrix("sparse_sm_in_place", alpha, a, b, b)
    }

    fn solve_matrix<T: Number>(
        &self,
        name: &str,
        alpha: T,
        a: &Triangular<SparseMatrix<'_, T>>,
        b: super::place::MatrixPlace,
        c: super::place::MatrixPlace,
    ) -> Result<()> {
        self.take(name, "B", b.layout)?;
        self.take(name, "C", c.layout)?;
        same(name, ("the number of rows of B", b.rows), ("the order of A", a.storage.rows()))?;
        same(name, ("the number of rows of C", c.rows), ("that of B", b.rows))?;
        same(name, ("the number of columns of C", c.columns), ("that of B", b.columns))?;
        let (alpha, columns) = (scalar(&alpha), b.columns as u64);
        let (triangle, diagonal, operation) = (a.triangle, a.diagonal, a.operation);
        let (a, b, c) = (&a.storage.raw, &b.raw, &c.raw);
        call!(self, T, km_sparse_sm(operation, triangle, diagonal, columns, alpha, a, b, c))
    }
}
