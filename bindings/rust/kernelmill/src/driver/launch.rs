//! Launches: one call of a kernel, put together argument by argument.

use std::mem::MaybeUninit;
use std::sync::Arc;

use super::error::Cuda;
use super::memory::Memory;
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
/// parameter in order, [`launch`](Self::launch). Numbers and structures are copied; slices are kept
/// until the builder is dropped. So arguments may be temporaries, and may be given one by one:
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
    kept: Kept,
    error: Option<DriverError>, // the first one, for launch() to return
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
            kept: Kept::new(),
            error: None,
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
        if self.events.is_some() || self.error.is_some() {
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
        if let Some(error) = self.error {
            return Err(error);
        }
        let start = self.stream.record_event(self.events)?;
        // SAFETY: the caller's promise.
        unsafe { self.builder.launch(config.native()) }.cuda()?;
        Ok(Some((start, self.stream.record_event(self.events)?)))
    }

    #[inline]
    fn add(&mut self, argument: &impl Located, access: sys::km_access) {
        let memory = argument.memory();
        self.builder.add_place::<u8>(argument.bytes(), access);
        if let Err(error) = memory.check_access(self.stream) {
            self.error.get_or_insert(error);
        }
        self.kept.push(Arc::clone(memory));
    }
}

/// The arguments that a launch takes: `&` of numbers, structures, and slices and views that the
/// kernel only reads; `&mut` of slices and views that it may write.
///
/// # Safety
///
/// The argument stays valid until the builder is dropped.
pub unsafe trait PushKernelArg<T> {
    /// The next argument. What does not fit the kernel's parameter makes the launch fail.
    fn arg(&mut self, arg: T) -> &mut Self;
}

// SAFETY: the value is copied.
unsafe impl<T: DeviceRepr> PushKernelArg<&T> for LaunchArgs<'_> {
    #[inline]
    fn arg(&mut self, arg: &T) -> &mut Self {
        self.builder.add_value(arg);
        self
    }
}

macro_rules! memory_arguments {
    ($($kind:ty: $access:ident;)*) => {
        $(
            // SAFETY: the memory is kept.
            unsafe impl<T> PushKernelArg<$kind> for LaunchArgs<'_> {
                #[inline]
                fn arg(&mut self, arg: $kind) -> &mut Self {
                    self.add(arg, sys::km_access::$access);
                    self
                }
            }
        )*
    };
}
memory_arguments! {
    &CudaSlice<T>: READ;
    &mut CudaSlice<T>: READ_WRITE;
    &CudaView<'_, T>: READ;
    &CudaViewMut<'_, T>: READ;
    &mut CudaViewMut<'_, T>: READ_WRITE;
    &UnifiedSlice<T>: READ;
    &mut UnifiedSlice<T>: READ_WRITE;
}

/// Launches of up to this many slices allocate nothing.
const FEW: usize = 16;

/// The memory of a launch's arguments.
struct Kept {
    few: [MaybeUninit<Arc<Memory>>; FEW],
    count: usize, // of few
    more: Vec<Arc<Memory>>,
}

impl Kept {
    #[inline]
    fn new() -> Self {
        Self { few: [const { MaybeUninit::uninit() }; FEW], count: 0, more: Vec::new() }
    }

    #[inline]
    fn push(&mut self, memory: Arc<Memory>) {
        match self.few.get_mut(self.count) {
            Some(place) => {
                place.write(memory);
                self.count += 1;
            }
            None => self.more.push(memory),
        }
    }
}

impl Drop for Kept {
    #[inline]
    fn drop(&mut self) {
        for place in self.few.iter_mut().take(self.count) {
            // SAFETY: push() has written that many.
            unsafe { place.assume_init_drop() };
        }
    }
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Kept").field(&(self.count + self.more.len())).finish()
    }
}
