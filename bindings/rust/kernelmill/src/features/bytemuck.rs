//! The feature `bytemuck`: elements of any type that is `Pod` there.

use ::bytemuck::{Pod as TheirPod, TransparentWrapper, Zeroable};

use crate::Pod;
use crate::blas::{Bf16, Complex, F16};

/// A value of a type of another crate that is `Pod` for bytemuck, as an element of slices and as an
/// argument of kernels. For types of one's own crate [`impl_pod!`](crate::impl_pod) is shorter to
/// use. This type exists with the feature `bytemuck`.
///
/// ```
/// # #[derive(Clone, Copy, Debug, PartialEq)]
/// # #[repr(C)]
/// # struct Vec2 { x: f32, y: f32 }
/// # unsafe impl bytemuck::Zeroable for Vec2 {}
/// # unsafe impl bytemuck::Pod for Vec2 {}
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// use bytemuck::TransparentWrapper;
/// use bytemuck::allocation::TransparentWrapperAlloc;
/// use kernelmill::Plain;
/// let stream = context.default_stream()?;
/// let places = vec![Vec2 { x: 1.0, y: 2.0 }; 10]; // a type of a mathematical crate
/// let slice = stream.clone_htod(Plain::wrap_slice(&places))?;
/// assert_eq!(Plain::peel_vec(stream.clone_dtoh(&slice)?), places);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Plain<T: TheirPod>(pub T);

// SAFETY: bytemuck's trait asks for the same: no padding, no pointers, and all patterns are values.
unsafe impl<T: TheirPod + Send + Sync> Pod for Plain<T> {}
// SAFETY: it has the representation of its one field.
unsafe impl<T: TheirPod> TransparentWrapper<T> for Plain<T> {}

/// Makes types that are `Pod` for bytemuck elements of slices and arguments of kernels, without
/// `unsafe`: the compiler checks that they are. There is one with the feature `bytemuck`.
///
/// ```
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// #[repr(C)]
/// struct Particle { position: [f32; 3], mass: f32 }
/// # // As #[derive(bytemuck::Pod, bytemuck::Zeroable)] does.
/// # unsafe impl bytemuck::Zeroable for Particle {}
/// # unsafe impl bytemuck::Pod for Particle {}
/// kernelmill::impl_pod!(Particle);
///
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// let stream = context.default_stream()?;
/// let particles = [Particle { position: [1.0, 2.0, 3.0], mass: 4.0 }; 10];
/// let slice = stream.clone_htod(&particles)?;
/// assert_eq!(stream.clone_dtoh(&slice)?, particles);
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail,E0277
/// #[derive(Clone, Copy)]
/// struct Text(&'static str);
/// kernelmill::impl_pod!(Text); // error: bytemuck's Pod is not implemented
/// ```
#[macro_export]
macro_rules! impl_pod {
    ($($type:ty),+ $(,)?) => {
        $(
            // SAFETY: bytemuck's trait, which the type has, asks for the same.
            unsafe impl $crate::Pod for $type
            where
                $type: $crate::bytemuck::Pod + Send + Sync
            {}
        )+
    };
}

macro_rules! their_pod {
    ($($type:ty)*) => {
        $(
            // SAFETY: zeros are a value, see Pod.
            unsafe impl Zeroable for $type {}
            // SAFETY: the same as for Pod.
            unsafe impl TheirPod for $type {}
        )*
    };
}
their_pod! { Complex<f32> Complex<f64> F16 Bf16 }
