//! Places of matrices in memory, and the memory that they need.

use std::ops::{Bound, RangeBounds};

use super::vector::{VectorPlace, offset_of};
use super::{Layout, fits, require};
use crate::view::Place;
use crate::{Error, Pod, Result, Status, sys};

/// The place of a matrix's elements.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct MatrixPlace {
    pub(super) raw: sys::km_blas_matrix,
    pub(super) layout: Layout,
    pub(super) rows: usize,
    pub(super) columns: usize,
}

impl MatrixPlace {
    fn by_rows(&self) -> bool {
        self.layout == Layout::ROWS
    }

    /// Elements from one row to the next, and from one column to the next.
    fn steps(&self) -> (u64, u64) {
        let leading = self.raw.leading_dimension;
        if self.by_rows() { (leading, 1) } else { (1, leading) }
    }

    pub fn row(&self, row: usize) -> Result<VectorPlace> {
        lies_within("row", row, self.rows)?;
        let line = self.part(row..=row, ..)?;
        Ok(line.vector(self.columns, self.steps().1))
    }

    pub fn column(&self, column: usize) -> Result<VectorPlace> {
        lies_within("column", column, self.columns)?;
        let line = self.part(.., column..=column)?;
        Ok(line.vector(self.rows, self.steps().0))
    }

    fn vector(&self, len: usize, step: u64) -> VectorPlace {
        let raw = sys::km_blas_vector {
            slice: self.raw.slice,
            address: 0,
            offset: self.raw.offset,
            increment: i64::try_from(step).unwrap_or(i64::MAX),
        };
        VectorPlace { raw, len }
    }

    pub fn part(
        &self,
        rows: impl RangeBounds<usize>,
        columns: impl RangeBounds<usize>,
    ) -> Result<Self> {
        let (first_row, rows) = within("rows", rows, self.rows)?;
        let (first_column, columns) = within("columns", columns, self.columns)?;
        let (row_step, column_step) = self.steps();
        let mut raw = self.raw;
        if rows != 0 && columns != 0 {
            // They lie within the matrix, whose elements can be counted.
            raw.offset += first_row as u64 * row_step + first_column as u64 * column_step;
        }
        Ok(Self { raw, rows, columns, layout: self.layout })
    }

    pub fn require_square(&self, what: &str) -> Result<()> {
        let (rows, columns) = (self.rows, self.columns);
        require(rows == columns, || {
            format!("{what} must be square; this one is {rows} x {columns}")
        })
    }
}

fn lies_within(what: &str, index: usize, count: usize) -> Result<()> {
    if index < count {
        return Ok(());
    }
    let message = format!("{what} {index} of a matrix that has {count}, counted from 0");
    Err(Error::new(Status::ERROR_OUT_OF_BOUNDS, message))
}

/// First element and count of a range within so many.
fn within(what: &str, range: impl RangeBounds<usize>, count: usize) -> Result<(usize, usize)> {
    let first = match range.start_bound() {
        Bound::Included(first) => Some(*first),
        Bound::Excluded(before) => before.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let end = match range.end_bound() {
        Bound::Included(last) => last.checked_add(1),
        Bound::Excluded(end) => Some(*end),
        Bound::Unbounded => Some(count),
    };
    match (first, end) {
        (Some(first), Some(end)) if first <= end && end <= count => Ok((first, end - first)),
        _ => {
            let (start, end) = (range.start_bound(), range.end_bound());
            let message = format!("{what} {start:?} to {end:?} of a matrix that has {count}");
            Err(Error::new(Status::ERROR_OUT_OF_BOUNDS, message))
        }
    }
}

/// Sizes of a matrix in memory.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub layout: Layout,
    pub rows: usize,
    pub columns: usize,
    pub lines: usize,
    pub line_len: usize,
    pub leading_dimension: usize,
}

impl Shape {
    pub fn dense(layout: Layout, rows: usize, columns: usize) -> Result<Self> {
        let line_len = if layout == Layout::ROWS { columns } else { rows };
        Self::lines(layout, rows, columns, line_len)
    }

    /// A matrix of which each line has this many elements in memory.
    pub fn lines(layout: Layout, rows: usize, columns: usize, line_len: usize) -> Result<Self> {
        let lines = match layout {
            Layout::ROWS => rows,
            Layout::COLUMNS => columns,
            Layout(value) => {
                let message = format!("layout is {value}; it can be 1 (rows) or 2 (columns)");
                return Err(Error::new(Status::ERROR_INVALID_ARGUMENT, message));
            }
        };
        Ok(Self { layout, rows, columns, lines, line_len, leading_dimension: line_len.max(1) })
    }

    pub fn with_leading_dimension(self, leading_dimension: usize) -> Result<Self> {
        require(leading_dimension >= self.leading_dimension, || {
            let least = self.leading_dimension;
            format!("the leading dimension is {leading_dimension}; lines have {least} elements")
        })?;
        Ok(Self { leading_dimension, ..self })
    }

    /// From the first element to the last; none: more than can be counted.
    pub fn extent(&self) -> Option<usize> {
        match self.lines.checked_sub(1) {
            Some(steps) if self.line_len != 0 => {
                steps.checked_mul(self.leading_dimension)?.checked_add(self.line_len)
            }
            _ => Some(0),
        }
    }

    /// The place of `count` such matrices, `stride` elements from one to the next, in memory that
    /// has them all.
    pub fn place<T: Pod>(&self, memory: Place, count: usize, stride: usize) -> Result<MatrixPlace> {
        let needed = match (self.extent(), count.checked_sub(1)) {
            (_, None) | (Some(0), _) => Some(0),
            (one, Some(further)) => {
                further.checked_mul(stride).and_then(|before| before.checked_add(one?))
            }
        };
        fits(|| self.describe(count, stride), needed, memory.len)?;
        let raw = sys::km_blas_matrix {
            slice: memory.slice.addr() as u64,
            address: 0,
            offset: offset_of::<T>(memory)?,
            leading_dimension: self.leading_dimension as u64,
            stride: stride as u64,
        };
        Ok(MatrixPlace { raw, layout: self.layout, rows: self.rows, columns: self.columns })
    }

    fn describe(&self, count: usize, stride: usize) -> String {
        let Self { rows, columns, leading_dimension, .. } = self;
        let one = format!("{rows} x {columns} matrix with leading dimension {leading_dimension}");
        if count == 1 {
            format!("a {one}")
        } else {
            format!("{count} times a {one}, {stride} apart,")
        }
    }
}
