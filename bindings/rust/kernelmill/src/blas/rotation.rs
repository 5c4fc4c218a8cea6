//! Rotations, which are computed from a few numbers of the host.

use std::ffi::c_void;

use super::{Number, Real};
use crate::error::check;
use crate::{Result, sys};

/// The result of [`rotg`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rotation<T: Number> {
    /// The first number afterwards; the second one is 0.
    pub r: T,
    /// For real numbers the one number that `c` and `s` can be found from; else the second number.
    pub z: T,
    /// The cosine.
    pub c: T::Real,
    /// The sine.
    pub s: T,
}

/// The result of [`rotmg`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModifiedRotation<T: Real> {
    /// The factor under the root of the first number.
    pub d1: T,
    /// The factor under the root of the second number.
    pub d2: T,
    /// The first number; the second one becomes 0.
    pub x1: T,
    /// The argument of [`Blas::rotm`](super::Blas::rotm): a flag, h11, h21, h12, h22. Those that the
    /// flag implies are 0.
    pub parameters: [T; 5],
}

/// The rotation that turns (a, b) into (r, 0), computed on the host at once.
/// C: [`km_blas_rotg`](sys::km_blas_rotg).
///
/// ```
/// # fn main() -> kernelmill::Result<()> {
/// let rotation = kernelmill::blas::rotg(3.0f64, 4.0)?;
/// assert_eq!((rotation.r, rotation.c, rotation.s), (5.0, 0.6, 0.8));
/// # Ok(())
/// # }
/// ```
pub fn rotg<T: Number>(a: T, b: T) -> Result<Rotation<T>> {
    let (mut r, mut z, mut s) = (a, b, b);
    let mut c = zero::<T::Real>();
    // SAFETY: all four live through the call, and have the types that it reads and writes.
    check(unsafe {
        sys::km_blas_rotg(T::TYPE, place(&mut r), place(&mut z), place(&mut c), place(&mut s))
    })?;
    Ok(Rotation { r, z, c, s })
}

/// The modified rotation that turns (sqrt(d1) x1, sqrt(d2) y1) so that the second number becomes 0,
/// computed on the host at once. C: [`km_blas_rotmg`](sys::km_blas_rotmg).
pub fn rotmg<T: Real>(d1: T, d2: T, x1: T, y1: T) -> Result<ModifiedRotation<T>> {
    let mut result = ModifiedRotation { d1, d2, x1, parameters: [zero::<T>(); 5] };
    // SAFETY: all of them live through the call, and have the type that it reads and writes.
    check(unsafe {
        sys::km_blas_rotmg(
            T::TYPE,
            place(&mut result.d1),
            place(&mut result.d2),
            place(&mut result.x1),
            super::scalar(&y1),
            place(&mut result.parameters),
        )
    })?;
    Ok(result)
}

fn zero<T: Real>() -> T {
    // SAFETY: the type is plain data, of which every pattern of bits is a value.
    unsafe { std::mem::zeroed() }
}

fn place<T>(value: &mut T) -> *mut c_void {
    std::ptr::from_mut(value).cast()
}
