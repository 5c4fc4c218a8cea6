//! Backends and devices.

use std::mem::size_of;
use std::ptr::null_mut;

use crate::error::{array_text, c_string, check};
use crate::handle::owned_handle;
use crate::{Context, Result, Status, sys};

/// A property of a device that is a number: `DeviceAttribute::WARP_SIZE`.
pub use sys::km_device_attribute as DeviceAttribute;

owned_handle! {
    /// One device of a backend.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// use kernelmill::{Device, DeviceAttribute};
    /// let device = Device::open("cpu")?;
    /// let info = device.info()?;
    /// assert_eq!((info.uri.as_str(), info.warp_size), ("cpu:0", 32));
    /// assert_eq!(device.attribute(DeviceAttribute::WARP_SIZE)?, 32);
    /// # Ok(())
    /// # }
    /// ```
    Device, km_device, km_device_destroy
}

impl Device {
    /// Opens a device by its URI: "cpu" or "cpu:0", "cpu:1" ..., or "auto", which is the one that
    /// `KM_DEVICE` names, else the first CUDA device that works, else the CPU. Loading a backend
    /// takes milliseconds. C: `km_device_open`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when it is no URI of this form,
    /// [`Status::ERROR_BACKEND_UNAVAILABLE`](crate::Status) when there is no such backend or it
    /// does not work here, as the message says, [`Status::ERROR_NO_DEVICE`](crate::Status) when the
    /// backend has no device of this number, [`Status::ERROR_BUILD_MISMATCH`](crate::Status) when
    /// the plugin of the backend comes from another build.
    pub fn open(uri: &str) -> Result<Self> {
        let uri = c_string(uri, "uri")?;
        let mut raw = null_mut();
        // SAFETY: both arguments live through the call.
        check(unsafe { sys::km_device_open(uri.as_ptr(), &mut raw) })?;
        Ok(Self { raw })
    }

    /// How many devices the backend of this name has; without a name, those of all backends that
    /// are usable here. Loading a backend takes milliseconds. C: `km_device_count`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_BACKEND_UNAVAILABLE`](crate::Status) when there is no such backend or it
    /// does not work here, [`Status::ERROR_BUILD_MISMATCH`](crate::Status) when the plugin of the
    /// backend comes from another build.
    pub fn count(backend: Option<&str>) -> Result<u32> {
        let backend = backend.map(|name| c_string(name, "backend")).transpose()?;
        let name = backend.as_ref().map_or(std::ptr::null(), |name| name.as_ptr());
        let mut count = 0;
        // SAFETY: both arguments live through the call.
        check(unsafe { sys::km_device_count(name, &mut count) })?;
        Ok(count)
    }

    /// A description of the device and its limits. Never blocks. C: `km_device_info_get`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_BACKEND_UNAVAILABLE`](crate::Status) when the library is missing.
    pub fn info(&self) -> Result<DeviceInfo> {
        let mut info = sys::km_device_info {
            struct_size: size_of::<sys::km_device_info>() as u32,
            ..Default::default()
        };
        // SAFETY: the structure says its size.
        check(unsafe { sys::km_device_info_get(self.raw, &mut info) })?;
        Ok(DeviceInfo::from(&info))
    }

    /// One property as a number. Never blocks. C: `km_device_attribute_get`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_SUPPORTED`](crate::Status) when the device cannot tell,
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when there is no such property.
    pub fn attribute(&self, attribute: DeviceAttribute) -> Result<i64> {
        let mut value = 0;
        // SAFETY: the out-parameter lives through the call.
        check(unsafe { sys::km_device_attribute_get(self.raw, attribute, &mut value) })?;
        Ok(value)
    }

    /// Opens a context on the device; a device can have several. C: `km_context_create_with_flags`.
    ///
    /// # Errors
    ///
    /// Those of [`Context::new`].
    pub fn create_context(&self) -> Result<Context> {
        Context::new(self)
    }
}

/// A description of a device and its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// "cpu:0"
    pub uri: String,
    /// "cpu"
    pub backend: String,
    /// The name that the maker gave it.
    pub name: String,
    /// "avx512", "avx2", "x86-64-v2"; "sm_90"
    pub isa: String,
    /// Which of its backend's devices it is, from 0.
    pub ordinal: u32,
    /// All of its memory.
    pub total_memory_bytes: u64,
    /// Major and minor number.
    pub compute_capability: (u32, u32),
    /// Multiprocessors, as CUDA counts them.
    pub multiprocessor_count: u32,
    /// Threads in a warp.
    pub warp_size: u32,
    /// Threads in a block, over all dimensions.
    pub max_threads_per_block: u32,
    /// Threads along x, y, z.
    pub max_block_dim: [u32; 3],
    /// Blocks along x, y, z.
    pub max_grid_dim: [u32; 3],
    /// Without opting in.
    pub shared_bytes_per_block: u64,
    /// With [`Function::set_max_dynamic_shared_bytes`](crate::Function).
    pub shared_bytes_per_block_max: u64,
    /// The clock of its cores; 0: unknown.
    pub clock_rate_khz: u64,
    /// The clock of its memory; 0: unknown.
    pub memory_clock_rate_khz: u64,
    /// The width of the bus to its memory; 0: unknown.
    pub memory_bus_width_bits: u32,
    /// Worker threads of a CPU device, else 0.
    pub threads: u32,
}

impl From<&sys::km_device_info> for DeviceInfo {
    fn from(info: &sys::km_device_info) -> Self {
        Self {
            uri: array_text(&info.uri),
            backend: array_text(&info.backend),
            name: array_text(&info.name),
            isa: array_text(&info.isa),
            ordinal: info.ordinal,
            total_memory_bytes: info.total_memory_bytes,
            compute_capability: (info.compute_capability_major, info.compute_capability_minor),
            multiprocessor_count: info.multiprocessor_count,
            warp_size: info.warp_size,
            max_threads_per_block: info.max_threads_per_block,
            max_block_dim: info.max_block_dim,
            max_grid_dim: info.max_grid_dim,
            shared_bytes_per_block: info.shared_bytes_per_block,
            shared_bytes_per_block_max: info.shared_bytes_per_block_max,
            clock_rate_khz: info.clock_rate_khz,
            memory_clock_rate_khz: info.memory_clock_rate_khz,
            memory_bus_width_bits: info.memory_bus_width_bits,
            threads: info.threads,
        }
    }
}

/// A way to run kernels, usable here or not.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackendInfo {
    /// "cpu"
    pub name: String,
    /// 0 where it is not usable.
    pub device_count: u32,
    /// [`Status::SUCCESS`]: usable.
    pub status: Status,
    /// Why it is not usable; else empty.
    pub reason: String,
}

/// All backends that the library knows. Loading a backend takes milliseconds. C:
/// `km_backend_info_get`.
///
/// # Errors
///
/// [`Status::ERROR_BACKEND_UNAVAILABLE`](crate::Status) when the library is missing; a backend that
/// does not work is an entry of the list.
pub fn backends() -> Result<Vec<BackendInfo>> {
    let mut count = 0;
    // SAFETY: the out-parameter lives through the call.
    check(unsafe { sys::km_backend_count(&mut count) })?;
    (0..count).map(backend_info).collect()
}

fn backend_info(index: u32) -> Result<BackendInfo> {
    let mut info = sys::km_backend_info {
        struct_size: size_of::<sys::km_backend_info>() as u32,
        ..Default::default()
    };
    // SAFETY: the structure says its size.
    check(unsafe { sys::km_backend_info_get(index, &mut info) })?;
    Ok(BackendInfo {
        name: array_text(&info.name),
        device_count: info.device_count,
        status: info.status,
        reason: array_text(&info.reason),
    })
}

/// Major, minor and patch number of the library in use, which may be newer than this crate. Never
/// blocks. C: `km_version`.
///
/// # Errors
///
/// [`Status::ERROR_BACKEND_UNAVAILABLE`](crate::Status) when the library is missing.
pub fn version() -> Result<(u32, u32, u32)> {
    let mut version = (0, 0, 0);
    // SAFETY: the out-parameters live through the call.
    check(unsafe { sys::km_version(&mut version.0, &mut version.1, &mut version.2) })?;
    Ok(version)
}
