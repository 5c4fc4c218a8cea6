//! Types that may lie in device memory.

use crate::{DeviceType, ElementType, Pod};

/// Types that kernels can be given, by value and in device memory.
///
/// ```
/// use kernelmill::driver::DeviceRepr;
/// #[repr(C)]
/// struct Config {
///     threshold: f32,
///     rounds: u32,
/// }
/// // SAFETY: plain numbers, laid out as in C.
/// unsafe impl DeviceRepr for Config {}
/// ```
///
/// # Safety
///
/// Values may be copied byte by byte, to the device and back, any number of times, by any thread:
/// the type owns nothing and borrows nothing. Structures are `#[repr(C)]`, so that kernels find
/// their fields.
pub unsafe trait DeviceRepr {
    /// The type that kernels have for such elements; see [`Pod::DEVICE_TYPE`](crate::Pod).
    const DEVICE_TYPE: DeviceType = DeviceType::UNKNOWN;
}

/// Types of which zeros in memory are a value.
///
/// # Safety
///
/// Memory of zeros is a value of the type.
pub unsafe trait ValidAsZeroBits {}

macro_rules! numbers {
    ($($number:ty: $device:expr;)*) => {
        $(
            // SAFETY: a number, or a `bool`, owns and borrows nothing.
            unsafe impl DeviceRepr for $number {
                const DEVICE_TYPE: DeviceType = $device;
            }
            // SAFETY: its zero, or `false`, is all zeros.
            unsafe impl ValidAsZeroBits for $number {}
        )*
    };
}
numbers! {
    bool: DeviceType::scalar(ElementType::BOOL);
    u128: DeviceType::scalar(ElementType::U128);
    i128: DeviceType::scalar(ElementType::I128);
}

macro_rules! pods {
    ($($number:ty)*) => {
        numbers! { $($number: <$number as Pod>::DEVICE_TYPE;)* }
    };
}
pods! { u8 i8 u16 i16 u32 i32 u64 i64 usize isize f32 f64 }
pods! { crate::blas::F16 crate::blas::Bf16 }
pods! { crate::blas::Complex<f32> crate::blas::Complex<f64> }

#[cfg(feature = "half")]
pods! { half::f16 half::bf16 }

// SAFETY: elements lie one after the other.
unsafe impl<T: DeviceRepr, const N: usize> DeviceRepr for [T; N] {}
// SAFETY: the same.
unsafe impl<T: ValidAsZeroBits, const N: usize> ValidAsZeroBits for [T; N] {}

macro_rules! tuples {
    ($first:ident $($rest:ident)*) => {
        // SAFETY: zeros are a value of each part.
        unsafe impl<$first: ValidAsZeroBits, $($rest: ValidAsZeroBits),*> ValidAsZeroBits
            for ($first, $($rest),*)
        {
        }
        tuples! { $($rest)* }
    };
    () => {};
}
tuples! { A B C D E F G H I J K L }
