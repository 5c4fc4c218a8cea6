//! BLAS of level 1, 2 and 3, in the order of a stream.
//!
//! Vectors and matrices are views of device memory that carry their sizes, increments and leading
//! dimensions. They are checked against the memory when they are made, and sizes that do not go
//! together are an error with both values, so calls have no sizes of their own:
//!
//! ```
//! use kernelmill::blas::{Blas, Layout, Matrix, MatrixMut};
//!
//! # fn main() -> kernelmill::Result<()> {
//! # let context = kernelmill::Context::open("cpu")?;
//! let stream = context.default_stream()?;
//! let blas = Blas::new(&stream, Layout::ROWS)?;
//! let a = stream.clone_htod(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let mut c = stream.alloc_zeros::<f32>(4)?;
//! let a = Matrix::new(Layout::ROWS, &a, 2, 3)?;
//! // C = 1 A A^T + 0 C
//! let mut product = MatrixMut::new(Layout::ROWS, &mut c, 2, 2)?;
//! blas.gemm(1.0, &a, &a.transposed(), 0.0, &mut product)?;
//! // y = 2 x + y, for the two rows of C
//! let (x, mut y) = product.split_at_row(1)?;
//! blas.axpy(2.0, &x.row(0)?, &mut y.row_mut(0)?)?;
//! assert_eq!(stream.clone_dtoh(&c)?, [14.0, 32.0, 60.0, 141.0]);
//! # Ok(())
//! # }
//! ```
//!
//! All calls have in common:
//!
//! - They join the stream of the [`Blas`] object and return at once; what they use is kept until
//!   they are done. Results of reductions go to device memory.
//! - Scalars are numbers of the host, of the elements' type where nothing else is said.
//! - Vectors with a negative increment begin at their end. A `beta` of 0 overwrites, and does not
//!   read what was there.
//! - Errors, beside those of views: [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) where sizes or
//!   layouts do not go together, a size is beyond 2^31 - 1, or an array that is written shares
//!   elements with another; `ERROR_CONTEXT_MISMATCH` for slices of a context that the stream's
//!   cannot reach; `ERROR_CONTEXT_LOST` after a reset; `ERROR_NOT_PERMITTED` where an array that is
//!   written lies in a file mapped read-only; `ERROR_BLAS_UNAVAILABLE` where the BLAS library is
//!   missing, with what to install; and the sticky error of the context.
//!
//! A vector cannot be read and written by one call:
//!
//! ```compile_fail,E0502
//! # use kernelmill::blas::{Blas, Layout};
//! # fn main() -> kernelmill::Result<()> {
//! # let context = kernelmill::Context::open("cpu")?;
//! # let stream = context.default_stream()?;
//! # let blas = Blas::new(&stream, Layout::ROWS)?;
//! let mut x = stream.clone_htod(&[1.0f32, 2.0])?;
//! blas.copy(&x, &mut x)?; // error: borrowed twice
//! # Ok(())
//! # }
//! ```
//!
//! Routines are only there for types that have them:
//!
//! ```compile_fail,E0277
//! # use kernelmill::blas::{Blas, Layout};
//! # fn main() -> kernelmill::Result<()> {
//! # let context = kernelmill::Context::open("cpu")?;
//! # let stream = context.default_stream()?;
//! # let blas = Blas::new(&stream, Layout::ROWS)?;
//! let mut x = stream.clone_htod(&[1i32, 2])?;
//! blas.scal(2, &mut x)?; // error: there is no BLAS for integers
//! # Ok(())
//! # }
//! ```

use std::ptr::null_mut;

use crate::error::check;
use crate::{Error, Result, Status, Stream, sys};

mod band;
mod batch;
mod level1;
mod level2;
mod level3;
mod matrix;
mod number;
mod place;
mod rotation;
mod solve;
mod sparse;
mod vector;

pub use band::{BandMatrix, BandTriangle, PackedTriangle, PackedTriangleMut};
pub use batch::{MatrixBatch, MatrixBatchMut};
pub use matrix::{AsMatrix, Matrix, MatrixMut, MatrixOperand, Symmetric, Transposed, Triangular};
pub use number::{Bf16, Complex, F16, GemmNumber, Number, Real};
pub use rotation::{ModifiedRotation, Rotation, rotg, rotmg};
pub use solve::{AsBatch, AsBatchMut, Pivots};
pub use sparse::{SparseFormat, SparseIndex, SparseMatrix};
pub(crate) use vector::offset_of;
pub use vector::{AsVector, AsVectorMut, Vector, VectorMut};

/// The order of a matrix's elements in memory, [`km_blas_layout`](sys::km_blas_layout): `Layout::ROWS`.
pub use sys::km_blas_layout as Layout;

/// The operation on a matrix before it is multiplied,
/// [`km_blas_operation`](sys::km_blas_operation): `Operation::TRANSPOSE`.
pub use sys::km_blas_operation as Operation;

/// Which triangle of a matrix counts, [`km_blas_triangle`](sys::km_blas_triangle):
/// `Triangle::LOWER`.
pub use sys::km_blas_triangle as Triangle;

/// The diagonal of a triangular matrix, stored or all ones,
/// [`km_blas_diagonal`](sys::km_blas_diagonal): `Diagonal::UNIT`.
pub use sys::km_blas_diagonal as Diagonal;

/// On which side of a product a matrix stands, [`km_blas_side`](sys::km_blas_side): `Side::LEFT`.
pub use sys::km_blas_side as Side;

/// BLAS calls in a stream, for matrices of one layout. It keeps the stream, and dropping it does not
/// wait: queued calls run to their end.
#[derive(Debug)]
pub struct Blas {
    raw: sys::km_blas,
    layout: Layout,
}

// SAFETY: base.h says "Threads: any" of every km_blas_... function: any number of threads
// may call them at once, also on the same object.
unsafe impl Send for Blas {}
// SAFETY: the same.
unsafe impl Sync for Blas {}

impl Blas {
    /// An object for BLAS calls in this stream; all matrices that it is given have this layout.
    /// Does not block. Fails where the backend has no BLAS (`ERROR_NOT_SUPPORTED`); the library
    /// that runs the calls is looked for at the first one.
    /// C: [`km_blas_create`](sys::km_blas_create).
    pub fn new(stream: &Stream, layout: Layout) -> Result<Self> {
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_blas_create(stream.as_raw(), layout, &mut raw) })?;
        Ok(Self { raw, layout })
    }

    /// Takes over a handle of the C ABI that was made for this layout.
    ///
    /// # Safety
    ///
    /// Nobody else may destroy the handle.
    pub unsafe fn from_raw(raw: sys::km_blas, layout: Layout) -> Self {
        Self { raw, layout }
    }

    /// The handle, for calls of [`sys`]; it stays this object's.
    pub fn as_raw(&self) -> sys::km_blas {
        self.raw
    }

    /// The layout of all matrices.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Checks that a matrix has the object's layout.
    fn take(&self, call: &str, name: &str, layout: Layout) -> Result<()> {
        require(layout == self.layout, || {
            let (given, own) = (layout_name(layout), layout_name(self.layout));
            format!("{call}: {name} is stored by {given}, and this BLAS object takes {own}")
        })
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        // SAFETY: the handle is this object's own, and destroying it twice is no danger.
        unsafe { sys::km_blas_destroy(self.raw) };
    }
}

fn layout_name(layout: Layout) -> &'static str {
    match layout {
        Layout::ROWS => "rows",
        Layout::COLUMNS => "columns",
        _ => "no known layout",
    }
}

/// Fails with ERROR_INVALID_ARGUMENT unless the condition holds.
fn require(condition: bool, message: impl FnOnce() -> String) -> Result<()> {
    if condition { Ok(()) } else { Err(Error::new(Status::ERROR_INVALID_ARGUMENT, message())) }
}

/// Checks that two sizes of a call's arrays are equal.
fn same(call: &str, one: (&str, usize), other: (&str, usize)) -> Result<()> {
    require(one.1 == other.1, || {
        format!("{call}: {} is {} and {} is {}; they must be equal", one.0, one.1, other.0, other.1)
    })
}

/// Checks that an array of so many elements, if that is a number at all, fits its memory.
pub(crate) fn fits(what: impl FnOnce() -> String, needed: Option<usize>, len: usize) -> Result<()> {
    if needed.is_some_and(|needed| needed <= len) {
        return Ok(());
    }
    let needed = needed.map_or("more than 2^64".to_string(), |needed| needed.to_string());
    let message = format!("{} needs {needed} elements; there are {len}", what());
    Err(Error::new(Status::ERROR_OUT_OF_BOUNDS, message))
}

/// One call of the C ABI with this object and type of elements.
macro_rules! call {
    ($blas:expr, $number:ty, $function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: handles are checked ids; arrays are checked against their memory; scalars are of
        // the type that the routine reads, and live through the call.
        $crate::error::check(unsafe {
            $crate::sys::$function($blas.raw, <$number>::TYPE, $($argument),*)
        })
    };
}
use call;

/// The address of a scalar, for the C ABI.
fn scalar<T>(value: &T) -> *const std::ffi::c_void {
    std::ptr::from_ref(value).cast()
}
