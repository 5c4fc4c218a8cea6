//! Launches that are put together step by step and kept.

use std::mem::size_of;
use std::ptr::null_mut;

use crate::error::check;
use crate::handle::owned_handle;
use crate::view::Place;
use crate::{DeviceSlice, DeviceSliceMut, Function, LaunchConfig, Pod, Result, Stream, sys};

owned_handle! {
    /// A launch that owns its arguments, made by [`Stream::prepare_launch`]: shape, one argument
    /// for each parameter in order, and any number of submissions. It keeps stream,
    /// function and the memory of its slices. [`LaunchBuilder`](crate::LaunchBuilder) is shorter
    /// where a launch is made once. C: `km_launch`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// # let source =
    /// #     "extern \"C\" __global__ void add(int* data, int n) { data[threadIdx.x] += n; }";
    /// let add = context.load_source(source)?.load_function("add")?;
    /// let stream = context.default_stream()?;
    /// let mut data = stream.clone_htod(&[1i32, 2, 3, 4])?;
    /// let mut launch = stream.prepare_launch(&add)?;
    /// launch.set_block((4, 1, 1))?;
    /// launch.arg_slice_mut(&mut data)?;
    /// launch.arg_scalar(&10i32)?;
    /// for _ in 0..3 {
    ///     // SAFETY: the kernel stays within the four elements, which only this stream uses.
    ///     unsafe { launch.submit() }?;
    /// }
    /// assert_eq!(stream.clone_dtoh(&data)?, [31, 32, 33, 34]);
    /// # Ok(())
    /// # }
    /// ```
    PreparedLaunch, km_launch, km_launch_destroy
}

impl Stream {
    /// A launch of the kernel in this stream, of one block with one thread and without arguments
    /// until they are set. Never blocks. C: `km_launch_create`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_MISMATCH`](crate::Status) when the function is of another context,
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn prepare_launch(&self, function: &Function) -> Result<PreparedLaunch> {
        let mut launch = PreparedLaunch::new(self.as_raw(), function)?;
        launch.set_grid((1, 1, 1))?;
        launch.set_block((1, 1, 1))?;
        Ok(launch)
    }
}

impl PreparedLaunch {
    pub(crate) fn new(stream: sys::km_stream, function: &Function) -> Result<Self> {
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_launch_create(stream, function.as_raw(), &mut raw) })?;
        Ok(Self { raw })
    }

    /// Sets grid, block and dynamic shared memory. They are checked by [`submit`](Self::submit).
    /// Never blocks.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn set_config(&mut self, config: LaunchConfig) -> Result<()> {
        self.set_grid(config.grid_dim)?;
        self.set_block(config.block_dim)?;
        self.set_shared_mem_bytes(config.shared_mem_bytes)
    }

    /// Sets the blocks of the grid along x, y, z. Never blocks. C: `km_launch_set_grid`.
    ///
    /// # Errors
    ///
    /// Those of [`set_config`](Self::set_config).
    pub fn set_grid(&mut self, (x, y, z): (u32, u32, u32)) -> Result<()> {
        // SAFETY: handles are checked ids; one thread at a time, because of `&mut`.
        check(unsafe { sys::km_launch_set_grid(self.raw, x, y, z) })
    }

    /// Sets the threads of a block along x, y, z. Never blocks. C: `km_launch_set_block`.
    ///
    /// # Errors
    ///
    /// Those of [`set_config`](Self::set_config).
    pub fn set_block(&mut self, (x, y, z): (u32, u32, u32)) -> Result<()> {
        // SAFETY: handles are checked ids; one thread at a time, because of `&mut`.
        check(unsafe { sys::km_launch_set_block(self.raw, x, y, z) })
    }

    /// Sets the dynamic shared memory of a block, 0 at first. Never blocks. C:
    /// `km_launch_set_shared_bytes`.
    ///
    /// # Errors
    ///
    /// Those of [`set_config`](Self::set_config).
    pub fn set_shared_mem_bytes(&mut self, bytes: u64) -> Result<()> {
        // SAFETY: handles are checked ids; one thread at a time, because of `&mut`.
        check(unsafe { sys::km_launch_set_shared_bytes(self.raw, bytes) })
    }

    /// Sets the blocks of a cluster along x, y, z, which use each other's shared memory and wait
    /// for each other; 0, 0, 0, as at first: what the kernel was compiled for, else none. Never
    /// blocks. C: `km_launch_set_cluster`.
    ///
    /// # Errors
    ///
    /// Those of [`set_config`](Self::set_config).
    pub fn set_cluster(&mut self, (x, y, z): (u32, u32, u32)) -> Result<()> {
        // SAFETY: handles are checked ids; one thread at a time, because of `&mut`.
        check(unsafe { sys::km_launch_set_cluster(self.raw, x, y, z) })
    }

    /// Sets whether all blocks of the grid may wait for each other. When they do not fit the device
    /// at once, the launch cannot be submitted. Never blocks. C: `km_launch_set_cooperative`.
    ///
    /// # Errors
    ///
    /// Those of [`set_config`](Self::set_config).
    pub fn set_cooperative(&mut self, cooperative: bool) -> Result<()> {
        // SAFETY: handles are checked ids; one thread at a time, because of `&mut`.
        check(unsafe { sys::km_launch_set_cooperative(self.raw, u32::from(cooperative)) })
    }

    /// The next argument is the address of a slice or view that the kernel only reads. The memory
    /// is kept until the launch and what was submitted are done. Never blocks. C:
    /// `km_launch_arg_slice_access`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_LAUNCH`](crate::Status) when the kernel has no further parameter or
    /// the next one has another size, [`Status::ERROR_CONTEXT_MISMATCH`](crate::Status) when the
    /// slice is of another context, [`Status::ERROR_CONTEXT_LOST`](crate::Status) when one was
    /// reset.
    pub fn arg_slice<T: Pod>(&mut self, slice: &impl DeviceSlice<T>) -> Result<()> {
        self.arg_operand(&operand::<T>(slice.place(), sys::km_access::READ))
    }

    /// The next argument is the address of a slice or view that the kernel may write, else like
    /// [`arg_slice`](Self::arg_slice). The borrow ends with the call: each submission writes the
    /// memory. C: `km_launch_arg_slice_access`.
    ///
    /// # Errors
    ///
    /// Those of [`arg_slice`](Self::arg_slice).
    pub fn arg_slice_mut<T: Pod>(&mut self, slice: &mut impl DeviceSliceMut<T>) -> Result<()> {
        self.arg_operand(&operand::<T>(slice.place(), sys::km_access::READ_WRITE))
    }

    /// The next argument is a raw device address, behind which nothing is kept. Never blocks. C:
    /// `km_launch_arg_address`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_LAUNCH`](crate::Status) when the kernel has no further parameter or
    /// the next one has another size, [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the
    /// context was reset.
    pub fn arg_address(&mut self, address: u64) -> Result<()> {
        // SAFETY: handles are checked ids; one thread at a time, because of `&mut`.
        check(unsafe { sys::km_launch_arg_address(self.raw, address) })
    }

    /// The next argument is a number or structure, which is copied. Never blocks. C:
    /// `km_launch_arg_value`, `km_launch_arg_scalar`.
    ///
    /// # Errors
    ///
    /// Those of [`arg_address`](Self::arg_address).
    pub fn arg_scalar<T: Pod>(&mut self, value: &T) -> Result<()> {
        let value: *const T = value;
        let Some(element) = T::DEVICE_TYPE.number(size_of::<T>()) else {
            // SAFETY: the value has that size, and is copied.
            return unsafe { self.arg_bytes(value.cast(), size_of::<T>()) };
        };
        // SAFETY: the value has the size of that type, and is copied; one thread at a time, because
        // of `&mut`.
        check(unsafe { sys::km_launch_arg_value(self.raw, value.cast(), element, 1) })
    }

    /// # Safety
    ///
    /// `value` has `size_bytes` bytes.
    pub(crate) unsafe fn arg_bytes(&mut self, value: *const u8, size_bytes: usize) -> Result<()> {
        // SAFETY: the caller promises it; one thread at a time, because of `&mut`.
        check(unsafe { sys::km_launch_arg_scalar(self.raw, value.cast(), size_bytes as u64) })
    }

    /// The next argument is the address of an operand, whose parameter does not count.
    pub(crate) fn arg_operand(&mut self, operand: &sys::km_launch_operand) -> Result<()> {
        let slice = std::ptr::without_provenance_mut(operand.slice as usize);
        let (offset, size) = (operand.offset_bytes, operand.size_bytes);
        // SAFETY: handles are checked ids; one thread at a time, because of `&mut`.
        check(unsafe {
            sys::km_launch_arg_slice_access(self.raw, slice, offset, size, operand.access)
        })
    }

    /// Queues the kernel. Afterwards the launch may be submitted again, as it is or with all its
    /// arguments given from the first one on. Never blocks, but the first launch of a kernel may
    /// compile it. C: `km_launch_submit`.
    ///
    /// # Safety
    ///
    /// Nothing checks what the kernel does with the addresses and numbers that it is given: it must
    /// stay within the memory of its arguments, not write what [`arg_slice`](Self::arg_slice) gave,
    /// and not race with other work on memory that it reaches otherwise. What it writes must not be
    /// borrowed by others. Other work on its arguments is ordered, see
    /// [the crate's page](crate#what-is-ordered).
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_LAUNCH`](crate::Status) when shape or arguments do not fit the
    /// kernel or the device, as the message says, [`Status::ERROR_UNSUPPORTED_PTX`](crate::Status)
    /// when the device cannot run the kernel in this shape,
    /// [`Status::ERROR_COMPILER`](crate::Status) when the code generator failed,
    /// [`Status::ERROR_OUT_OF_DEVICE_MEMORY`](crate::Status) when there is no room for the launch,
    /// the sticky error of the context when a kernel failed.
    pub unsafe fn submit(&mut self) -> Result<()> {
        // SAFETY: the caller answers for the kernel; one thread at a time, because of `&mut`.
        check(unsafe { sys::km_launch_submit(self.raw) })
    }
}

fn operand<T: Pod>(place: Place, access: sys::km_access) -> sys::km_launch_operand {
    sys::km_launch_operand {
        parameter: 0,
        access,
        slice: place.slice.addr() as u64,
        offset_bytes: place.offset_bytes,
        size_bytes: (place.len * size_of::<T>()) as u64,
    }
}
