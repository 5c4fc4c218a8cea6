//! The part of cudarc's middle layer that names no handles: devices, and the current context's
//! memory.

use super::context::Shared;
use super::error::Cuda;

pub use super::DriverError;

/// Loads the library, which else the first call does.
///
/// # Errors
///
/// [`DriverError::SharedObjectInitFailed`] when it cannot be loaded; `Display` says where it was
/// looked for.
pub fn init() -> Result<(), DriverError> {
    crate::version().cuda()?;
    Ok(())
}

/// Memory of this thread's current context, that of the [`CudaContext`](super::CudaContext) that it
/// opened or bound last, in bytes: what can still be allocated now, and all of it. A thread without
/// one asks the first device.
///
/// ```
/// # fn main() -> Result<(), kernelmill::driver::DriverError> {
/// let (free, total) = kernelmill::driver::result::mem_get_info()?;
/// assert!(free <= total);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Those of [`CudaContext::new`](super::CudaContext::new).
pub fn mem_get_info() -> Result<(usize, usize), DriverError> {
    let (free, total) = Shared::current()?.native.memory_info().cuda()?;
    Ok((free as usize, total as usize))
}

/// Devices by their numbers.
pub mod device {
    use super::super::context::{device_count, open_device};
    use super::super::error::Cuda;
    use super::super::sys::{CUdevice, CUdevice_attribute};
    use super::DriverError;

    /// How many devices there are.
    ///
    /// # Errors
    ///
    /// [`DriverError::SharedObjectInitFailed`] when the library cannot be loaded.
    pub fn get_count() -> Result<i32, DriverError> {
        device_count()
    }

    /// The device of this number: the number itself.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidDevice`] when there is no such device.
    pub fn get(ordinal: i32) -> Result<CUdevice, DriverError> {
        open(ordinal)?;
        Ok(ordinal)
    }

    /// The device's name.
    ///
    /// # Errors
    ///
    /// Those of [`get`].
    pub fn get_name(device: CUdevice) -> Result<String, DriverError> {
        Ok(open(device)?.info().cuda()?.name)
    }

    /// All of the device's memory, in bytes.
    ///
    /// # Safety
    ///
    /// None is needed; it is unsafe as in cudarc.
    ///
    /// # Errors
    ///
    /// Those of [`get`].
    pub unsafe fn total_mem(device: CUdevice) -> Result<usize, DriverError> {
        Ok(open(device)?.info().cuda()?.total_memory_bytes as usize)
    }

    /// A property of the device as a number, in CUDA's unit.
    ///
    /// # Safety
    ///
    /// None is needed; it is unsafe as in cudarc.
    ///
    /// # Errors
    ///
    /// Those of [`get`] and of [`CudaContext::attribute`](super::super::CudaContext::attribute).
    pub unsafe fn get_attribute(
        device: CUdevice,
        attribute: CUdevice_attribute,
    ) -> Result<i32, DriverError> {
        let value = open(device)?.cuda_attribute(attribute as i32).cuda()?;
        Ok(i32::try_from(value).unwrap_or(i32::MAX))
    }

    fn open(ordinal: i32) -> Result<crate::Device, DriverError> {
        let number = usize::try_from(ordinal).map_err(|_| {
            DriverError::invalid(format!("device is {ordinal}; devices are counted from 0"))
        })?;
        open_device(number)
    }
}
