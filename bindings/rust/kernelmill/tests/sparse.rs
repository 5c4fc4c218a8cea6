//! Sparse products and solvers give right results for all formats and types; matrices are checked.

mod common;
#[path = "common/dense.rs"]
mod dense;

use common::{context, expect_error};
use dense::{C, Dense, Element, numbers};
use kernelmill::blas::{
    Blas, Complex, Diagonal, Layout, Matrix, MatrixMut, SparseMatrix, Triangle, Vector, VectorMut,
};
use kernelmill::{Result, Slice, Status, Stream};

/// A sparse matrix on the device, in all formats, and the same on the host.
struct Sparse<T: Element> {
    dense: Dense,
    rows: Slice<i32>,
    columns: Slice<i32>,
    row_offsets: Slice<i32>,
    values: Slice<T>,
    wide_rows: Slice<i64>,
    column_offsets: Slice<i64>, // from 1 on, and so are wide_rows
    values_by_columns: Slice<T>,
}

impl<T: Element> Sparse<T> {
    fn new(stream: &Stream, dense: Dense) -> Result<Self> {
        let places = |(m, n): (usize, usize), swap: bool| -> Vec<(usize, usize)> {
            let all = (0..m).flat_map(|i| (0..n).map(move |j| (i, j)));
            all.map(|(i, j)| if swap { (j, i) } else { (i, j) })
                .filter(|(i, j)| dense.at(*i, *j) != C(0.0, 0.0))
                .collect()
        };
        let by_rows = places((dense.rows, dense.columns), false);
        let by_columns = places((dense.columns, dense.rows), true);
        let values = |places: &[(usize, usize)]| {
            places.iter().map(|(i, j)| T::of(dense.at(*i, *j))).collect::<Vec<_>>()
        };
        let before = |line: usize, lines: &mut dyn Iterator<Item = usize>| {
            lines.filter(|other| *other < line).count()
        };
        let row_offsets: Vec<_> = (0..=dense.rows)
            .map(|row| before(row, &mut by_rows.iter().map(|place| place.0)) as i32)
            .collect();
        let column_offsets: Vec<_> = (0..=dense.columns)
            .map(|column| before(column, &mut by_columns.iter().map(|place| place.1)) as i64 + 1)
            .collect();
        let rows: Vec<_> = by_rows.iter().map(|place| place.0 as i32).collect();
        let columns: Vec<_> = by_rows.iter().map(|place| place.1 as i32).collect();
        let wide_rows: Vec<_> = by_columns.iter().map(|place| place.0 as i64 + 1).collect();
        Ok(Self {
            rows: stream.clone_htod(&rows)?,
            columns: stream.clone_htod(&columns)?,
            row_offsets: stream.clone_htod(&row_offsets)?,
            values: stream.clone_htod(&values(&by_rows))?,
            wide_rows: stream.clone_htod(&wide_rows)?,
            column_offsets: stream.clone_htod(&column_offsets)?,
            values_by_columns: stream.clone_htod(&values(&by_columns))?,
            dense,
        })
    }

    fn views(&self) -> Result<[SparseMatrix<'_, T>; 3]> {
        let (m, n) = (self.dense.rows, self.dense.columns);
        Ok([
            SparseMatrix::csr(m, n, &self.row_offsets, &self.columns, &self.values)?,
            SparseMatrix::csc(
                m,
                n,
                &self.column_offsets,
                &self.wide_rows,
                &self.values_by_columns,
            )?
            .one_based(),
            SparseMatrix::coo(m, n, &self.rows, &self.columns, &self.values)?,
        ])
    }
}

fn upload<T: Element>(stream: &Stream, numbers: &[C]) -> Result<Slice<T>> {
    stream.clone_htod(&numbers.iter().map(|value| T::of(*value)).collect::<Vec<_>>())
}

fn download<T: Element>(stream: &Stream, slice: &Slice<T>) -> Result<Vec<C>> {
    Ok(stream.clone_dtoh(slice)?.into_iter().map(T::value).collect())
}

/// Each operation on a matrix, on the device and on the host.
fn operations<'a, T: Element>(
    a: SparseMatrix<'a, T>,
    dense: &Dense,
) -> [(SparseMatrix<'a, T>, Dense); 3] {
    [
        (a, dense.clone()),
        (a.transposed(), dense.transpose()),
        (a.conjugate_transposed(), dense.transpose().conj()),
    ]
}

fn products<T: Element>(layout: Layout) -> Result<()> {
    let stream = context().default_stream()?;
    let blas = Blas::new(&stream, layout)?;
    let a = Sparse::<T>::new(&stream, Dense::new::<T>(5, 4, 1))?;
    let (alpha, beta) = (C(2.0, 0.0), C(-1.0, 0.0));
    for view in a.views()? {
        for (view, dense) in operations(view, &a.dense) {
            let (x, y) = (numbers::<T>(view.columns(), 2), numbers::<T>(view.rows(), 3));
            let wanted = dense.times(&Dense::vector(&x)).scaled(alpha);
            let wanted = wanted.plus(&Dense::vector(&y).scaled(beta));
            let (x, mut y) = (upload::<T>(&stream, &x)?, upload::<T>(&stream, &y)?);
            blas.sparse_mv(T::of(alpha), &view, &x, T::of(beta), &mut y)?;
            assert_eq!(download(&stream, &y)?, wanted.numbers);

            let b = Dense::new::<T>(3, view.columns(), 4);
            let memory = stream.clone_htod(&b.stored::<T>(layout, 0))?;
            let mut result = stream.alloc_zeros::<T>(3 * view.rows())?;
            let b_view = Matrix::new(layout, &memory, 3, view.columns())?;
            let mut c = MatrixMut::new(layout, &mut result, view.rows(), 3)?;
            blas.sparse_mm(T::of(alpha), &view, &b_view.transposed(), T::of(C(0.0, 0.0)), &mut c)?;
            let wanted = dense.times(&b.transpose()).scaled(alpha);
            let seen = stream.clone_dtoh(&result)?;
            assert_eq!(Dense::from_stored(layout, view.rows(), 3, 0, &seen), wanted);
        }
    }
    Ok(())
}

#[test]
fn products_are_right() -> Result<()> {
    for layout in [Layout::ROWS, Layout::COLUMNS] {
        products::<f32>(layout)?;
        products::<f64>(layout)?;
        products::<Complex<f32>>(layout)?;
        products::<Complex<f64>>(layout)?;
    }
    Ok(())
}

fn solutions<T: Element>(layout: Layout) -> Result<()> {
    const ONE: C = C(1.0, 0.0);
    let stream = context().default_stream()?;
    let blas = Blas::new(&stream, layout)?;
    let a = Sparse::<T>::new(&stream, Dense::new::<T>(4, 4, 6))?;
    for triangle in [Triangle::LOWER, Triangle::UPPER] {
        let part =
            Dense::by(4, 4, |i, j| match (i == j, (j < i) == (triangle == Triangle::LOWER)) {
                (true, _) => ONE,
                (_, true) => a.dense.at(i, j),
                _ => C(0.0, 0.0),
            });
        for view in a.views()? {
            for (view, dense) in operations(view, &part) {
                let solver = view.triangular(triangle, Diagonal::UNIT)?;
                let wanted = numbers::<T>(4, 7);
                let x = upload::<T>(&stream, &dense.times(&Dense::vector(&wanted)).numbers)?;
                let mut y = stream.alloc_zeros::<T>(4)?;
                blas.sparse_sv(T::of(ONE), &solver, &x, &mut y)?;
                assert_eq!(download(&stream, &y)?, wanted);
                let mut x = x;
                blas.sparse_sv_in_place(T::of(ONE), &solver, &mut x)?;
                assert_eq!(download(&stream, &x)?, wanted);

                let wanted = Dense::new::<T>(4, 3, 8);
                let mut b = stream.clone_htod(&dense.times(&wanted).stored::<T>(layout, 0))?;
                let mut c = stream.alloc_zeros::<T>(12)?;
                let b_view = Matrix::new(layout, &b, 4, 3)?;
                let mut c_view = MatrixMut::new(layout, &mut c, 4, 3)?;
                blas.sparse_sm(T::of(ONE), &solver, &b_view, &mut c_view)?;
                let mut b_view = MatrixMut::new(layout, &mut b, 4, 3)?;
                blas.sparse_sm_in_place(T::of(ONE), &solver, &mut b_view)?;
                for result in [&b, &c] {
                    let seen = stream.clone_dtoh(result)?;
                    assert_eq!(Dense::from_stored(layout, 4, 3, 0, &seen), wanted);
                }
            }
        }
    }
    Ok(())
}

#[test]
fn solutions_are_right() -> Result<()> {
    for layout in [Layout::ROWS, Layout::COLUMNS] {
        solutions::<f32>(layout)?;
        solutions::<f64>(layout)?;
        solutions::<Complex<f32>>(layout)?;
        solutions::<Complex<f64>>(layout)?;
    }
    Ok(())
}

#[test]
fn sizes_are_checked() -> Result<()> {
    let stream = context().default_stream()?;
    let blas = Blas::new(&stream, Layout::ROWS)?;
    let indices = stream.clone_htod(&[0i32, 1, 2])?;
    let values = stream.clone_htod(&[1.0f32, 2.0])?;
    let bounds = Status::ERROR_OUT_OF_BOUNDS;
    let wrong = Status::ERROR_INVALID_ARGUMENT;
    expect_error(
        SparseMatrix::csr(3, 3, &indices, &indices, &values),
        bounds,
        "the first index array of a sparse matrix needs 4 elements; there are 3",
    );
    expect_error(
        SparseMatrix::csr(usize::MAX, 3, &indices, &indices, &values),
        bounds,
        "needs more than 2^64 elements",
    );
    let few = stream.clone_htod(&[0i32])?;
    expect_error(
        SparseMatrix::csr(2, 3, &indices, &few, &values),
        bounds,
        "the second index array of a sparse matrix needs 2 elements; there are 1",
    );
    let a = SparseMatrix::csr(2, 3, &indices, &indices, &values)?;
    let x = stream.alloc_zeros::<f32>(5)?;
    let mut y = stream.alloc_zeros::<f32>(2)?;
    expect_error(blas.sparse_mv(1.0, &a, &x, 0.0, &mut y), wrong, "the length of x is 5");
    let backward = Vector::strided(&x, 3, -2)?;
    expect_error(
        blas.sparse_mv(1.0, &a, &backward, 0.0, &mut y),
        wrong,
        "the increment of x is -2",
    );
    expect_error(
        a.triangular(Triangle::LOWER, Diagonal::UNIT),
        wrong,
        "a triangular matrix must be square; this one is 2 x 3",
    );
    let every_second = Vector::strided(&x, 3, 2)?;
    let mut one = VectorMut::new(&mut y)?;
    blas.sparse_mv(1.0, &a, &every_second, 0.0, &mut one)?;
    Ok(())
}

#[test]
fn wrong_indices_end_the_context() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let offsets = stream.clone_htod(&[0i32, 1])?;
    let columns = stream.clone_htod(&[77i32])?;
    let values = stream.clone_htod(&[1.0f32])?;
    let a = SparseMatrix::csr(1, 1, &offsets, &columns, &values)?;
    let x = stream.clone_htod(&[1.0f32])?;
    let mut y = stream.alloc_zeros::<f32>(1)?;
    Blas::new(&stream, Layout::ROWS)?.sparse_mv(1.0, &a, &x, 0.0, &mut y)?;
    let text = "a column index of row 0 in device memory is 77";
    expect_error(stream.synchronize(), Status::ERROR_ILLEGAL_ADDRESS, text);
    Ok(())
}
