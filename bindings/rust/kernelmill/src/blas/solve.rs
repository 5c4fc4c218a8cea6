//! Factors, solvers, eigenvalues and singular values of dense matrices.

use super::matrix::sealed::{HasMatrix, HasOperand};
use super::place::MatrixPlace;
use super::vector::offset_of;
use super::{
    Blas, Matrix, MatrixBatch, MatrixBatchMut, MatrixMut, Number, Operation, Side, Transposed,
    Triangle, call, fits, require, same,
};
use crate::view::Place;
use crate::view::sealed::HasPlace;
use crate::{DeviceSlice, DeviceSliceMut, Pod, Result, Slice, Stream, sys};

mod sealed {
    use super::{MatrixPlace, Operation};

    pub trait HasBatch<T> {
        #[doc(hidden)]
        fn batch(&self) -> (MatrixPlace, usize, Operation);
    }
}
use sealed::HasBatch;

/// One matrix or a batch of them, to be read by a solver: [`Matrix`], [`MatrixMut`],
/// [`MatrixBatch`], [`MatrixBatchMut`] and [`Transposed`].
pub trait AsBatch<T: Pod>: HasBatch<T> {}

/// One matrix or a batch of them, to be written by a solver: [`MatrixMut`] and [`MatrixBatchMut`].
pub trait AsBatchMut<T: Pod>: HasBatch<T> {}

impl<T: Pod> HasBatch<T> for Matrix<'_, T> {
    fn batch(&self) -> (MatrixPlace, usize, Operation) {
        (self.matrix(), 1, Operation::NONE)
    }
}
impl<T: Pod> HasBatch<T> for MatrixMut<'_, T> {
    fn batch(&self) -> (MatrixPlace, usize, Operation) {
        (self.matrix(), 1, Operation::NONE)
    }
}
impl<T: Pod> HasBatch<T> for Transposed<'_, T> {
    fn batch(&self) -> (MatrixPlace, usize, Operation) {
        let (place, operation) = self.operand();
        (place, 1, operation)
    }
}
impl<T: Pod> HasBatch<T> for MatrixBatch<'_, T> {
    fn batch(&self) -> (MatrixPlace, usize, Operation) {
        (self.place, self.count, self.operation)
    }
}
impl<T: Pod> HasBatch<T> for MatrixBatchMut<'_, T> {
    fn batch(&self) -> (MatrixPlace, usize, Operation) {
        (self.place, self.count, Operation::NONE)
    }
}
impl<T: Pod> AsBatch<T> for Matrix<'_, T> {}
impl<T: Pod> AsBatch<T> for MatrixMut<'_, T> {}
impl<T: Pod> AsBatch<T> for Transposed<'_, T> {}
impl<T: Pod> AsBatch<T> for MatrixBatch<'_, T> {}
impl<T: Pod> AsBatch<T> for MatrixBatchMut<'_, T> {}
impl<T: Pod> AsBatchMut<T> for MatrixMut<'_, T> {}
impl<T: Pod> AsBatchMut<T> for MatrixBatchMut<'_, T> {}

/// The exchanges of rows that [`Blas::getrf`] makes and [`Blas::getrs`] follows. Nothing else writes
/// them, since libraries of GPUs follow them without a look at where they lead.
#[derive(Debug)]
pub struct Pivots {
    rows: Slice<i32>,
    each: usize,
    count: usize,
}

impl Pivots {
    /// The exchanges of `count` matrices that have `each` rows or columns, whichever are fewer. They
    /// exchange nothing yet. Blocks while they are made.
    pub fn new(stream: &Stream, each: usize, count: usize) -> Result<Self> {
        let none: Vec<i32> = (0..count).flat_map(|_| (1..).take(each)).collect();
        let rows = stream.clone_htod(&none)?;
        Ok(Self { rows, each, count })
    }

    /// The numbers, from 1 on, of the rows that were exchanged with rows 1, 2 and so on; matrix after
    /// matrix.
    pub fn rows(&self) -> &Slice<i32> {
        &self.rows
    }

    /// The array for matrices of a call.
    fn array(&self, call: &str, each: usize, count: usize) -> Result<sys::km_array> {
        same(call, ("the number of pivots", self.each), ("the smaller size of A", each))?;
        same(call, ("the count of the pivots", self.count), ("that of A", count))?;
        array::<i32>(call, "pivots", self.rows.place(), each, count)
    }
}

/// An array of `each` numbers for each matrix.
fn array<T: Pod>(
    call: &str,
    name: &str,
    place: Place,
    each: usize,
    count: usize,
) -> Result<sys::km_array> {
    fits(|| format!("{call}: {name}"), each.checked_mul(count), place.len)?;
    let slice = place.slice.addr() as u64;
    Ok(sys::km_array { slice, address: 0, offset: offset_of::<T>(place)?, stride: each as u64 })
}

/// The matrices of an argument that a call does not transpose.
struct Given {
    place: MatrixPlace,
    count: usize,
}

impl Given {
    fn of(
        blas: &Blas,
        call: &str,
        name: &str,
        (place, count, operation): (MatrixPlace, usize, Operation),
    ) -> Result<Self> {
        blas.take(call, name, place.layout)?;
        require(operation == Operation::NONE, || {
            format!("{call}: {name} is transposed, which this routine does not do")
        })?;
        Ok(Self { place, count })
    }

    fn sizes(&self) -> (usize, usize, usize) {
        (self.place.rows, self.place.columns, self.count)
    }
}

/// Checks that both arguments are batches of as many matrices.
fn same_count(call: &str, one: (&str, usize), other: (&str, usize)) -> Result<()> {
    let (first, second) = (format!("the count of {}", one.0), format!("that of {}", other.0));
    same(call, (&first, one.1), (&second, other.1))
}

/// All methods that take an `info` put one number for each matrix there: 0, or what LAPACK reports of
/// it, such as the leading minor that is not positive definite; results of such a matrix are
/// unspecified. Matrices are one ([`MatrixMut`]) or batches ([`MatrixBatchMut`]).
///
/// ```
/// use kernelmill::blas::{Blas, Layout, MatrixMut, Triangle};
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// let stream = context.default_stream()?;
/// let blas = Blas::new(&stream, Layout::ROWS)?;
/// let mut a = stream.clone_htod(&[4.0f64, 2.0, 2.0, 5.0])?;
/// let mut b = stream.clone_htod(&[8.0f64, 12.0])?;
/// let mut info = stream.alloc_zeros::<i32>(1)?;
/// let mut a = MatrixMut::new(Layout::ROWS, &mut a, 2, 2)?;
/// blas.potrf(Triangle::LOWER, &mut a, &mut info)?;
/// let mut x = MatrixMut::new(Layout::ROWS, &mut b, 2, 1)?;
/// blas.potrs(Triangle::LOWER, &a, &mut x, &mut info)?;
/// assert_eq!(stream.clone_dtoh(&info)?, [0]);
/// assert_eq!(stream.clone_dtoh(&b)?, [1.0, 2.0]);
/// # Ok(())
/// # }
/// ```
impl Blas {
    /// A = L L^H or U^H U, the Cholesky factor in the triangle of A that is read.
    /// C: [`km_solve_potrf`](crate::sys::km_solve_potrf).
    pub fn potrf<T: Number>(
        &self,
        triangle: Triangle,
        a: &mut impl AsBatchMut<T>,
        info: &mut impl DeviceSliceMut<i32>,
    ) -> Result<()> {
        let a = Given::of(self, "potrf", "A", a.batch())?;
        a.place.require_square("the matrix of potrf")?;
        let info = array::<i32>("potrf", "info", info.place(), 1, a.count)?;
        let (n, count) = (a.place.rows as u64, a.count as u64);
        call!(self, T, km_solve_potrf(triangle, n, count, &a.place.raw, &info))
    }

    /// Solves A X = B by the factor of [`potrf`](Self::potrf); X overwrites B.
    /// C: [`km_solve_potrs`](crate::sys::km_solve_potrs).
    pub fn potrs<T: Number>(
        &self,
        triangle: Triangle,
        a: &impl AsBatch<T>,
        b: &mut impl AsBatchMut<T>,
        info: &mut impl DeviceSliceMut<i32>,
    ) -> Result<()> {
        let a = Given::of(self, "potrs", "A", a.batch())?;
        let b = Given::of(self, "potrs", "B", b.batch())?;
        self.right_sides("potrs", &a, &b)?;
        let info = array::<i32>("potrs", "info", info.place(), 1, a.count)?;
        let (rows, columns, count) = b.sizes();
        let (n, columns, count) = (rows as u64, columns as u64, count as u64);
        let (a, b) = (&a.place.raw, &b.place.raw);
        call!(self, T, km_solve_potrs(triangle, n, columns, count, a, b, &info))
    }

    /// P A = L U of a matrix of any shape, which the factors overwrite.
    /// C: [`km_solve_getrf`](crate::sys::km_solve_getrf).
    pub fn getrf<T: Number>(
        &self,
        a: &mut impl AsBatchMut<T>,
        pivots: &mut Pivots,
        info: &mut impl DeviceSliceMut<i32>,
    ) -> Result<()> {
        let a = Given::of(self, "getrf", "A", a.batch())?;
        let (m, n, count) = a.sizes();
        let pivots = pivots.array("getrf", m.min(n), count)?;
        let info = array::<i32>("getrf", "info", info.place(), 1, count)?;
        let (m, n, count) = (m as u64, n as u64, count as u64);
        call!(self, T, km_solve_getrf(m, n, count, &a.place.raw, &pivots, &info))
    }

    /// Solves op(A) X = B by the factors of [`getrf`](Self::getrf), which may be given as transposed;
    /// X overwrites B. C: [`km_solve_getrs`](crate::sys::km_solve_getrs).
    pub fn getrs<T: Number>(
        &self,
        a: &impl AsBatch<T>,
        pivots: &Pivots,
        b: &mut impl AsBatchMut<T>,
        info: &mut impl DeviceSliceMut<i32>,
    ) -> Result<()> {
        let (place, count, operation) = a.batch();
        let a = Given::of(self, "getrs", "A", (place, count, Operation::NONE))?;
        let b = Given::of(self, "getrs", "B", b.batch())?;
        self.right_sides("getrs", &a, &b)?;
        let pivots = pivots.array("getrs", place.rows, count)?;
        let info = array::<i32>("getrs", "info", info.place(), 1, count)?;
        let (rows, columns, count) = b.sizes();
        let (n, columns, count) = (rows as u64, columns as u64, count as u64);
        let (a, b) = (&a.place.raw, &b.place.raw);
        call!(self, T, km_solve_getrs(operation, n, columns, count, a, &pivots, b, &info))
    }

    /// A = Q R: R in the upper triangle of A, below it and in `tau` the reflections that make Q.
    /// `tau` gets as many numbers for each matrix as the smaller of its sizes.
    /// C: [`km_solve_geqrf`](crate::sys::km_solve_geqrf).
    pub fn geqrf<T: Number>(
        &self,
        a: &mut impl AsBatchMut<T>,
        tau: &mut impl DeviceSliceMut<T>,
        info: &mut impl DeviceSliceMut<i32>,
    ) -> Result<()> {
        let a = Given::of(self, "geqrf", "A", a.batch())?;
        let (m, n, count) = a.sizes();
        let tau = array::<T>("geqrf", "tau", tau.place(), m.min(n), count)?;
        let info = array::<i32>("geqrf", "info", info.place(), 1, count)?;
        let (m, n, count) = (m as u64, n as u64, count as u64);
        call!(self, T, km_solve_geqrf(m, n, count, &a.place.raw, &tau, &info))
    }

    /// The first columns of Q from `reflections` of [`geqrf`](Self::geqrf), which they overwrite: as
    /// many as A has, at most its rows. `tau` has `reflections` numbers for each matrix.
    /// C: [`km_solve_orgqr`](crate::sys::km_solve_orgqr).
    pub fn orgqr<T: Number>(
        &self,
        reflections: usize,
        a: &mut impl AsBatchMut<T>,
        tau: &impl DeviceSlice<T>,
        info: &mut impl DeviceSliceMut<i32>,
    ) -> Result<()> {
        let a = Given::of(self, "orgqr", "A", a.batch())?;
        let (m, n, count) = a.sizes();
        let tau = array::<T>("orgqr", "tau", tau.place(), reflections, count)?;
        let info = array::<i32>("orgqr", "info", info.place(), 1, count)?;
        let (m, n, k, count) = (m as u64, n as u64, reflections as u64, count as u64);
        call!(self, T, km_solve_orgqr(m, n, k, count, &a.place.raw, &tau, &info))
    }

    /// C = op(Q) C, or with the side right C op(Q), for the reflections of [`geqrf`](Self::geqrf) in
    /// the columns of A; `tau` has as many numbers for each matrix.
    /// C: [`km_solve_ormqr`](crate::sys::km_solve_ormqr).
    pub fn ormqr<T: Number>(
        &self,
        side: Side,
        operation: Operation,
        a: &impl AsBatch<T>,
        tau: &impl DeviceSlice<T>,
        c: &mut impl AsBatchMut<T>,
        info: &mut impl DeviceSliceMut<i32>,
    ) -> Result<()> {
        let a = Given::of(self, "ormqr", "A", a.batch())?;
        let c = Given::of(self, "ormqr", "C", c.batch())?;
        let (m, n, count) = c.sizes();
        let order = if side == Side::LEFT { m } else { n };
        same("ormqr", ("the number of rows of A", a.place.rows), ("the order of Q", order))?;
        same_count("ormqr", ("A", a.count), ("C", count))?;
        let k = a.place.columns;
        let tau = array::<T>("ormqr", "tau", tau.place(), k, count)?;
        let info = array::<i32>("ormqr", "info", info.place(), 1, count)?;
        let (m, n, k, count) = (m as u64, n as u64, k as u64, count as u64);
        let (a, c) = (&a.place.raw, &c.place.raw);
        call!(self, T, km_solve_ormqr(side, operation, m, n, k, count, a, &tau, c, &info))
    }

    /// The eigenvalues of a symmetric or Hermitian matrix in ascending order, of which one triangle is
    /// read; the vectors take the place of A, column by column.
    /// C: [`km_solve_syevd`](crate::sys::km_solve_syevd).
    pub fn syevd<T: Number>(
        &self,
        triangle: Triangle,
        a: &mut impl AsBatchMut<T>,
        eigenvalues: &mut impl DeviceSliceMut<T::Real>,
        info: &mut impl DeviceSliceMut<i32>,
    ) -> Result<()> {
        let a = Given::of(self, "syevd", "A", a.batch())?;
        let places = (eigenvalues.place(), info.place());
        self.eigen::<T>(sys::km_solve_vectors::ALL, triangle, &a, places)
    }

    /// The eigenvalues alone; A is destroyed.
    /// C: [`km_solve_syevd`](crate::sys::km_solve_syevd).
    pub fn syevd_values<T: Number>(
        &self,
        triangle: Triangle,
        a: &mut impl AsBatchMut<T>,
        eigenvalues: &mut impl DeviceSliceMut<T::Real>,
        info: &mut impl DeviceSliceMut<i32>,
    ) -> Result<()> {
        let a = Given::of(self, "syevd", "A", a.batch())?;
        let places = (eigenvalues.place(), info.place());
        self.eigen::<T>(sys::km_solve_vectors::NONE, triangle, &a, places)
    }

    fn eigen<T: Number>(
        &self,
        vectors: sys::km_solve_vectors,
        triangle: Triangle,
        a: &Given,
        (values, info): (Place, Place),
    ) -> Result<()> {
        a.place.require_square("the matrix of syevd")?;
        let (n, _, count) = a.sizes();
        let values = array::<T::Real>("syevd", "eigenvalues", values, n, count)?;
        let info = array::<i32>("syevd", "info", info, 1, count)?;
        let (n, count, a) = (n as u64, count as u64, &a.place.raw);
        call!(self, T, km_solve_syevd(vectors, triangle, n, count, a, &values, &info))
    }

    /// A = U S V^H: the singular values in descending order, as many as the smaller size of A, and the
    /// vectors. U has as many columns, and V^H as many rows, as there are values; or both are square,
    /// and have all vectors. A is destroyed. C: [`km_solve_gesvd`](crate::sys::km_solve_gesvd).
    pub fn gesvd<T: Number>(
        &self,
        a: &mut impl AsBatchMut<T>,
        singular_values: &mut impl DeviceSliceMut<T::Real>,
        u: &mut impl AsBatchMut<T>,
        vh: &mut impl AsBatchMut<T>,
        info: &mut impl DeviceSliceMut<i32>,
    ) -> Result<()> {
        let a = Given::of(self, "gesvd", "A", a.batch())?;
        let u = Given::of(self, "gesvd", "U", u.batch())?;
        let vh = Given::of(self, "gesvd", "V^H", vh.batch())?;
        let (m, n, count) = a.sizes();
        same("gesvd", ("the number of rows of U", u.place.rows), ("that of A", m))?;
        same("gesvd", ("the number of columns of V^H", vh.place.columns), ("that of A", n))?;
        same_count("gesvd", ("U", u.count), ("A", count))?;
        same_count("gesvd", ("V^H", vh.count), ("A", count))?;
        let (columns, rows, least) = (u.place.columns, vh.place.rows, m.min(n));
        let vectors = match (columns, rows) {
            (columns, rows) if (columns, rows) == (least, least) => sys::km_solve_vectors::THIN,
            (columns, rows) if (columns, rows) == (m, n) => sys::km_solve_vectors::ALL,
            _ => sys::km_solve_vectors::INVALID,
        };
        require(vectors != sys::km_solve_vectors::INVALID, || {
            format!(
                "gesvd: U has {columns} columns and V^H {rows} rows; they can be {least} and \
                 {least}, or {m} and {n}"
            )
        })?;
        let values =
            array::<T::Real>("gesvd", "singular_values", singular_values.place(), least, count)?;
        let info = array::<i32>("gesvd", "info", info.place(), 1, count)?;
        let (m, n, count) = (m as u64, n as u64, count as u64);
        let (a, u, vh) = (&a.place.raw, &u.place.raw, &vh.place.raw);
        call!(self, T, km_solve_gesvd(vectors, m, n, count, a, &values, u, vh, &info))
    }

    /// The singular values alone; A is destroyed.
    /// C: [`km_solve_gesvd`](crate::sys::km_solve_gesvd).
    pub fn gesvd_values<T: Number>(
        &self,
        a: &mut impl AsBatchMut<T>,
        singular_values: &mut impl DeviceSliceMut<T::Real>,
        info: &mut impl DeviceSliceMut<i32>,
    ) -> Result<()> {
        let a = Given::of(self, "gesvd", "A", a.batch())?;
        let (m, n, count) = a.sizes();
        let least = m.min(n);
        let values =
            array::<T::Real>("gesvd", "singular_values", singular_values.place(), least, count)?;
        let info = array::<i32>("gesvd", "info", info.place(), 1, count)?;
        let (m, n, count) = (m as u64, n as u64, count as u64);
        let (none, a) = (std::ptr::null(), &a.place.raw);
        let vectors = sys::km_solve_vectors::NONE;
        call!(self, T, km_solve_gesvd(vectors, m, n, count, a, &values, none, none, &info))
    }

    /// Checks that B has right-hand sides for a square A.
    fn right_sides(&self, call: &str, a: &Given, b: &Given) -> Result<()> {
        a.place.require_square(&format!("the matrix of {call}"))?;
        same(call, ("the order of A", a.place.rows), ("the number of rows of B", b.place.rows))?;
        same_count(call, ("A", a.count), ("B", b.count))
    }
}
