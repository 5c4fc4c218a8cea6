//! The feature `half`: elements of the types `f16` and `bf16` of the crate `half`.

use ::half::{bf16, f16};

use crate::blas::{Bf16, F16};
use crate::{DeviceType, Pod};

// SAFETY: a number has no padding, and all patterns are values.
unsafe impl Pod for f16 {
    const DEVICE_TYPE: DeviceType = F16::DEVICE_TYPE;
}
// SAFETY: the same.
unsafe impl Pod for bf16 {
    const DEVICE_TYPE: DeviceType = Bf16::DEVICE_TYPE;
}

macro_rules! same_bits {
    ($($theirs:ty, $ours:ident;)*) => {
        $(
            impl From<$theirs> for $ours {
                fn from(number: $theirs) -> Self {
                    Self(number.to_bits())
                }
            }

            impl From<$ours> for $theirs {
                fn from(number: $ours) -> Self {
                    Self::from_bits(number.0)
                }
            }
        )*
    };
}
same_bits! {
    f16, F16;
    bf16, Bf16;
}
