//! Level 1: vectors.

use super::vector::VectorPlace;
use super::{AsVector, AsVectorMut, Blas, Number, Real, call, require, same, scalar};
use crate::view::Place;
use crate::{DeviceSliceMut, Pod, Result, sys};

impl Blas {
    /// y = alpha x + y. C: [`km_blas_axpy`](sys::km_blas_axpy).
    pub fn axpy<T: Number>(
        &self,
        alpha: T,
        x: &impl AsVector<T>,
        y: &mut impl AsVectorMut<T>,
    ) -> Result<()> {
        let (n, x, y) = pair("axpy", x, y)?;
        call!(self, T, km_blas_axpy(n, scalar(&alpha), &x, &y))
    }

    /// x = alpha x. C: [`km_blas_scal`](sys::km_blas_scal).
    pub fn scal<T: Number>(&self, alpha: T, x: &mut impl AsVectorMut<T>) -> Result<()> {
        let VectorPlace { raw, len } = x.vector()?;
        call!(self, T, km_blas_scal(len as u64, scalar(&alpha), &raw))
    }

    /// y = x. C: [`km_blas_copy`](sys::km_blas_copy).
    pub fn copy<T: Number>(&self, x: &impl AsVector<T>, y: &mut impl AsVectorMut<T>) -> Result<()> {
        let (n, x, y) = pair("copy", x, y)?;
        call!(self, T, km_blas_copy(n, &x, &y))
    }

    /// Exchanges x and y. C: [`km_blas_swap`](sys::km_blas_swap).
    pub fn swap<T: Number>(
        &self,
        x: &mut impl AsVectorMut<T>,
        y: &mut impl AsVectorMut<T>,
    ) -> Result<()> {
        let (n, x, y) = pair("swap", x, y)?;
        call!(self, T, km_blas_swap(n, &x, &y))
    }

    /// result = the sum of `x_i y_i`; `result` has one element.
    /// C: [`km_blas_dot`](sys::km_blas_dot).
    pub fn dot<T: Number>(
        &self,
        x: &impl AsVector<T>,
        y: &impl AsVector<T>,
        result: &mut impl DeviceSliceMut<T>,
    ) -> Result<()> {
        let (n, x, y) = pair("dot", x, y)?;
        let result = one_element::<T>("dot", result.place())?;
        call!(self, T, km_blas_dot(n, &x, &y, &result))
    }

    /// result = the sum of `conj(x_i) y_i`; `result` has one element.
    /// C: [`km_blas_dotc`](sys::km_blas_dotc).
    pub fn dotc<T: Number>(
        &self,
        x: &impl AsVector<T>,
        y: &impl AsVector<T>,
        result: &mut impl DeviceSliceMut<T>,
    ) -> Result<()> {
        let (n, x, y) = pair("dotc", x, y)?;
        let result = one_element::<T>("dotc", result.place())?;
        call!(self, T, km_blas_dotc(n, &x, &y, &result))
    }

    /// result = the Euclidean norm of x; `result` has one element, a real one.
    /// C: [`km_blas_nrm2`](sys::km_blas_nrm2).
    pub fn nrm2<T: Number>(
        &self,
        x: &impl AsVector<T>,
        result: &mut impl DeviceSliceMut<T::Real>,
    ) -> Result<()> {
        let VectorPlace { raw, len } = x.vector()?;
        let result = one_element::<T::Real>("nrm2", result.place())?;
        call!(self, T, km_blas_nrm2(len as u64, &raw, &result))
    }

    /// result = the sum of the magnitudes in x, for complex numbers those of both parts; `result`
    /// has one element, a real one. C: [`km_blas_asum`](sys::km_blas_asum).
    pub fn asum<T: Number>(
        &self,
        x: &impl AsVector<T>,
        result: &mut impl DeviceSliceMut<T::Real>,
    ) -> Result<()> {
        let VectorPlace { raw, len } = x.vector()?;
        let result = one_element::<T::Real>("asum", result.place())?;
        call!(self, T, km_blas_asum(len as u64, &raw, &result))
    }

    /// result = the index, from 0, of the first element of x with the largest magnitude, for complex
    /// numbers the sum of those of both parts; `u64::MAX` where x is empty. `result` has one element;
    /// x has a positive increment. C: [`km_blas_iamax`](sys::km_blas_iamax).
    pub fn iamax<T: Number>(
        &self,
        x: &impl AsVector<T>,
        result: &mut impl DeviceSliceMut<u64>,
    ) -> Result<()> {
        let VectorPlace { raw, len } = x.vector()?;
        let result = one_element::<u64>("iamax", result.place())?;
        call!(self, T, km_blas_iamax(len as u64, &raw, &result))
    }

    /// A plane rotation: `x_i = c x_i + s y_i, y_i = c y_i - s x_i`, with real `c` and `s`, as
    /// [`rotg`](super::rotg) gives them. C: [`km_blas_rot`](sys::km_blas_rot).
    pub fn rot<T: Number>(
        &self,
        x: &mut impl AsVectorMut<T>,
        y: &mut impl AsVectorMut<T>,
        c: T::Real,
        s: T::Real,
    ) -> Result<()> {
        let (n, x, y) = pair("rot", x, y)?;
        call!(self, T, km_blas_rot(n, &x, &y, scalar(&c), scalar(&s)))
    }

    /// A modified plane rotation by the parameters that [`rotmg`](super::rotmg) gives: a flag (-2,
    /// -1, 0 or 1), h11, h21, h12, h22. C: [`km_blas_rotm`](sys::km_blas_rotm).
    pub fn rotm<T: Real>(
        &self,
        x: &mut impl AsVectorMut<T>,
        y: &mut impl AsVectorMut<T>,
        parameters: &[T; 5],
    ) -> Result<()> {
        let (n, x, y) = pair("rotm", x, y)?;
        call!(self, T, km_blas_rotm(n, &x, &y, scalar(parameters)))
    }
}

/// The length that two vectors have, and both.
fn pair<T: Pod>(
    call: &str,
    x: &impl AsVector<T>,
    y: &impl AsVector<T>,
) -> Result<(u64, sys::km_blas_vector, sys::km_blas_vector)> {
    let (x, y) = (x.vector()?, y.vector()?);
    same(call, ("the length of x", x.len), ("that of y", y.len))?;
    Ok((x.len as u64, x.raw, y.raw))
}

/// The place of a result.
fn one_element<T: Pod>(call: &str, place: Place) -> Result<sys::km_blas_vector> {
    let len = place.len;
    require(len == 1, || {
        format!("{call}: the result has {len} elements; it must be a view of one")
    })?;
    Ok(sys::km_blas_vector {
        slice: place.slice.addr() as u64,
        address: 0,
        offset: super::vector::offset_of::<T>(place)?,
        increment: 1,
    })
}
