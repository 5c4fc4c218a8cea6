//! The device of a context, and limits of the context.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::error::Cuda;
use super::sys::{CUctx_flags, CUdevice_attribute, CUfunc_cache, CUlimit, CUresult};
use super::{CudaContext, DriverError};
use crate::{ContextLimit, Error, Status};

impl CudaContext {
    /// The device's name.
    ///
    /// # Errors
    ///
    /// None; the signature is cudarc's.
    pub fn name(&self) -> Result<String, DriverError> {
        Ok(self.shared.info.name.clone())
    }

    /// Major and minor number of the device's compute capability.
    ///
    /// # Errors
    ///
    /// None; the signature is cudarc's.
    pub fn compute_capability(&self) -> Result<(i32, i32), DriverError> {
        let (major, minor) = self.shared.info.compute_capability;
        Ok((major as i32, minor as i32))
    }

    /// All of the device's memory, in bytes.
    ///
    /// # Errors
    ///
    /// None; the signature is cudarc's.
    pub fn total_mem(&self) -> Result<usize, DriverError> {
        Ok(self.shared.info.total_memory_bytes as usize)
    }

    /// The device's memory in bytes: what can still be allocated now, and all of it.
    ///
    /// # Errors
    ///
    /// [`DriverError::ContextIsDestroyed`] when the device is lost.
    pub fn mem_get_info(&self) -> Result<(usize, usize), DriverError> {
        let (free, total) = self.shared.native.memory_info().cuda()?;
        Ok((free as usize, total as usize))
    }

    /// A property of the device as a number, in CUDA's unit.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidValue`] when the library does not know the attribute,
    /// [`DriverError::NotSupported`] when the device cannot tell.
    pub fn attribute(&self, attribute: CUdevice_attribute) -> Result<i32, DriverError> {
        let value = self.shared.device.cuda_attribute(attribute as i32).cuda()?;
        Ok(i32::try_from(value).unwrap_or(i32::MAX))
    }

    /// A limit of the context. Some bound nothing on CPUs, whose threads have all the stack that
    /// they can have, and whose kernels wait for no kernels: they have CUDA's defaults there, or
    /// what they were set to.
    ///
    /// # Errors
    ///
    /// [`DriverError::UnsupportedLimit`] when the device has no such limit.
    pub fn get_limit(&self, limit: CUlimit) -> Result<usize, DriverError> {
        if let Some(kept) = self.kept_limit(limit) {
            return Ok(kept.load(Ordering::Acquire));
        }
        let value = self.shared.native.limit(native_limit(limit)?).map_err(unsupported)?;
        Ok(value as usize)
    }

    /// Sets a limit for work that is queued from now on. The device may have more than that.
    ///
    /// # Errors
    ///
    /// [`DriverError::UnsupportedLimit`] when the device has no such limit, or cannot have that
    /// much.
    pub fn set_limit(&self, limit: CUlimit, value: usize) -> Result<(), DriverError> {
        let native = &self.shared.native;
        let known = native_limit(limit)?;
        match self.kept_limit(limit) {
            Some(kept) if !native.limit(known).is_ok_and(|most| value as u64 > most) => {
                kept.store(value, Ordering::Release);
                Ok(())
            }
            _ => native.set_limit(known, value as u64).map_err(unsupported),
        }
    }

    /// The value of a limit that bounds nothing on this device.
    fn kept_limit(&self, limit: CUlimit) -> Option<&AtomicUsize> {
        let [stack, sync_depth] = &self.shared.kept_limits;
        match limit {
            _ if self.shared.info.backend != "cpu" => None,
            CUlimit::CU_LIMIT_STACK_SIZE => Some(stack),
            CUlimit::CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH => Some(sync_depth),
            _ => None,
        }
    }

    /// Says how the context is to be. Each context blocks the thread that waits for it, after some
    /// microseconds of looking, and maps memory of the host: flags for that are taken, others are
    /// errors.
    ///
    /// # Errors
    ///
    /// [`DriverError::NotSupported`] for `CU_CTX_SCHED_SPIN`, `CU_CTX_SCHED_YIELD` and the like.
    pub fn set_flags(&self, flags: CUctx_flags) -> Result<(), DriverError> {
        check_flags(flags as u32)
    }

    /// Asks for waits that block the thread, as they do.
    ///
    /// # Errors
    ///
    /// None; the signature is cudarc's.
    pub fn set_blocking_synchronize(&self) -> Result<(), DriverError> {
        self.set_flags(CUctx_flags::CU_CTX_SCHED_BLOCKING_SYNC)
    }

    /// The preference of [`set_cache_config`](Self::set_cache_config).
    ///
    /// # Errors
    ///
    /// None; the signature is cudarc's.
    pub fn get_cache_config(&self) -> Result<CUfunc_cache, DriverError> {
        let all = [
            CUfunc_cache::CU_FUNC_CACHE_PREFER_SHARED,
            CUfunc_cache::CU_FUNC_CACHE_PREFER_L1,
            CUfunc_cache::CU_FUNC_CACHE_PREFER_EQUAL,
        ];
        let value = self.shared.cache_config.load(Ordering::Acquire);
        let found = all.into_iter().find(|one| *one as i32 == value);
        Ok(found.unwrap_or(CUfunc_cache::CU_FUNC_CACHE_PREFER_NONE))
    }

    /// Notes a preference between L1 cache and shared memory. It is a hint, which is kept and given
    /// back, and which no device here follows; that of a kernel,
    /// [`set_function_cache_config`](super::CudaFunction::set_function_cache_config), is followed
    /// on GPUs.
    ///
    /// # Errors
    ///
    /// None; the signature is cudarc's.
    pub fn set_cache_config(&self, config: CUfunc_cache) -> Result<(), DriverError> {
        self.shared.cache_config.store(config as i32, Ordering::Release);
        Ok(())
    }
}

/// How contexts are asked to be: those flags that say how they are.
pub(super) fn check_flags(flags: u32) -> Result<(), DriverError> {
    let known = CUctx_flags::CU_CTX_SCHED_BLOCKING_SYNC as u32
        | CUctx_flags::CU_CTX_MAP_HOST as u32
        | CUctx_flags::CU_CTX_LMEM_RESIZE_TO_MAX as u32;
    if flags & !known == 0 {
        return Ok(());
    }
    let message = format!(
        "flags is {flags:#x}; contexts here block the thread that waits for them, and take only \
         bits of {known:#x}"
    );
    Err(DriverError::of_library(Error::new(Status::ERROR_NOT_SUPPORTED, message)))
}

/// CUDA's limits have the library's numbers, less one.
fn native_limit(limit: CUlimit) -> Result<ContextLimit, DriverError> {
    let number = limit as i32 + 1;
    if number > ContextLimit::PERSISTING_L2_BYTES.0 {
        let message = format!("{limit:?} is no limit of devices here");
        return Err(unsupported(Error::new(Status::ERROR_NOT_SUPPORTED, message)));
    }
    Ok(crate::sys::km_context_limit(number))
}

/// The result that CUDA gives for a limit.
fn unsupported(error: Error) -> DriverError {
    match error.status() {
        Status::ERROR_NOT_SUPPORTED => {
            DriverError::of(CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT, error)
        }
        _ => DriverError::of_library(error),
    }
}
