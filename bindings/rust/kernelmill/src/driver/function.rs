//! Functions: kernels, their attributes and their occupancy.

use std::ffi::c_int;
use std::sync::Arc;

use super::error::Cuda;
use super::sys::{CUfunc_cache, CUfunction_attribute, CUoccupancy_flags};
use super::{CudaModule, CudaStream, DriverError, LaunchConfig};
use crate::{Function, FunctionAttribute};

/// A kernel. It keeps its module; copies of it are counted.
#[derive(Clone, Debug)]
pub struct CudaFunction {
    native: Arc<Function>,
    module: Arc<CudaModule>,
}

impl CudaFunction {
    pub(super) fn new(native: Function, module: Arc<CudaModule>) -> Self {
        Self { native: Arc::new(native), module }
    }

    #[inline]
    pub(super) fn native(&self) -> &Function {
        &self.native
    }

    /// The module of the kernel.
    #[must_use]
    pub fn module(&self) -> &Arc<CudaModule> {
        &self.module
    }

    /// A property of the kernel as a number.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidValue`] when the library does not know the attribute.
    pub fn get_attribute(&self, attribute: CUfunction_attribute) -> Result<i32, DriverError> {
        let value = self.native.attribute(native_attribute(attribute)?).cuda()?;
        Ok(i32::try_from(value).unwrap_or(i32::MAX))
    }

    /// Sets an attribute that can be set: `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES` for
    /// launches with more than 48 KiB of dynamic shared memory, and hints.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidValue`] when the attribute cannot be set, or not to this value.
    pub fn set_attribute(
        &self,
        attribute: CUfunction_attribute,
        value: i32,
    ) -> Result<(), DriverError> {
        self.native.set_attribute(native_attribute(attribute)?, value.into()).cuda()
    }

    /// Says how the kernel divides the memory of a multiprocessor between L1 cache and shared
    /// memory. A hint, which GPUs follow.
    ///
    /// # Errors
    ///
    /// [`DriverError::ContextIsDestroyed`] when the device is lost.
    pub fn set_function_cache_config(&self, config: CUfunc_cache) -> Result<(), DriverError> {
        let percent = match config {
            CUfunc_cache::CU_FUNC_CACHE_PREFER_NONE => -1,
            CUfunc_cache::CU_FUNC_CACHE_PREFER_SHARED => 100,
            CUfunc_cache::CU_FUNC_CACHE_PREFER_L1 => 0,
            CUfunc_cache::CU_FUNC_CACHE_PREFER_EQUAL => 50,
        };
        self.native.set_attribute(FunctionAttribute::SHARED_CARVEOUT_PERCENT, percent).cuda()
    }

    /// Registers of a thread.
    ///
    /// # Errors
    ///
    /// Those of [`get_attribute`](Self::get_attribute).
    pub fn num_regs(&self) -> Result<i32, DriverError> {
        self.get_attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)
    }

    /// Static shared memory of a block.
    ///
    /// # Errors
    ///
    /// Those of [`get_attribute`](Self::get_attribute).
    pub fn shared_size_bytes(&self) -> Result<i32, DriverError> {
        self.get_attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
    }

    /// Constant memory that the module has.
    ///
    /// # Errors
    ///
    /// Those of [`get_attribute`](Self::get_attribute).
    pub fn const_size_bytes(&self) -> Result<i32, DriverError> {
        self.get_attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)
    }

    /// Local memory of a thread.
    ///
    /// # Errors
    ///
    /// Those of [`get_attribute`](Self::get_attribute).
    pub fn local_size_bytes(&self) -> Result<i32, DriverError> {
        self.get_attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
    }

    /// The most threads that a block can have.
    ///
    /// # Errors
    ///
    /// Those of [`get_attribute`](Self::get_attribute).
    pub fn max_threads_per_block(&self) -> Result<i32, DriverError> {
        self.get_attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
    }

    /// The version of the PTX: 90 for ISA 9.0.
    ///
    /// # Errors
    ///
    /// Those of [`get_attribute`](Self::get_attribute).
    pub fn ptx_version(&self) -> Result<i32, DriverError> {
        self.get_attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_PTX_VERSION)
    }

    /// The version of the machine code: 90 for sm_90.
    ///
    /// # Errors
    ///
    /// Those of [`get_attribute`](Self::get_attribute).
    pub fn binary_version(&self) -> Result<i32, DriverError> {
        self.get_attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_BINARY_VERSION)
    }

    /// The dynamic shared memory that a block can have, if a multiprocessor is to hold `num_blocks`
    /// blocks of `block_size` threads.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidValue`] when so many blocks do not fit.
    pub fn occupancy_available_dynamic_smem_per_block(
        &self,
        num_blocks: u32,
        block_size: u32,
    ) -> Result<usize, DriverError> {
        Ok(self.native.available_shared_bytes(num_blocks, block_size).cuda()? as usize)
    }

    /// How many blocks of `block_size` threads a multiprocessor holds at a time. The flags make no
    /// difference.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidValue`] when `block_size` is 0.
    pub fn occupancy_max_active_blocks_per_multiprocessor(
        &self,
        block_size: u32,
        dynamic_smem_size: usize,
        _flags: Option<CUoccupancy_flags>,
    ) -> Result<u32, DriverError> {
        Ok(self.native.occupancy(block_size, dynamic_smem_size as u64).cuda()?.active_blocks)
    }

    /// The smallest grid that fills the device, and the block size that keeps most threads busy. A
    /// block of so many threads has the dynamic shared memory that the function says; 0 as
    /// `block_size_limit`: as many threads as the kernel can have. `dynamic_smem_size` does not
    /// count beside a function, as in CUDA; nor do the flags.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidValue`] when blocks of no size fit.
    pub fn occupancy_max_potential_block_size(
        &self,
        block_size_to_dynamic_smem_size: extern "C" fn(block_size: c_int) -> usize,
        _dynamic_smem_size: usize,
        block_size_limit: u32,
        _flags: Option<CUoccupancy_flags>,
    ) -> Result<(u32, u32), DriverError> {
        let shared_of = |threads: u32| block_size_to_dynamic_smem_size(threads as c_int) as u64;
        let limit = (block_size_limit != 0).then_some(block_size_limit);
        let best = self.native.best_block_with(shared_of, limit).cuda()?;
        Ok((best.grid_blocks, best.block_threads))
    }

    /// How many clusters, of the size that the kernel was compiled for, the device holds at a time.
    ///
    /// # Errors
    ///
    /// [`DriverError::NotSupported`] when the device has no clusters.
    pub fn occupancy_max_active_clusters(
        &self,
        config: LaunchConfig,
        _stream: &CudaStream,
    ) -> Result<u32, DriverError> {
        let size = |attribute| {
            self.native.attribute(attribute).map(|blocks| u32::try_from(blocks).unwrap_or(1).max(1))
        };
        let (x, y) = (
            size(FunctionAttribute::CLUSTER_X).cuda()?,
            size(FunctionAttribute::CLUSTER_Y).cuda()?,
        );
        let blocks = x.saturating_mul(y).saturating_mul(size(FunctionAttribute::CLUSTER_Z).cuda()?);
        self.active_clusters(config, blocks)
    }

    /// The largest cluster that the device can hold, of at most 8 blocks.
    ///
    /// # Errors
    ///
    /// Those of [`occupancy_max_active_clusters`](Self::occupancy_max_active_clusters).
    pub fn occupancy_max_potential_cluster_size(
        &self,
        config: LaunchConfig,
        _stream: &CudaStream,
    ) -> Result<u32, DriverError> {
        for blocks in [8, 4, 2] {
            if self.active_clusters(config, blocks)? > 0 {
                return Ok(blocks);
            }
        }
        Ok(1)
    }

    fn active_clusters(&self, config: LaunchConfig, blocks: u32) -> Result<u32, DriverError> {
        let (x, y, z) = config.block_dim;
        let threads = x.saturating_mul(y).saturating_mul(z);
        let shared = config.shared_mem_bytes.into();
        self.native.max_active_clusters(threads, shared, blocks).cuda()
    }
}

/// The library's attribute for one of CUDA's.
fn native_attribute(attribute: CUfunction_attribute) -> Result<FunctionAttribute, DriverError> {
    use CUfunction_attribute as Cuda;
    use FunctionAttribute as Native;
    Ok(match attribute {
        Cuda::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => Native::MAX_THREADS_PER_BLOCK,
        Cuda::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => Native::SHARED_BYTES,
        Cuda::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES => Native::CONSTANT_BYTES,
        Cuda::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => Native::LOCAL_BYTES,
        Cuda::CU_FUNC_ATTRIBUTE_NUM_REGS => Native::REGISTERS,
        Cuda::CU_FUNC_ATTRIBUTE_PTX_VERSION => Native::PTX_VERSION,
        Cuda::CU_FUNC_ATTRIBUTE_BINARY_VERSION => Native::BINARY_VERSION,
        Cuda::CU_FUNC_ATTRIBUTE_CACHE_MODE_CA => Native::CACHE_GLOBALS,
        Cuda::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => Native::MAX_DYNAMIC_SHARED_BYTES,
        Cuda::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => Native::SHARED_CARVEOUT_PERCENT,
        Cuda::CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET => Native::CLUSTER_REQUIRED,
        Cuda::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH => Native::CLUSTER_X,
        Cuda::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT => Native::CLUSTER_Y,
        Cuda::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH => Native::CLUSTER_Z,
        Cuda::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED => Native::NON_PORTABLE_CLUSTER,
        Cuda::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => Native::CLUSTER_POLICY,
        other => return Err(DriverError::invalid(format!("{other:?} is not known here"))),
    })
}
