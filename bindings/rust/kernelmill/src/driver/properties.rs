//! Properties of devices, all at once.

use super::error::Cuda;
use super::sys::CUdevice_attribute as Attribute;
use super::{CudaContext, DriverError};

/// A device's name and limits, under the names of CUDA's `cudaDeviceProp`. What a device does not
/// tell is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceProperties {
    /// The name that the maker gave it.
    pub name: String,
    /// All of its memory, in bytes.
    pub total_global_mem: usize,
    /// Shared memory of a block, in bytes, without opting in.
    pub shared_mem_per_block: usize,
    /// Shared memory of a block, in bytes, when its kernel opts in.
    pub shared_mem_per_block_optin: usize,
    /// Shared memory of a multiprocessor, in bytes.
    pub shared_mem_per_multiprocessor: usize,
    /// Registers of a block.
    pub regs_per_block: usize,
    /// Threads of a warp.
    pub warp_size: usize,
    /// Threads of a block, over all dimensions.
    pub max_threads_per_block: usize,
    /// Threads of a block along x, y, z.
    pub max_threads_dim: [usize; 3],
    /// Blocks of a grid along x, y, z.
    pub max_grid_size: [usize; 3],
    /// Threads of a multiprocessor.
    pub max_threads_per_multi_processor: usize,
    /// Multiprocessors, as CUDA counts them.
    pub multi_processor_count: usize,
    /// The compute capability's major number.
    pub major: usize,
    /// The compute capability's minor number.
    pub minor: usize,
    /// The clock of its cores, in kHz.
    pub clock_rate: usize,
    /// The clock of its memory, in kHz.
    pub memory_clock_rate: usize,
    /// The width of the bus to its memory, in bits.
    pub memory_bus_width: usize,
    /// Constant memory, in bytes.
    pub total_const_mem: usize,
    /// The L2 cache, in bytes.
    pub l2_cache_size: usize,
    /// True when its memory is that of the host.
    pub integrated: bool,
    /// True when it can use memory of the host.
    pub can_map_host_memory: bool,
    /// True when host and device can share memory.
    pub managed_memory: bool,
    /// True when kernels of several streams run at the same time.
    pub concurrent_kernels: bool,
    /// True when blocks of a grid may wait for each other.
    pub cooperative_launch: bool,
    /// True when its memory corrects errors.
    pub ecc_enabled: bool,
}

impl DeviceProperties {
    pub(super) fn of(context: &CudaContext) -> Result<Self, DriverError> {
        let info = context.shared.device.info().cuda()?;
        let device = &context.shared.device;
        // A property that it does not tell is 0.
        let number = |attribute: Attribute| {
            let value = device.cuda_attribute(attribute as i32).unwrap_or(0);
            usize::try_from(value).unwrap_or(0)
        };
        Ok(Self {
            name: info.name,
            total_global_mem: info.total_memory_bytes as usize,
            shared_mem_per_block: info.shared_bytes_per_block as usize,
            shared_mem_per_block_optin: info.shared_bytes_per_block_max as usize,
            shared_mem_per_multiprocessor: number(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
            ),
            regs_per_block: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
            warp_size: info.warp_size as usize,
            max_threads_per_block: info.max_threads_per_block as usize,
            max_threads_dim: info.max_block_dim.map(|threads| threads as usize),
            max_grid_size: info.max_grid_dim.map(|blocks| blocks as usize),
            max_threads_per_multi_processor: number(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
            ),
            multi_processor_count: info.multiprocessor_count as usize,
            major: info.compute_capability.0 as usize,
            minor: info.compute_capability.1 as usize,
            clock_rate: info.clock_rate_khz as usize,
            memory_clock_rate: info.memory_clock_rate_khz as usize,
            memory_bus_width: info.memory_bus_width_bits as usize,
            total_const_mem: number(Attribute::CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
            l2_cache_size: number(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
            integrated: number(Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0,
            can_map_host_memory: number(Attribute::CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY) != 0,
            managed_memory: number(Attribute::CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY) != 0,
            concurrent_kernels: number(Attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS) != 0,
            cooperative_launch: number(Attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) != 0,
            ecc_enabled: number(Attribute::CU_DEVICE_ATTRIBUTE_ECC_ENABLED) != 0,
        })
    }
}
