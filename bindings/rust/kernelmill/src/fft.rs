//! Fourier transforms, in the order of a stream.
//!
//! A plan has a shape and the types of both sides: from complex to complex numbers, from real to
//! complex ones, or back. Arrays are checked against the memory that the shape needs:
//!
//! ```
//! use kernelmill::blas::Complex;
//! use kernelmill::fft::{Fft, FftShape};
//!
//! # fn main() -> kernelmill::Result<()> {
//! # let context = kernelmill::Context::open("cpu")?;
//! let stream = context.default_stream()?;
//! let signal = stream.clone_htod(&[1.0f32, 2.0, 3.0, 4.0])?;
//! let mut spectrum = stream.alloc_zeros::<Complex<f32>>(3)?;
//! let plan = Fft::<f32, Complex<f32>>::new(&stream, &FftShape::new(&[4]))?;
//! plan.forward(&signal, &mut spectrum)?;
//! assert_eq!(stream.clone_dtoh(&spectrum)?[0], Complex::new(10.0, 0.0));
//! # Ok(())
//! # }
//! ```
//!
//! Calls join the stream of the plan and return at once; what they use is kept until they are done.
//! Results are not scaled: forward and then inverse gives the numbers times the number of elements
//! of one transform. Errors, beside those of sizes: `ERROR_CONTEXT_MISMATCH` for slices of a context
//! that the stream's cannot reach; `ERROR_CONTEXT_LOST` after a reset; `ERROR_NOT_PERMITTED` when
//! an output lies in a file mapped read-only; and the sticky error of the context.
//!
//! A plan transforms in the directions that its types have:
//!
//! ```compile_fail,E0277
//! # use kernelmill::blas::Complex;
//! # use kernelmill::fft::{Fft, FftShape};
//! # fn main() -> kernelmill::Result<()> {
//! # let context = kernelmill::Context::open("cpu")?;
//! # let stream = context.default_stream()?;
//! let plan = Fft::<f32, Complex<f32>>::new(&stream, &FftShape::new(&[4]))?;
//! let signal = stream.alloc_zeros::<f32>(4)?;
//! let mut spectrum = stream.alloc_zeros::<Complex<f32>>(3)?;
//! plan.inverse(&signal, &mut spectrum)?; // error: real numbers are transformed forward
//! # Ok(())
//! # }
//! ```

use std::marker::PhantomData;
use std::ptr::null_mut;

use crate::blas::{Bf16, Complex, F16, fits, offset_of};
use crate::error::check;
use crate::view::Place;
use crate::{DeviceSlice, DeviceSliceMut, Pod, Result, Stream, sys};

mod sealed {
    pub trait Sealed<Out> {}
}
use sealed::Sealed;

/// Elements whose transform has elements of type `Out`: [`Complex`] numbers of `f32`, `f64`, [`F16`]
/// and [`Bf16`], and such real numbers on one side.
pub trait FftInput<Out: Pod>: Pod + Sealed<Out> {
    #[doc(hidden)]
    const KIND: sys::km_fft_kind;
    #[doc(hidden)]
    const TYPE: sys::km_data_type;
}

/// Elements that can be transformed forward, with exp(-2 pi i j k / n): to complex numbers.
pub trait FftForward<Out: Pod>: FftInput<Out> {}

/// Elements that can be transformed back, with exp(2 pi i j k / n): from complex numbers.
pub trait FftInverse<Out: Pod>: FftInput<Out> {}

macro_rules! transform {
    ($($real:ty, $type:ident;)*) => {
        $(
            transform!(Complex<$real>, Complex<$real>, COMPLEX, $type);
            transform!($real, Complex<$real>, REAL_TO_COMPLEX, $type);
            transform!(Complex<$real>, $real, COMPLEX_TO_REAL, $type);
            impl FftForward<Complex<$real>> for Complex<$real> {}
            impl FftForward<Complex<$real>> for $real {}
            impl FftInverse<Complex<$real>> for Complex<$real> {}
            impl FftInverse<$real> for Complex<$real> {}
        )*
    };
    ($in:ty, $out:ty, $kind:ident, $type:ident) => {
        impl Sealed<$out> for $in {}
        impl FftInput<$out> for $in {
            const KIND: sys::km_fft_kind = sys::km_fft_kind::$kind;
            const TYPE: sys::km_data_type = sys::km_data_type::$type;
        }
    };
}
transform! {
    f32, F32;
    f64, F64;
    F16, F16;
    Bf16, BF16;
}
#[cfg(feature = "half")]
transform! {
    ::half::f16, F16;
    ::half::bf16, BF16;
}

/// The places of one side's elements, [`km_fft_layout`](sys::km_fft_layout).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FftLayout {
    /// Elements in memory for each dimension, of which the first is not used.
    pub extents: [u64; 3],
    /// Elements from one of the last dimension to the next.
    pub stride: u64,
    /// Elements from one transform to the next.
    pub distance: u64,
}

impl FftLayout {
    fn raw(self) -> sys::km_fft_layout {
        let Self { extents, stride, distance } = self;
        sys::km_fft_layout { extents, stride, distance }
    }
}

/// Sizes, the slowest dimension first, how many transforms there are, and where their elements lie.
///
/// ```
/// use kernelmill::fft::{FftLayout, FftShape};
/// // The columns of a matrix of 100 rows and 8 columns.
/// let column = FftLayout { stride: 8, distance: 1, ..FftLayout::default() };
/// let shape = FftShape::new(&[100]).batch(8).input(column).output(column);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FftShape {
    raw: sys::km_fft_shape,
}

impl FftShape {
    /// One transform of one to three sizes of the real side, whose elements lie densely.
    pub fn new(sizes: &[u64]) -> Self {
        let none = FftLayout::default().raw();
        let mut raw = sys::km_fft_shape {
            kind: sys::km_fft_kind::INVALID,
            type_: sys::km_data_type::INVALID,
            rank: u32::try_from(sizes.len()).unwrap_or(u32::MAX),
            reserved: 0,
            sizes: [0; 3],
            batch_count: 1,
            input: none,
            output: none,
        };
        for (to, size) in raw.sizes.iter_mut().zip(sizes) {
            *to = *size;
        }
        Self { raw }
    }

    /// This many transforms.
    pub fn batch(mut self, count: u64) -> Self {
        self.raw.batch_count = count;
        self
    }

    /// The places of the input's elements, which may overlap each other.
    pub fn input(mut self, layout: FftLayout) -> Self {
        self.raw.input = layout.raw();
        self
    }

    /// The places of the output's elements, which lie apart: each dimension, and the batch, steps
    /// over all elements of those that have smaller steps.
    pub fn output(mut self, layout: FftLayout) -> Self {
        self.raw.output = layout.raw();
        self
    }
}

/// The elements of one side's memory, from its first to its last.
fn needed(shape: &sys::km_fft_shape, is_input: bool) -> Option<usize> {
    let real_side = match shape.kind {
        sys::km_fft_kind::REAL_TO_COMPLEX => is_input,
        sys::km_fft_kind::COMPLEX_TO_REAL => !is_input,
        _ => true,
    };
    let layout = if is_input { &shape.input } else { &shape.output };
    let is_dense = layout.stride == 0;
    let dimensions = shape.sizes.iter().zip(layout.extents).take(shape.rank as usize).rev();
    let (mut step, mut last) = (if is_dense { 1 } else { layout.stride }, 0u64);
    for (i, (size, extent)) in dimensions.enumerate() {
        let length = if i == 0 && !real_side { size / 2 + 1 } else { *size };
        last = last.checked_add(length.checked_sub(1)?.checked_mul(step)?)?;
        let is_first = i + 1 == shape.rank as usize;
        step = step.checked_mul(match (is_dense, is_first) {
            (true, _) => length,
            (false, true) => 1,
            (false, false) => extent,
        })?;
    }
    let distance = if is_dense { step } else { layout.distance };
    last = last.checked_add(shape.batch_count.checked_sub(1)?.checked_mul(distance)?)?;
    usize::try_from(last.checked_add(1)?).ok()
}

/// A plan of transforms in a stream, from elements of type `In` to those of type `Out`. It keeps the
/// stream, and dropping it does not wait: queued calls run to their end.
#[derive(Debug)]
pub struct Fft<In, Out = In> {
    raw: sys::km_fft,
    input_len: Option<usize>,
    output_len: Option<usize>,
    elements: PhantomData<fn(In) -> Out>,
}

// SAFETY: base.h says "Threads: any" of every km_fft_... function: any number of threads may call
// them at once, also on the same object.
unsafe impl<In, Out> Send for Fft<In, Out> {}
// SAFETY: the same.
unsafe impl<In, Out> Sync for Fft<In, Out> {}

impl<In: FftInput<Out>, Out: Pod> Fft<In, Out> {
    /// Plans transforms. Blocks while tables are computed. Fails with `ERROR_INVALID_ARGUMENT` when
    /// the shape has a size, a count or a layout that it cannot have, `ERROR_OUT_OF_DEVICE_MEMORY`
    /// when an array has more bytes than the device, `ERROR_NOT_SUPPORTED` when the backend has no
    /// such transforms, and `ERROR_BLAS_UNAVAILABLE` when its library is missing, with what to
    /// install.
    /// C: [`km_fft_create`](sys::km_fft_create).
    pub fn new(stream: &Stream, shape: &FftShape) -> Result<Self> {
        let shape = sys::km_fft_shape { kind: In::KIND, type_: In::TYPE, ..shape.raw };
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the parameters live through the call.
        check(unsafe { sys::km_fft_create(stream.as_raw(), &shape, &mut raw) })?;
        let (input_len, output_len) = (needed(&shape, true), needed(&shape, false));
        Ok(Self { raw, input_len, output_len, elements: PhantomData })
    }

    /// The handle, for calls of [`sys`]; it stays this object's.
    pub fn as_raw(&self) -> sys::km_fft {
        self.raw
    }

    /// Transforms one array to another. Fails with `ERROR_OUT_OF_BOUNDS` when one is smaller than
    /// the plan's shape.
    /// C: [`km_fft_execute`](sys::km_fft_execute).
    pub fn forward(
        &self,
        input: &impl DeviceSlice<In>,
        output: &mut impl DeviceSliceMut<Out>,
    ) -> Result<()>
    where
        In: FftForward<Out>,
    {
        self.execute(sys::km_fft_direction::FORWARD, input.place(), output.place())
    }

    /// Transforms one array back to another. Fails as [`forward`](Self::forward) does.
    /// C: [`km_fft_execute`](sys::km_fft_execute).
    pub fn inverse(
        &self,
        input: &impl DeviceSlice<In>,
        output: &mut impl DeviceSliceMut<Out>,
    ) -> Result<()>
    where
        In: FftInverse<Out>,
    {
        self.execute(sys::km_fft_direction::INVERSE, input.place(), output.place())
    }

    fn execute(&self, direction: sys::km_fft_direction, from: Place, to: Place) -> Result<()> {
        let input = self.array::<In>("input", self.input_len, from)?;
        let output = self.array::<Out>("output", self.output_len, to)?;
        // SAFETY: handles are checked ids; both arrays are checked against their memory.
        check(unsafe { sys::km_fft_execute(self.raw, direction, &input, &output) })
    }

    fn array<T: Pod>(
        &self,
        name: &str,
        needed: Option<usize>,
        place: Place,
    ) -> Result<sys::km_array> {
        fits(|| format!("the {name} of the transform"), needed, place.len)?;
        let slice = place.slice.addr() as u64;
        Ok(sys::km_array { slice, address: 0, offset: offset_of::<T>(place)?, stride: 0 })
    }
}

impl<T: FftInput<T>> Fft<T, T> {
    /// Transforms an array to itself. Fails as [`forward`](Self::forward) does.
    /// C: [`km_fft_execute`](sys::km_fft_execute).
    pub fn forward_in_place(&self, data: &mut impl DeviceSliceMut<T>) -> Result<()> {
        self.execute(sys::km_fft_direction::FORWARD, data.place(), data.place())
    }

    /// Transforms an array back to itself. Fails as [`forward`](Self::forward) does.
    /// C: [`km_fft_execute`](sys::km_fft_execute).
    pub fn inverse_in_place(&self, data: &mut impl DeviceSliceMut<T>) -> Result<()> {
        self.execute(sys::km_fft_direction::INVERSE, data.place(), data.place())
    }
}

impl<In, Out> Drop for Fft<In, Out> {
    fn drop(&mut self) {
        // SAFETY: the handle is this object's own, and destroying it twice is no danger.
        unsafe { sys::km_fft_destroy(self.raw) };
    }
}
