//! Launches: one call of a kernel, put together argument by argument.

use super::error::Cuda;
use super::memory::attached_elsewhere;
use super::pointer::sealed::Located;
use super::sys::CUevent_flags;
use super::{
    CudaEvent, CudaFunction, CudaSlice, CudaStream, CudaView, CudaViewMut, DeviceRepr, DriverError,
    UnifiedSlice,
};
use crate::{LaunchBuilder, sys};

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks along x, y, z.
    pub grid_dim: (u32, u32, u32),
    /// Threads of a block along x, y, z.
    pub block_dim: (u32, u32, u32),
    /// Dynamic shared memory per block.
    pub shared_mem_bytes: u32,
}

impl LaunchConfig {
    /// A thread for each of so many elements, in blocks of 1024.
    #[must_use]
    pub fn for_num_elems(n: u32) -> Self {
        Self { grid_dim: (n.div_ceil(1024), 1, 1), block_dim: (1024, 1, 1), shared_mem_bytes: 0 }
    }

    #[inline]
    fn native(self) -> crate::LaunchConfig {
        crate::LaunchConfig {
            grid_dim: self.grid_dim,
            block_dim: self.block_dim,
            shared_mem_bytes: self.shared_mem_bytes.into(),
        }
    }
}

/// One call of a kernel: [`CudaStream::launch_builder`], an `arg` ([`PushKernelArg`]) for each
/// parameter in order, [`launch`](Self::launch). Numbers and structures are copied, and views are
/// places of their slices, so these arguments may be temporaries, in statements of their own:
///
/// ```
/// use kernelmill::driver::{CudaContext, LaunchConfig, PushKernelArg};
/// use kernelmill::nvrtc::compile_ptx;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let context = CudaContext::new(0)?;
/// let stream = context.default_stream();
/// let ptx = compile_ptx(
///     "extern \"C\" __global__ void scale(float* data, float factor, unsigned n) {
///        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
///        if (i < n) data[i] *= factor;
///      }",
/// )?;
/// let scale = context.load_module(ptx)?.load_function("scale")?;
/// let mut data = stream.clone_htod(&[1.0f32, 2.0, 3.0, 4.0])?;
/// let n = 3;
/// let mut builder = stream.launch_builder(&scale);
/// builder.arg(&mut data.try_slice_mut(..n)?);
/// builder.arg(&2.0f32);
/// builder.arg(&(n as u32));
/// // SAFETY: the kernel stays within its three elements.
/// unsafe { builder.launch(LaunchConfig::for_num_elems(3)) }?;
/// assert_eq!(stream.clone_dtoh(&data)?, [2.0, 4.0, 6.0, 4.0]);
/// # Ok(())
/// # }
/// ```
///
/// Slices that are given by `&`, and those of views, are borrowed until the builder is gone:
///
/// ```compile_fail,E0505
/// # use kernelmill::driver::*;
/// # fn launch(stream: &CudaStream, function: &CudaFunction) -> Result<(), DriverError> {
/// let slice = stream.alloc_zeros::<f32>(100)?;
/// let mut builder = stream.launch_builder(function);
/// builder.arg(&slice);
/// drop(slice); // error: the launch reads it
/// unsafe { builder.launch(LaunchConfig::for_num_elems(100)) }?;
/// # Ok(())
/// # }
/// ```
///
/// One that is given by `&mut` is borrowed for the call alone, so that its parts may be arguments as
/// well; when it is dropped before the launch, the launch is an error.
///
/// A launch is unsafe, and what is no plain data is no argument:
///
/// ```compile_fail,E0133
/// # use kernelmill::driver::*;
/// # fn launch(stream: &CudaStream, function: &CudaFunction) -> Result<(), DriverError> {
/// stream.launch_builder(function).launch(LaunchConfig::for_num_elems(1))?; // error: unsafe
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail,E0277
/// # use kernelmill::driver::*;
/// # fn launch(stream: &CudaStream, function: &CudaFunction) {
/// stream.launch_builder(function).arg(&String::from("text")); // error: a String owns memory
/// # }
/// ```
#[derive(Debug)]
pub struct LaunchArgs<'a> {
    builder: LaunchBuilder<'a>,
    stream: &'a CudaStream,
    is_refused: bool, // an argument is attached to another stream
    events: Option<CUevent_flags>,
}

impl CudaStream {
    /// Begins the launch of a kernel in this stream.
    #[inline(always)] // in place, not copied
    #[must_use]
    pub fn launch_builder<'a>(&'a self, function: &'a CudaFunction) -> LaunchArgs<'a> {
        LaunchArgs {
            builder: LaunchBuilder::new(self.native(), function.native()),
            stream: self,
            is_refused: false,
            events: None,
        }
    }
}

impl LaunchArgs<'_> {
    /// Has the launch recorded by two new events, of these flags, which [`launch`](Self::launch)
    /// gives.
    pub fn record_kernel_launch(&mut self, flags: CUevent_flags) -> &mut Self {
        self.events = Some(flags);
        self
    }

    /// Queues the kernel; it may be launched again with the same arguments. Gives events before and
    /// after it where [`record_kernel_launch`](Self::record_kernel_launch) asked for them.
    ///
    /// # Safety
    ///
    /// What the kernel does with the addresses and numbers that it is given is not checked: it must
    /// stay within the memory of its arguments, write only values of their types, not write what it
    /// is given by `&`, and not race with other work on memory that it reaches otherwise, nor with
    /// the host on unified memory. Other work on its arguments is ordered.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidValue`] when count or sizes of the arguments are not those of the
    /// kernel's parameters, or the device cannot have such a grid; [`DriverError::InvalidContext`]
    /// when a slice is of another context; [`DriverError::NotPermitted`] when unified memory is
    /// attached to another stream; the error of a kernel that failed.
    #[inline(always)] // a call of its own would read the shape as it was not written: a stall
    pub unsafe fn launch(
        &mut self,
        config: LaunchConfig,
    ) -> Result<Option<(CudaEvent, CudaEvent)>, DriverError> {
        if self.events.is_some() || self.is_refused {
            // SAFETY: the caller's promise.
            return unsafe { self.launch_with_care(config) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.builder.launch(config.native()) }.cuda()?;
        Ok(None)
    }

    /// Queues a kernel whose blocks wait for each other: they have to fit the device at once.
    ///
    /// # Safety
    ///
    /// That of [`launch`](Self::launch).
    ///
    /// # Errors
    ///
    /// Those of [`launch`](Self::launch), and [`DriverError::InvalidValue`] when the blocks do not
    /// fit at once.
    pub unsafe fn launch_cooperative(
        &mut self,
        config: LaunchConfig,
    ) -> Result<Option<(CudaEvent, CudaEvent)>, DriverError> {
        self.builder.cooperative();
        // SAFETY: the caller's promise.
        let launched = unsafe { self.launch(config) };
        self.builder.not_cooperative();
        launched
    }

    #[cold]
    #[inline(never)]
    unsafe fn launch_with_care(
        &mut self,
        config: LaunchConfig,
    ) -> Result<Option<(CudaEvent, CudaEvent)>, DriverError> {
        if self.is_refused {
            return Err(attached_elsewhere(self.stream));
        }
        let start = self.stream.record_event(self.events)?;
        // SAFETY: the caller's promise.
        unsafe { self.builder.launch(config.native()) }.cuda()?;
        Ok(Some((start, self.stream.record_event(self.events)?)))
    }
}

/// The arguments that a launch takes: `&` of numbers, structures, and slices and views that the
/// kernel only reads; `&mut` of slices and views that it may write.
///
/// # Safety
///
/// The argument stays valid until the builder is dropped, or the launch takes it by a handle.
pub unsafe trait PushKernelArg<T> {
    /// The next argument. What does not fit the kernel's parameter makes the launch fail.
    fn arg(&mut self, arg: T) -> &mut Self;
}

// SAFETY: the value is copied.
unsafe impl<T: DeviceRepr> PushKernelArg<&T> for LaunchArgs<'_> {
    #[inline(always)]
    fn arg(&mut self, arg: &T) -> &mut Self {
        self.builder.add_value(arg, T::DEVICE_TYPE);
        self
    }
}

macro_rules! memory_arguments {
    ($($kind:ty: $access:ident $($checked:ident)?;)*) => {
        $(
            // SAFETY: the launch takes the slice by its handle, a checked id.
            unsafe impl<'a, T> PushKernelArg<$kind> for LaunchArgs<'a> {
                #[inline(always)]
                fn arg(&mut self, arg: $kind) -> &mut Self {
                    $(self.is_refused |= !arg.memory().$checked(self.stream);)?
                    self.builder.add_place::<u8>(arg.bytes(), sys::km_access::$access);
                    self
                }
            }
        )*
    };
}
memory_arguments! {
    &'a CudaSlice<T>: READ;
    &mut CudaSlice<T>: READ_WRITE;
    &CudaView<'a, T>: READ is_open_to;
    &CudaViewMut<'a, T>: READ is_open_to;
    &mut CudaViewMut<'a, T>: READ_WRITE is_open_to;
    &'a UnifiedSlice<T>: READ is_open_to;
    &mut UnifiedSlice<T>: READ_WRITE is_open_to;
}
