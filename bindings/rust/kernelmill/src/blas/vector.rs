//! Vectors: elements at equal distances.

use std::marker::PhantomData;
use std::mem::size_of;

use super::{fits, require};
use crate::view::Place;
use crate::{DeviceSlice, DeviceSliceMut, Pod, Result, Slice, sys};

/// The place of a vector's elements.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct VectorPlace {
    pub(super) raw: sys::km_blas_vector,
    pub(super) len: usize,
}

pub(super) mod sealed {
    pub trait HasVector<T> {
        #[doc(hidden)]
        fn vector(&self) -> crate::Result<super::VectorPlace>;
    }
}
use sealed::HasVector;

/// Views that are read as a vector: [`Slice`], [`View`](crate::View), [`ViewMut`](crate::ViewMut) with
/// all of their elements, [`Vector`], [`VectorMut`].
pub trait AsVector<T: Pod>: HasVector<T> {}

/// Views that are written as a vector: [`Slice`], [`ViewMut`](crate::ViewMut), [`VectorMut`].
pub trait AsVectorMut<T: Pod>: AsVector<T> {}

/// Elements of a slice at equal distances, to be read.
///
/// ```
/// use kernelmill::blas::{Blas, Layout, Vector};
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// let stream = context.default_stream()?;
/// let numbers = stream.clone_htod(&[1.0f64, 2.0, 3.0, 4.0, 5.0])?;
/// let mut backward = stream.alloc_zeros::<f64>(3)?;
/// let every_second = Vector::strided(&numbers, 3, -2)?; // from its end
/// Blas::new(&stream, Layout::ROWS)?.copy(&every_second, &mut backward)?;
/// assert_eq!(stream.clone_dtoh(&backward)?, [5.0, 3.0, 1.0]);
/// # Ok(())
/// # }
/// ```
///
/// A vector does not outlive its memory:
///
/// ```compile_fail,E0505
/// # use kernelmill::blas::{Blas, Layout, Vector};
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// # let stream = context.default_stream()?;
/// # let mut y = context.alloc_zeros::<f32>(3)?;
/// let numbers = context.alloc_zeros::<f32>(5)?;
/// let x = Vector::strided(&numbers, 3, 2)?;
/// drop(numbers); // error: `x` is used later
/// Blas::new(&stream, Layout::ROWS)?.copy(&x, &mut y)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Vector<'a, T: Pod> {
    place: VectorPlace,
    borrow: PhantomData<&'a Slice<T>>,
}

/// Elements of a slice at equal distances, to be written; no other view reaches them.
#[derive(Debug)]
pub struct VectorMut<'a, T: Pod> {
    place: VectorPlace,
    borrow: PhantomData<&'a mut Slice<T>>,
}

impl<'a, T: Pod> Vector<'a, T> {
    /// All elements.
    pub fn new(slice: &'a impl DeviceSlice<T>) -> Result<Self> {
        Ok(Self::of(whole::<T>(slice.place())?))
    }

    /// `len` elements, from one to the next `increment` further, beginning with the first one in
    /// memory, or, when `increment` is negative, with the last one. Fails with `ERROR_OUT_OF_BOUNDS`
    /// where they are not all there, and with `ERROR_INVALID_ARGUMENT` for an increment of 0.
    pub fn strided(slice: &'a impl DeviceSlice<T>, len: usize, increment: i64) -> Result<Self> {
        Ok(Self::of(strided::<T>(slice.place(), len, increment)?))
    }

    pub(super) fn of(place: VectorPlace) -> Self {
        Self { place, borrow: PhantomData }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.place.len
    }

    /// True when the vector has no elements.
    pub fn is_empty(&self) -> bool {
        self.place.len == 0
    }

    /// The distance from one element to the next; 1: they lie side by side.
    pub fn increment(&self) -> i64 {
        self.place.raw.increment
    }
}

impl<'a, T: Pod> VectorMut<'a, T> {
    /// All elements.
    pub fn new(slice: &'a mut impl DeviceSliceMut<T>) -> Result<Self> {
        Ok(Self::of(whole::<T>(slice.place())?))
    }

    /// A vector to be written, under the rules of [`Vector::strided`].
    pub fn strided(
        slice: &'a mut impl DeviceSliceMut<T>,
        len: usize,
        increment: i64,
    ) -> Result<Self> {
        Ok(Self::of(strided::<T>(slice.place(), len, increment)?))
    }

    pub(super) fn of(place: VectorPlace) -> Self {
        Self { place, borrow: PhantomData }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.place.len
    }

    /// True when the vector has no elements.
    pub fn is_empty(&self) -> bool {
        self.place.len == 0
    }

    /// The distance from one element to the next; 1: they lie side by side.
    pub fn increment(&self) -> i64 {
        self.place.raw.increment
    }

    /// This vector, to be read.
    pub fn as_vector(&self) -> Vector<'_, T> {
        Vector::of(self.place)
    }
}

/// The number of elements before the first of a place.
pub(crate) fn offset_of<T: Pod>(place: Place) -> Result<u64> {
    let (offset, size) = (place.offset_bytes, size_of::<T>() as u64);
    require(size != 0 && offset % size == 0, || {
        format!("the view begins {offset} bytes into its slice, no multiple of an element's {size}")
    })?;
    Ok(offset / size)
}

fn whole<T: Pod>(place: Place) -> Result<VectorPlace> {
    strided::<T>(place, place.len, 1)
}

fn strided<T: Pod>(place: Place, len: usize, increment: i64) -> Result<VectorPlace> {
    require(increment != 0, || format!("a vector of {len} elements has the increment 0"))?;
    let needed = match (len.checked_sub(1), usize::try_from(increment.unsigned_abs())) {
        (None, _) => Some(0),
        (Some(steps), Ok(step)) => steps.checked_mul(step).and_then(|last| last.checked_add(1)),
        (Some(_), Err(_)) => None,
    };
    fits(|| format!("a vector of {len} elements with increment {increment}"), needed, place.len)?;
    let raw = sys::km_blas_vector {
        slice: place.slice.addr() as u64,
        address: 0,
        offset: offset_of::<T>(place)?,
        increment,
    };
    Ok(VectorPlace { raw, len })
}

impl<T: Pod, S: DeviceSlice<T>> HasVector<T> for S {
    fn vector(&self) -> Result<VectorPlace> {
        whole::<T>(self.place())
    }
}
impl<T: Pod> HasVector<T> for Vector<'_, T> {
    fn vector(&self) -> Result<VectorPlace> {
        Ok(self.place)
    }
}
impl<T: Pod> HasVector<T> for VectorMut<'_, T> {
    fn vector(&self) -> Result<VectorPlace> {
        Ok(self.place)
    }
}
impl<T: Pod, S: DeviceSlice<T>> AsVector<T> for S {}
impl<T: Pod> AsVector<T> for Vector<'_, T> {}
impl<T: Pod> AsVector<T> for VectorMut<'_, T> {}
impl<T: Pod, S: DeviceSliceMut<T>> AsVectorMut<T> for S {}
impl<T: Pod> AsVectorMut<T> for VectorMut<'_, T> {}
