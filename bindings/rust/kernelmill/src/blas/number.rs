//! The types of elements.

use std::fmt::Debug;

use crate::{DeviceType, ElementType, Pod, sys};

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// Elements that all of BLAS has: `f32`, `f64`, and [`Complex`] of them.
pub trait Number: GemmNumber<Scalar = Self> {
    /// Real numbers of the same width: `f32` for `f32` and `Complex<f32>`.
    type Real: Real;
}

/// Real elements: `f32` and `f64`.
pub trait Real: Number<Real = Self> {}

/// Elements of matrix products: those of [`Number`], and [`F16`] and [`Bf16`].
pub trait GemmNumber: Pod + PartialEq + Debug + Sealed {
    /// The type of `alpha` and `beta`: `f32` for 16-bit elements, else that of the elements.
    type Scalar: Pod;
    #[doc(hidden)]
    const TYPE: sys::km_data_type;
}

/// A complex number: the real part first, as C, C++ and Fortran have it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Complex<T> {
    /// The real part.
    pub re: T,
    /// The imaginary part.
    pub im: T,
}

impl<T> Complex<T> {
    /// A number of these parts.
    pub const fn new(re: T, im: T) -> Self {
        Self { re, im }
    }
}

// SAFETY: two numbers without padding; all patterns are values.
unsafe impl Pod for Complex<f32> {}
// SAFETY: the same.
unsafe impl Pod for Complex<f64> {}
// SAFETY: the same.
unsafe impl Pod for Complex<F16> {}
// SAFETY: the same.
unsafe impl Pod for Complex<Bf16> {}
#[cfg(feature = "half")]
// SAFETY: the same.
unsafe impl Pod for Complex<::half::f16> {}
#[cfg(feature = "half")]
// SAFETY: the same.
unsafe impl Pod for Complex<::half::bf16> {}

/// A number of 16 bits as IEEE 754 defines it (binary16), by its bits.
///
/// ```
/// use kernelmill::blas::F16;
/// assert_eq!(F16::from_f32(1.5).to_f32(), 1.5);
/// assert_eq!(F16::from_f32(65520.0).to_f32(), f32::INFINITY);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct F16(pub u16);

/// The upper 16 bits of an `f32` (bfloat16), by its bits.
///
/// ```
/// use kernelmill::blas::Bf16;
/// assert_eq!(Bf16::from_f32(-3.0).to_f32(), -3.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Bf16(pub u16);

// SAFETY: a number has no padding, and all patterns are values.
unsafe impl Pod for F16 {
    const DEVICE_TYPE: DeviceType = DeviceType::scalar(ElementType::F16);
}
// SAFETY: the same.
unsafe impl Pod for Bf16 {
    const DEVICE_TYPE: DeviceType = DeviceType::scalar(ElementType::BF16);
}

impl F16 {
    /// The nearest number, of two the one with an even last bit; too large ones become infinite,
    /// NaNs stay NaNs.
    pub fn from_f32(value: f32) -> Self {
        let bits = value.to_bits();
        let sign = ((bits >> 16) & 0x8000) as u16;
        let magnitude = bits & 0x7fff_ffff;
        let rounded = match magnitude {
            0x7f80_0001.. => 0x7e00,
            0x4780_0000.. => 0x7c00, // 2^16 and more, infinity
            // 2^-14 and more: the exponent is counted from there. A carry goes into the exponent.
            0x3880_0000.. => round(magnitude - 0x3800_0000, 13),
            // Multiples of 2^-24, which adding 0.5 rounds to: its last bit is worth that much.
            _ => (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits()),
        };
        Self(sign | rounded as u16)
    }

    /// The number as `f32`, which holds it exactly.
    pub fn to_f32(self) -> f32 {
        let sign = u32::from(self.0 & 0x8000) << 16;
        let magnitude = u32::from(self.0 & 0x7fff);
        let bits = match magnitude {
            0x7c00.. => (magnitude << 13) | 0x7f80_0000,
            0x0400.. => (magnitude << 13) + 0x3800_0000,
            _ => (magnitude as f32 / 16_777_216.0).to_bits(), // multiples of 2^-24
        };
        f32::from_bits(sign | bits)
    }
}

impl Bf16 {
    /// The nearest number, of two the one with an even last bit; too large ones become infinite,
    /// NaNs stay NaNs.
    pub fn from_f32(value: f32) -> Self {
        let bits = value.to_bits();
        if value.is_nan() {
            return Self((bits >> 16) as u16 | 0x40);
        }
        Self(round(bits, 16) as u16)
    }

    /// The number as `f32`, which holds it exactly.
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

/// The bits without the last `count`, to the nearest, of two to the even one.
fn round(bits: u32, count: u32) -> u32 {
    let half = (1u32 << (count - 1)) - 1 + ((bits >> count) & 1);
    (bits + half) >> count
}

macro_rules! number {
    ($($number:ty, $real:ty, $type:ident;)*) => {
        $(
            impl Sealed for $number {}
            impl GemmNumber for $number {
                type Scalar = Self;
                const TYPE: sys::km_data_type = sys::km_data_type::$type;
            }
            impl Number for $number {
                type Real = $real;
            }
        )*
    };
}
number! {
    f32, f32, F32;
    f64, f64, F64;
    Complex<f32>, f32, C32;
    Complex<f64>, f64, C64;
}
impl Real for f32 {}
impl Real for f64 {}

macro_rules! half {
    ($($number:ty, $type:ident;)*) => {
        $(
            impl Sealed for $number {}
            impl GemmNumber for $number {
                type Scalar = f32;
                const TYPE: sys::km_data_type = sys::km_data_type::$type;
            }
        )*
    };
}
half! {
    F16, F16;
    Bf16, BF16;
}
#[cfg(feature = "half")]
half! {
    ::half::f16, F16;
    ::half::bf16, BF16;
}
