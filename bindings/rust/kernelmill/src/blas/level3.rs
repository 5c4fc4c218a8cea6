//! Level 3: matrices.

use super::place::MatrixPlace;
use super::{
    AsMatrix, Blas, GemmNumber, Matrix, MatrixBatch, MatrixBatchMut, MatrixMut, MatrixOperand,
    Number, Operation, Side, Symmetric, Triangle, Triangular, call, require, same, scalar,
};
use crate::Result;

impl Blas {
    /// C = alpha op(A) op(B) + beta C. Elements of 16 bits are multiplied and added in `f32`,
    /// `alpha` and `beta` are `f32`, and each element is rounded once.
    /// C: [`km_blas_gemm`](crate::sys::km_blas_gemm).
    pub fn gemm<T: GemmNumber>(
        &self,
        alpha: T::Scalar,
        a: &impl MatrixOperand<T>,
        b: &impl MatrixOperand<T>,
        beta: T::Scalar,
        c: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        let (a, b, c) = (Operand::of(a.operand()), Operand::of(b.operand()), c.as_matrix().place());
        let (m, n, k) = self.product_sizes("gemm", &a, &b, &c)?;
        let (alpha, beta) = (scalar(&alpha), scalar(&beta));
        let (op_a, a, op_b, b, c) = (a.operation, &a.place.raw, b.operation, &b.place.raw, &c.raw);
        call!(self, T, km_blas_gemm(op_a, op_b, m, n, k, alpha, a, b, beta, c))
    }

    /// C = alpha op(A) op(B) + beta C for each matrix of a batch.
    /// C: [`km_blas_gemm_strided_batched`](crate::sys::km_blas_gemm_strided_batched).
    pub fn gemm_strided_batched<T: GemmNumber>(
        &self,
        alpha: T::Scalar,
        a: &MatrixBatch<'_, T>,
        b: &MatrixBatch<'_, T>,
        beta: T::Scalar,
        c: &mut MatrixBatchMut<'_, T>,
    ) -> Result<()> {
        let call = "gemm_strided_batched";
        same(call, ("the count of A", a.count), ("that of C", c.count))?;
        same(call, ("the count of B", b.count), ("that of C", c.count))?;
        let (a, b) = (Operand::of((a.place, a.operation)), Operand::of((b.place, b.operation)));
        let (m, n, k) = self.product_sizes(call, &a, &b, &c.place)?;
        let (alpha, beta, count) = (scalar(&alpha), scalar(&beta), c.count as u64);
        let (op_a, op_b, c) = (a.operation, b.operation, &c.place.raw);
        let (a, b) = (&a.place.raw, &b.place.raw);
        call!(
            self,
            T,
            km_blas_gemm_strided_batched(op_a, op_b, m, n, k, alpha, a, b, beta, c, count)
        )
    }

    /// C = alpha A B + beta C, or with the side right alpha B A + beta C, for a symmetric A.
    /// C: [`km_blas_symm`](crate::sys::km_blas_symm).
    pub fn symm<T: Number>(
        &self,
        side: Side,
        alpha: T,
        a: &Symmetric<'_, T>,
        b: &impl AsMatrix<T>,
        beta: T,
        c: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        let (place, triangle) = (a.matrix.place(), a.triangle);
        let (b, c) = (b.matrix(), c.as_matrix().place());
        let (m, n) = self.sided("symm", side, &place, &b)?;
        self.same_shape("symm", &b, &c)?;
        let (alpha, beta, a) = (scalar(&alpha), scalar(&beta), &place.raw);
        call!(self, T, km_blas_symm(side, triangle, m, n, alpha, a, &b.raw, beta, &c.raw))
    }

    /// [`symm`](Self::symm) for a Hermitian A; for real numbers they are one.
    /// C: [`km_blas_hemm`](crate::sys::km_blas_hemm).
    pub fn hemm<T: Number>(
        &self,
        side: Side,
        alpha: T,
        a: &Symmetric<'_, T>,
        b: &impl AsMatrix<T>,
        beta: T,
        c: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        let (place, triangle) = (a.matrix.place(), a.triangle);
        let (b, c) = (b.matrix(), c.as_matrix().place());
        let (m, n) = self.sided("hemm", side, &place, &b)?;
        self.same_shape("hemm", &b, &c)?;
        let (alpha, beta, a) = (scalar(&alpha), scalar(&beta), &place.raw);
        call!(self, T, km_blas_hemm(side, triangle, m, n, alpha, a, &b.raw, beta, &c.raw))
    }

    /// C = alpha op(A) op(A)^T + beta C in one triangle of a square C. For complex numbers op(A) is A
    /// or its transpose. C: [`km_blas_syrk`](crate::sys::km_blas_syrk).
    pub fn syrk<T: Number>(
        &self,
        triangle: Triangle,
        alpha: T,
        a: &impl MatrixOperand<T>,
        beta: T,
        c: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        let (a, c) = (Operand::of(a.operand()), c.as_matrix().place());
        let (n, k) = self.update_sizes("syrk", &a, &c)?;
        let (alpha, beta, operation) = (scalar(&alpha), scalar(&beta), a.operation);
        let (a, c) = (&a.place.raw, &c.raw);
        call!(self, T, km_blas_syrk(triangle, operation, n, k, alpha, a, beta, c))
    }

    /// C = alpha op(A) op(A)^H + beta C in one triangle of a square C. For complex numbers op(A) is A
    /// or its conjugate transpose. C: [`km_blas_herk`](crate::sys::km_blas_herk).
    pub fn herk<T: Number>(
        &self,
        triangle: Triangle,
        alpha: T::Real,
        a: &impl MatrixOperand<T>,
        beta: T::Real,
        c: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        let (a, c) = (Operand::of(a.operand()), c.as_matrix().place());
        let (n, k) = self.update_sizes("herk", &a, &c)?;
        let (alpha, beta, operation) = (scalar(&alpha), scalar(&beta), a.operation);
        let (a, c) = (&a.place.raw, &c.raw);
        call!(self, T, km_blas_herk(triangle, operation, n, k, alpha, a, beta, c))
    }

    /// C = alpha op(A) op(B)^T + alpha op(B) op(A)^T + beta C in one triangle of a square C, with the
    /// same operation for A and B. C: [`km_blas_syr2k`](crate::sys::km_blas_syr2k).
    pub fn syr2k<T: Number>(
        &self,
        triangle: Triangle,
        alpha: T,
        a: &impl MatrixOperand<T>,
        b: &impl MatrixOperand<T>,
        beta: T,
        c: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        let (a, b, c) = (Operand::of(a.operand()), Operand::of(b.operand()), c.as_matrix().place());
        let (n, k) = self.update_by_two_sizes("syr2k", &a, &b, &c)?;
        let (alpha, beta, operation) = (scalar(&alpha), scalar(&beta), a.operation);
        let (a, b, c) = (&a.place.raw, &b.place.raw, &c.raw);
        call!(self, T, km_blas_syr2k(triangle, operation, n, k, alpha, a, b, beta, c))
    }

    /// C = alpha op(A) op(B)^H + conj(alpha) op(B) op(A)^H + beta C in one triangle of a square C,
    /// with the same operation for A and B. C: [`km_blas_her2k`](crate::sys::km_blas_her2k).
    pub fn her2k<T: Number>(
        &self,
        triangle: Triangle,
        alpha: T,
        a: &impl MatrixOperand<T>,
        b: &impl MatrixOperand<T>,
        beta: T::Real,
        c: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        let (a, b, c) = (Operand::of(a.operand()), Operand::of(b.operand()), c.as_matrix().place());
        let (n, k) = self.update_by_two_sizes("her2k", &a, &b, &c)?;
        let (alpha, beta, operation) = (scalar(&alpha), scalar(&beta), a.operation);
        let (a, b, c) = (&a.place.raw, &b.place.raw, &c.raw);
        call!(self, T, km_blas_her2k(triangle, operation, n, k, alpha, a, b, beta, c))
    }

    /// B = alpha op(A) B, or with the side right alpha B op(A), for a triangular A.
    /// C: [`km_blas_trmm`](crate::sys::km_blas_trmm).
    pub fn trmm<T: Number>(
        &self,
        side: Side,
        alpha: T,
        a: &Triangular<Matrix<'_, T>>,
        b: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        let (place, b) = (a.storage.place(), b.as_matrix().place());
        let (m, n) = self.sided("trmm", side, &place, &b)?;
        let Triangular { triangle, diagonal, operation, .. } = *a;
        let (alpha, a, b) = (scalar(&alpha), &place.raw, &b.raw);
        call!(self, T, km_blas_trmm(side, triangle, operation, diagonal, m, n, alpha, a, b))
    }

    /// Solves op(A) X = alpha B, or with the side right X op(A) = alpha B, for a triangular A and
    /// puts X into B. There is no test for a singular A.
    /// C: [`km_blas_trsm`](crate::sys::km_blas_trsm).
    pub fn trsm<T: Number>(
        &self,
        side: Side,
        alpha: T,
        a: &Triangular<Matrix<'_, T>>,
        b: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        let (place, b) = (a.storage.place(), b.as_matrix().place());
        let (m, n) = self.sided("trsm", side, &place, &b)?;
        let Triangular { triangle, diagonal, operation, .. } = *a;
        let (alpha, a, b) = (scalar(&alpha), &place.raw, &b.raw);
        call!(self, T, km_blas_trsm(side, triangle, operation, diagonal, m, n, alpha, a, b))
    }

    /// Rows of C, columns of C, and columns of op(A).
    fn product_sizes(
        &self,
        call: &str,
        a: &Operand,
        b: &Operand,
        c: &MatrixPlace,
    ) -> Result<(u64, u64, u64)> {
        self.take(call, "A", a.place.layout)?;
        self.take(call, "B", b.place.layout)?;
        self.take(call, "C", c.layout)?;
        same(
            call,
            ("the number of columns of op(A)", a.columns),
            ("that of rows of op(B)", b.rows),
        )?;
        same(call, ("the number of rows of op(A)", a.rows), ("that of C", c.rows))?;
        same(call, ("the number of columns of op(B)", b.columns), ("that of C", c.columns))?;
        Ok((c.rows as u64, c.columns as u64, a.columns as u64))
    }

    /// The order of C, and columns of op(A).
    fn update_sizes(&self, call: &str, a: &Operand, c: &MatrixPlace) -> Result<(u64, u64)> {
        self.take(call, "A", a.place.layout)?;
        self.take(call, "C", c.layout)?;
        same(call, ("the number of rows of C", c.rows), ("that of columns", c.columns))?;
        same(call, ("the number of rows of op(A)", a.rows), ("that of C", c.rows))?;
        Ok((c.rows as u64, a.columns as u64))
    }

    fn update_by_two_sizes(
        &self,
        call: &str,
        a: &Operand,
        b: &Operand,
        c: &MatrixPlace,
    ) -> Result<(u64, u64)> {
        let (one, other) = (a.operation.0, b.operation.0);
        require(one == other, || {
            format!(
                "{call}: the operation of A is {one} and that of B is {other}; there is one for both"
            )
        })?;
        self.take(call, "B", b.place.layout)?;
        same(call, ("the number of rows of op(B)", b.rows), ("that of op(A)", a.rows))?;
        same(call, ("the number of columns of op(B)", b.columns), ("that of op(A)", a.columns))?;
        self.update_sizes(call, a, c)
    }

    /// Rows and columns of B, with A on one side.
    fn sided(
        &self,
        call: &str,
        side: Side,
        a: &MatrixPlace,
        b: &MatrixPlace,
    ) -> Result<(u64, u64)> {
        self.take(call, "A", a.layout)?;
        self.take(call, "B", b.layout)?;
        match side {
            Side::LEFT => {
                same(call, ("the order of A", a.rows), ("the number of rows of B", b.rows))?
            }
            Side::RIGHT => {
                same(call, ("the order of A", a.rows), ("the number of columns of B", b.columns))?;
            }
            Side(value) => {
                require(false, || {
                    format!("{call}: side is {value}; it can be 1 (left) or 2 (right)")
                })?;
            }
        }
        Ok((b.rows as u64, b.columns as u64))
    }

    fn same_shape(&self, call: &str, b: &MatrixPlace, c: &MatrixPlace) -> Result<()> {
        self.take(call, "C", c.layout)?;
        same(call, ("the number of rows of B", b.rows), ("that of C", c.rows))?;
        same(call, ("the number of columns of B", b.columns), ("that of C", c.columns))
    }
}

/// A matrix of a product, with the sizes that it has there.
struct Operand {
    place: MatrixPlace,
    operation: Operation,
    rows: usize,
    columns: usize,
}

impl Operand {
    fn of((place, operation): (MatrixPlace, Operation)) -> Self {
        let (rows, columns) = match operation {
            Operation::NONE => (place.rows, place.columns),
            _ => (place.columns, place.rows),
        };
        Self { place, operation, rows, columns }
    }
}
