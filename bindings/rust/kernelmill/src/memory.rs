//! Device memory, owned.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::size_of;
use std::ops::RangeBounds;
use std::ptr::null_mut;

use crate::error::{check, counted};
use crate::view::part;
use crate::view::sealed::HasPlace;
use crate::{Context, DeviceType, ElementType, Error, Result, Status, Stream, View, ViewMut, sys};

/// Plain old data: what may lie in device memory and be given to a kernel by value.
///
/// # Safety
///
/// The type has no padding and no pointers to host memory that kernels are not meant to follow, and
/// every pattern of bits is a value of it. Structures want `#[repr(C)]`.
pub unsafe trait Pod: Copy + Send + Sync + 'static {
    /// The type that kernels have for such elements: a launch that gives a slice of them for a
    /// parameter of another type fails. Numbers have one; slices of types that do not say it, such
    /// as arrays and structures, fit every kernel.
    const DEVICE_TYPE: DeviceType = DeviceType::UNKNOWN;
}

macro_rules! pod {
    ($($type:ty: $element:ident;)*) => {
        $(
            // SAFETY: a number has no padding, and all patterns are values.
            unsafe impl Pod for $type {
                const DEVICE_TYPE: DeviceType = DeviceType::scalar(ElementType::$element);
            }
        )*
    };
}
pod! {
    u8: U8;
    i8: I8;
    u16: U16;
    i16: I16;
    u32: U32;
    i32: I32;
    u64: U64;
    i64: I64;
    usize: U64;
    isize: I64;
    f32: F32;
    f64: F64;
}

// SAFETY: an array has no padding of its own.
unsafe impl<T: Pod, const N: usize> Pod for [T; N] {}

/// Device memory for elements of one type. Dropping it does not wait: the memory is freed after the
/// last use by the work that is queued.
///
/// The memory cannot be used after the slice is gone, and parts that may be written do not overlap:
///
/// ```compile_fail,E0505
/// # fn main() -> kernelmill::Result<()> {
/// let context = kernelmill::Context::open("auto")?;
/// let slice = context.alloc_zeros::<f32>(16)?;
/// let view = slice.view(0..8)?;
/// drop(slice); // error: `view` is used later
/// println!("{}", view.len());
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail,E0499
/// # fn main() -> kernelmill::Result<()> {
/// let context = kernelmill::Context::open("auto")?;
/// let stream = context.default_stream()?;
/// let mut slice = context.alloc_zeros::<f32>(16)?;
/// let mut a = slice.view_mut(0..10)?;
/// let mut b = slice.view_mut(5..16)?; // error: `a` may still write
/// stream.memset_zeros(&mut a)?;
/// stream.memset_zeros(&mut b)?;
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail,E0502
/// # fn main() -> kernelmill::Result<()> {
/// let context = kernelmill::Context::open("auto")?;
/// let stream = context.default_stream()?;
/// let mut slice = context.alloc_zeros::<f32>(16)?;
/// let source = slice.view(0..8)?;
/// stream.memcpy_dtod(&source, &mut slice.view_mut(8..16)?)?; // error: read and written at once
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail,E0277
/// # fn main() -> kernelmill::Result<()> {
/// let context = kernelmill::Context::open("auto")?;
/// let stream = context.default_stream()?;
/// let mut slice = context.alloc_zeros::<f32>(2)?;
/// stream.memcpy_htod(&[1.0f64, 2.0], &mut slice)?; // error: f64 into f32
/// # Ok(())
/// # }
/// ```
///
/// [`split_at_mut`](Slice::split_at_mut) gives parts that do not overlap:
///
/// ```
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// let stream = context.default_stream()?;
/// let mut slice = stream.clone_htod(&[1u32, 2, 3, 4])?;
/// let (left, mut right) = slice.split_at_mut(2)?;
/// stream.memcpy_dtod(&left, &mut right)?;
/// assert_eq!(stream.clone_dtoh(&slice)?, [1, 2, 1, 2]);
/// # Ok(())
/// # }
/// ```
pub struct Slice<T: Pod> {
    raw: sys::km_slice,
    len: usize,
    element: PhantomData<T>,
}

// SAFETY: base.h says "Threads: any" of every km_slice_... function: any number of threads
// may call them at once, also on the same object. Elements are Send and Sync (see Pod), and are
// reached by copies only.
unsafe impl<T: Pod> Send for Slice<T> {}
// SAFETY: the same.
unsafe impl<T: Pod> Sync for Slice<T> {}

impl<T: Pod> Slice<T> {
    /// Owns a handle of `len` elements of this type, which launches check from now on.
    pub(crate) fn adopt(raw: sys::km_slice, len: usize) -> Self {
        T::DEVICE_TYPE.set(raw);
        Self { raw, len, element: PhantomData }
    }

    pub(crate) fn create(
        context: &Context,
        len: usize,
        flags: sys::km_slice_flags,
    ) -> Result<Self> {
        let (count, size) = (len as u64, size_of::<T>() as u64);
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        let status =
            unsafe { sys::km_slice_create(context.as_raw(), count, size, flags, &mut raw) };
        check(status)?;
        Ok(Self::adopt(raw, len))
    }

    pub(crate) fn create_on_stream(
        stream: &Stream,
        len: usize,
        flags: sys::km_slice_flags,
    ) -> Result<Self> {
        let (count, size) = (len as u64, size_of::<T>() as u64);
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        let status = unsafe {
            sys::km_slice_create_on_stream(stream.as_raw(), count, size, flags, &mut raw)
        };
        check(status)?;
        Ok(Self::adopt(raw, len))
    }

    /// Makes the memory of a vector a slice, without a copy where the device can reach host memory.
    /// The vector is dropped when neither this slice nor queued work uses it any more. Never
    /// blocks. C: `km_slice_from_host`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// let slice = kernelmill::Slice::from_vec(&context, vec![1.5f32; 1000])?;
    /// assert_eq!(context.default_stream()?.clone_dtoh(&slice)?[999], 1.5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the vector is empty,
    /// [`Status::ERROR_NOT_SUPPORTED`](crate::Status) when the device cannot use host memory, the
    /// sticky error of the context when a kernel failed; the vector is dropped then.
    pub fn from_vec(context: &Context, vector: Vec<T>) -> Result<Self> {
        let mut vector = Box::new(vector);
        let (pointer, len) = (vector.as_mut_ptr(), vector.len());
        let data = Box::into_raw(vector);
        let mut raw = null_mut();
        // SAFETY: the elements stay where they are until drop_vector::<T> is called, once if the
        // call succeeds, else never.
        let status = unsafe {
            let (count, size) = (len as u64, size_of::<T>() as u64);
            let release: sys::km_release_callback = Some(drop_vector::<T>);
            let context = context.as_raw();
            sys::km_slice_from_host(
                context,
                pointer.cast(),
                count,
                size,
                release,
                data.cast(),
                &mut raw,
            )
        };
        check(status).inspect_err(|_| {
            // SAFETY: the call failed, so the box is this function's still.
            drop(unsafe { Box::from_raw(data) });
        })?;
        Ok(Self::adopt(raw, len))
    }

    /// Takes over a slice of the C ABI; launches take its elements for `T` from then on.
    ///
    /// # Safety
    ///
    /// Nobody else may destroy the handle. Where it belongs to a context that orders nothing, what
    /// [`Context::new_unordered`] asks of its caller holds for it.
    pub unsafe fn from_raw(raw: sys::km_slice) -> Result<Self> {
        let mut slice = Self::adopt(raw, 0);
        let info = slice.info()?;
        let size = size_of::<T>() as u64;
        if size == 0 || info.size_bytes % size != 0 {
            let size_text = counted(info.size_bytes as usize, "byte");
            let message = format!("a size of {size_text} is no multiple of the type's, {size}");
            return Err(Error::new(Status::ERROR_INVALID_ARGUMENT, message));
        }
        slice.len = (info.size_bytes / size) as usize;
        Ok(slice)
    }

    /// The library's knowledge of the slice; its elements may have another size there.
    pub(crate) fn info(&self) -> Result<sys::km_slice_info> {
        let mut info = sys::km_slice_info {
            struct_size: size_of::<sys::km_slice_info>() as u32,
            ..Default::default()
        };
        // SAFETY: the structure says its size.
        check(unsafe { sys::km_slice_info_get(self.raw, &mut info) })?;
        Ok(info)
    }

    /// Gives the handle away; the caller is to destroy it.
    pub fn into_raw(self) -> sys::km_slice {
        std::mem::ManuallyDrop::new(self).raw
    }

    /// The handle, for calls of [`sys`]; it stays this object's.
    pub fn as_raw(&self) -> sys::km_slice {
        self.raw
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device address of the first element; 0 for an empty slice. Never blocks. C:
    /// `km_slice_address`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn address(&self) -> Result<u64> {
        let mut address = 0;
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_slice_address(self.raw, &mut address) })?;
        Ok(address)
    }

    /// The memory itself for the host, where device memory is host memory. Valid until the slice is
    /// dropped; using it while a stream does is a race. Never blocks. C: `km_slice_host_pointer`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_SUPPORTED`](crate::Status) when the host cannot reach the memory of the
    /// device, [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn host_pointer(&self) -> Result<*mut T> {
        let mut pointer: *mut c_void = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_slice_host_pointer(self.raw, &mut pointer) })?;
        Ok(pointer.cast())
    }

    /// All of the slice, to be read.
    pub fn as_view(&self) -> View<'_, T> {
        View::new(self.place())
    }

    /// All of the slice, to be written.
    pub fn as_view_mut(&mut self) -> ViewMut<'_, T> {
        ViewMut::new(self.place())
    }

    /// A part, to be read.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_BOUNDS`](crate::Status) when the range does not lie within the slice.
    pub fn view(&self, range: impl RangeBounds<usize>) -> Result<View<'_, T>> {
        self.as_view().view(range)
    }

    /// A part, to be written.
    ///
    /// # Errors
    ///
    /// Those of [`view`](Self::view).
    pub fn view_mut(&mut self, range: impl RangeBounds<usize>) -> Result<ViewMut<'_, T>> {
        Ok(ViewMut::new(part::<T>(self.place(), range)?))
    }

    /// Two parts, the second from element `middle` on.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_BOUNDS`](crate::Status) when `middle` lies beyond the end.
    pub fn split_at_mut(&mut self, middle: usize) -> Result<(ViewMut<'_, T>, ViewMut<'_, T>)> {
        self.as_view_mut().split_at_mut(middle)
    }
}

impl<T: Pod> Drop for Slice<T> {
    fn drop(&mut self) {
        // SAFETY: the handle is this object's own, and destroying it twice is no danger.
        unsafe { sys::km_slice_destroy(self.raw) };
    }
}

impl<T: Pod> std::fmt::Debug for Slice<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Slice").field("raw", &self.raw).field("len", &self.len).finish()
    }
}

unsafe extern "C" fn drop_vector<T: Pod>(data: *mut c_void) {
    // SAFETY: the box that from_vec() gave, once; T is Send, so any thread may drop it.
    drop(unsafe { Box::from_raw(data.cast::<Vec<T>>()) });
}
