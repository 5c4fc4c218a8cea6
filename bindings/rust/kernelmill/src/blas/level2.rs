//! Level 2: a matrix and vectors.

use super::vector::VectorPlace;
use super::{
    AsVector, AsVectorMut, BandMatrix, BandTriangle, Blas, Matrix, MatrixMut, MatrixOperand,
    Number, Operation, PackedTriangle, PackedTriangleMut, Symmetric, Triangle, Triangular, call,
    same, scalar,
};
use crate::{Pod, Result, sys};

impl Blas {
    /// y = alpha op(A) x + beta y. C: [`km_blas_gemv`](sys::km_blas_gemv).
    pub fn gemv<T: Number>(
        &self,
        alpha: T,
        a: &impl MatrixOperand<T>,
        x: &impl AsVector<T>,
        beta: T,
        y: &mut impl AsVectorMut<T>,
    ) -> Result<()> {
        let (a, operation) = a.operand();
        self.take("gemv", "A", a.layout)?;
        let (x, y) = product("gemv", (a.rows, a.columns), operation, x, y)?;
        let (m, n) = (a.rows as u64, a.columns as u64);
        let (alpha, beta) = (scalar(&alpha), scalar(&beta));
        call!(self, T, km_blas_gemv(operation, m, n, alpha, &a.raw, &x, beta, &y))
    }

    /// y = alpha op(A) x + beta y for a band matrix. C: [`km_blas_gbmv`](sys::km_blas_gbmv).
    pub fn gbmv<T: Number>(
        &self,
        alpha: T,
        a: &BandMatrix<'_, T>,
        x: &impl AsVector<T>,
        beta: T,
        y: &mut impl AsVectorMut<T>,
    ) -> Result<()> {
        let (place, operation) = (a.place, a.operation);
        self.take("gbmv", "A", place.layout)?;
        let (x, y) = product("gbmv", (place.rows, place.columns), operation, x, y)?;
        let (m, n) = (place.rows as u64, place.columns as u64);
        let (lower, upper) = (a.lower as u64, a.upper as u64);
        let (alpha, beta, a) = (scalar(&alpha), scalar(&beta), &place.raw);
        call!(self, T, km_blas_gbmv(operation, m, n, lower, upper, alpha, a, &x, beta, &y))
    }

    /// y = alpha A x + beta y for a symmetric A, for complex numbers a Hermitian one.
    /// C: [`km_blas_symv`](sys::km_blas_symv).
    pub fn symv<T: Number>(
        &self,
        alpha: T,
        a: &Symmetric<'_, T>,
        x: &impl AsVector<T>,
        beta: T,
        y: &mut impl AsVectorMut<T>,
    ) -> Result<()> {
        let (place, triangle) = (a.matrix.place(), a.triangle);
        self.take("symv", "A", place.layout)?;
        let (x, y) = product("symv", (place.rows, place.columns), Operation::NONE, x, y)?;
        let (n, alpha, beta) = (place.rows as u64, scalar(&alpha), scalar(&beta));
        call!(self, T, km_blas_symv(triangle, n, alpha, &place.raw, &x, beta, &y))
    }

    /// y = alpha A x + beta y for a symmetric or Hermitian band matrix.
    /// C: [`km_blas_sbmv`](sys::km_blas_sbmv).
    pub fn sbmv<T: Number>(
        &self,
        alpha: T,
        a: &BandTriangle<'_, T>,
        x: &impl AsVector<T>,
        beta: T,
        y: &mut impl AsVectorMut<T>,
    ) -> Result<()> {
        let place = a.place;
        self.take("sbmv", "A", place.layout)?;
        let (x, y) = product("sbmv", (place.rows, place.columns), Operation::NONE, x, y)?;
        let (n, k, triangle) = (place.rows as u64, a.diagonals as u64, a.triangle);
        let (alpha, beta) = (scalar(&alpha), scalar(&beta));
        call!(self, T, km_blas_sbmv(triangle, n, k, alpha, &place.raw, &x, beta, &y))
    }

    /// y = alpha A x + beta y for a symmetric or Hermitian A, packed.
    /// C: [`km_blas_spmv`](sys::km_blas_spmv).
    pub fn spmv<T: Number>(
        &self,
        alpha: T,
        a: &PackedTriangle<'_, T>,
        x: &impl AsVector<T>,
        beta: T,
        y: &mut impl AsVectorMut<T>,
    ) -> Result<()> {
        let place = a.place;
        self.take("spmv", "A", place.layout)?;
        let (x, y) = product("spmv", (place.rows, place.columns), Operation::NONE, x, y)?;
        let (n, alpha, beta) = (place.rows as u64, scalar(&alpha), scalar(&beta));
        call!(self, T, km_blas_spmv(a.triangle, n, alpha, &place.raw, &x, beta, &y))
    }

    /// x = op(A) x for a triangular A. C: [`km_blas_trmv`](sys::km_blas_trmv).
    pub fn trmv<T: Number>(
        &self,
        a: &Triangular<Matrix<'_, T>>,
        x: &mut impl AsVectorMut<T>,
    ) -> Result<()> {
        let place = a.storage.place();
        self.take("trmv", "A", place.layout)?;
        let (n, x) = in_place("trmv", place.rows, x)?;
        let Triangular { triangle, diagonal, operation, .. } = *a;
        call!(self, T, km_blas_trmv(triangle, operation, diagonal, n, &place.raw, &x))
    }

    /// x = op(A) x for a triangular band matrix. C: [`km_blas_tbmv`](sys::km_blas_tbmv).
    pub fn tbmv<T: Number>(
        &self,
        a: &Triangular<BandTriangle<'_, T>>,
        x: &mut impl AsVectorMut<T>,
    ) -> Result<()> {
        let (place, k) = (a.storage.place, a.storage.diagonals as u64);
        self.take("tbmv", "A", place.layout)?;
        let (n, x) = in_place("tbmv", place.rows, x)?;
        let Triangular { triangle, diagonal, operation, .. } = *a;
        call!(self, T, km_blas_tbmv(triangle, operation, diagonal, n, k, &place.raw, &x))
    }

    /// x = op(A) x for a packed triangle. C: [`km_blas_tpmv`](sys::km_blas_tpmv).
    pub fn tpmv<T: Number>(
        &self,
        a: &Triangular<PackedTriangle<'_, T>>,
        x: &mut impl AsVectorMut<T>,
    ) -> Result<()> {
        let place = a.storage.place;
        self.take("tpmv", "A", place.layout)?;
        let (n, x) = in_place("tpmv", place.rows, x)?;
        let Triangular { triangle, diagonal, operation, .. } = *a;
        call!(self, T, km_blas_tpmv(triangle, operation, diagonal, n, &place.raw, &x))
    }

    /// Solves op(A) z = x for a triangular A and puts z into x. There is no test for a singular one.
    /// C: [`km_blas_trsv`](sys::km_blas_trsv).
    pub fn trsv<T: Number>(
        &self,
        a: &Triangular<Matrix<'_, T>>,
        x: &mut impl AsVectorMut<T>,
    ) -> Result<()> {
        let place = a.storage.place();
        self.take("trsv", "A", place.layout)?;
        let (n, x) = in_place("trsv", place.rows, x)?;
        let Triangular { triangle, diagonal, operation, .. } = *a;
        call!(self, T, km_blas_trsv(triangle, operation, diagonal, n, &place.raw, &x))
    }

    /// Solves op(A) z = x for a triangular band matrix and puts z into x.
    /// C: [`km_blas_tbsv`](sys::km_blas_tbsv).
    pub fn tbsv<T: Number>(
        &self,
        a: &Triangular<BandTriangle<'_, T>>,
        x: &mut impl AsVectorMut<T>,
    ) -> Result<()> {
        let (place, k) = (a.storage.place, a.storage.diagonals as u64);
        self.take("tbsv", "A", place.layout)?;
        let (n, x) = in_place("tbsv", place.rows, x)?;
        let Triangular { triangle, diagonal, operation, .. } = *a;
        call!(self, T, km_blas_tbsv(triangle, operation, diagonal, n, k, &place.raw, &x))
    }

    /// Solves op(A) z = x for a packed triangle and puts z into x.
    /// C: [`km_blas_tpsv`](sys::km_blas_tpsv).
    pub fn tpsv<T: Number>(
        &self,
        a: &Triangular<PackedTriangle<'_, T>>,
        x: &mut impl AsVectorMut<T>,
    ) -> Result<()> {
        let place = a.storage.place;
        self.take("tpsv", "A", place.layout)?;
        let (n, x) = in_place("tpsv", place.rows, x)?;
        let Triangular { triangle, diagonal, operation, .. } = *a;
        call!(self, T, km_blas_tpsv(triangle, operation, diagonal, n, &place.raw, &x))
    }

    /// A = alpha x y^T + A. C: [`km_blas_ger`](sys::km_blas_ger).
    pub fn ger<T: Number>(
        &self,
        alpha: T,
        x: &impl AsVector<T>,
        y: &impl AsVector<T>,
        a: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        let a = a.as_matrix().place();
        self.take("ger", "A", a.layout)?;
        let (x, y) = outer("ger", (a.rows, a.columns), x, y)?;
        let (m, n) = (a.rows as u64, a.columns as u64);
        call!(self, T, km_blas_ger(m, n, scalar(&alpha), &x, &y, &a.raw))
    }

    /// A = alpha x y^H + A, with the complex conjugates of y.
    /// C: [`km_blas_gerc`](sys::km_blas_gerc).
    pub fn gerc<T: Number>(
        &self,
        alpha: T,
        x: &impl AsVector<T>,
        y: &impl AsVector<T>,
        a: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        let a = a.as_matrix().place();
        self.take("gerc", "A", a.layout)?;
        let (x, y) = outer("gerc", (a.rows, a.columns), x, y)?;
        let (m, n) = (a.rows as u64, a.columns as u64);
        call!(self, T, km_blas_gerc(m, n, scalar(&alpha), &x, &y, &a.raw))
    }

    /// A = alpha x x^T + A, for complex numbers alpha x x^H + A, in one triangle of a square A; the
    /// other one is neither read nor written. C: [`km_blas_syr`](sys::km_blas_syr).
    pub fn syr<T: Number>(
        &self,
        triangle: Triangle,
        alpha: T::Real,
        x: &impl AsVector<T>,
        a: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        let a = a.as_matrix().place();
        self.take("syr", "A", a.layout)?;
        let (x, _) = outer("syr", (a.rows, a.columns), x, x)?;
        call!(self, T, km_blas_syr(triangle, a.rows as u64, scalar(&alpha), &x, &a.raw))
    }

    /// A = alpha x y^T + alpha y x^T + A, for complex numbers alpha x y^H + conj(alpha) y x^H + A, in
    /// one triangle of a square A. C: [`km_blas_syr2`](sys::km_blas_syr2).
    pub fn syr2<T: Number>(
        &self,
        triangle: Triangle,
        alpha: T,
        x: &impl AsVector<T>,
        y: &impl AsVector<T>,
        a: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        let a = a.as_matrix().place();
        self.take("syr2", "A", a.layout)?;
        let (x, y) = outer("syr2", (a.rows, a.columns), x, y)?;
        call!(self, T, km_blas_syr2(triangle, a.rows as u64, scalar(&alpha), &x, &y, &a.raw))
    }

    /// A = alpha x x^T + A, for complex numbers alpha x x^H + A, in a packed triangle.
    /// C: [`km_blas_spr`](sys::km_blas_spr).
    pub fn spr<T: Number>(
        &self,
        alpha: T::Real,
        x: &impl AsVector<T>,
        a: &mut PackedTriangleMut<'_, T>,
    ) -> Result<()> {
        let (place, triangle) = (a.place, a.triangle);
        self.take("spr", "A", place.layout)?;
        let (x, _) = outer("spr", (place.rows, place.columns), x, x)?;
        call!(self, T, km_blas_spr(triangle, place.rows as u64, scalar(&alpha), &x, &place.raw))
    }

    /// A = alpha x y^T + alpha y x^T + A, for complex numbers alpha x y^H + conj(alpha) y x^H + A, in
    /// a packed triangle.
    /// C: [`km_blas_spr2`](sys::km_blas_spr2).
    pub fn spr2<T: Number>(
        &self,
        alpha: T,
        x: &impl AsVector<T>,
        y: &impl AsVector<T>,
        a: &mut PackedTriangleMut<'_, T>,
    ) -> Result<()> {
        let (place, triangle) = (a.place, a.triangle);
        self.take("spr2", "A", place.layout)?;
        let (x, y) = outer("spr2", (place.rows, place.columns), x, y)?;
        let (n, alpha, a) = (place.rows as u64, scalar(&alpha), &place.raw);
        call!(self, T, km_blas_spr2(triangle, n, alpha, &x, &y, a))
    }
}

type Pair = (sys::km_blas_vector, sys::km_blas_vector);

/// x and y of y = op(A) x, which have its columns and rows.
fn product<T: Pod>(
    call: &str,
    (rows, columns): (usize, usize),
    operation: Operation,
    x: &impl AsVector<T>,
    y: &impl AsVector<T>,
) -> Result<Pair> {
    let is_plain = operation == Operation::NONE;
    let (rows, columns) = if is_plain { (rows, columns) } else { (columns, rows) };
    let (x, y) = (x.vector()?, y.vector()?);
    same(call, ("the length of x", x.len), ("the number of columns of op(A)", columns))?;
    same(call, ("the length of y", y.len), ("the number of rows of op(A)", rows))?;
    Ok((x.raw, y.raw))
}

/// x and y of A = x y^T + A, which have its rows and columns.
fn outer<T: Pod>(
    call: &str,
    (rows, columns): (usize, usize),
    x: &impl AsVector<T>,
    y: &impl AsVector<T>,
) -> Result<Pair> {
    let (x, y) = (x.vector()?, y.vector()?);
    same(call, ("the length of x", x.len), ("the number of rows of A", rows))?;
    same(call, ("the length of y", y.len), ("the number of columns of A", columns))?;
    Ok((x.raw, y.raw))
}

/// The order of a triangular matrix, and a vector that has it.
fn in_place<T: Pod>(
    call: &str,
    order: usize,
    x: &impl AsVector<T>,
) -> Result<(u64, sys::km_blas_vector)> {
    let VectorPlace { raw, len } = x.vector()?;
    same(call, ("the length of x", len), ("the order of A", order))?;
    Ok((order as u64, raw))
}
