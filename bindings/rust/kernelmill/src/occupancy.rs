//! Occupancy: how many blocks of a kernel fit. Code that is made before the first launch.

use std::any::Any;
use std::ffi::c_void;
use std::mem::size_of;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::null_mut;

use crate::error::check;
use crate::{Function, FunctionAttribute, Result, sys};

/// The resource that allows the fewest blocks, [`km_occupancy_limit`](sys::km_occupancy_limit):
/// `OccupancyLimit::SHARED_MEMORY`.
pub use sys::km_occupancy_limit as OccupancyLimit;

/// How many blocks of a kernel a multiprocessor holds at a time, and why no more:
/// [`Function::occupancy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Occupancy {
    /// Blocks at a time; 0: a block does not fit.
    pub active_blocks: u32,
    /// Their warps.
    pub active_warps: u32,
    /// The warps that a multiprocessor has room for.
    pub max_warps: u32,
    /// The part of the warps that is active.
    pub percent: u32,
    /// The resource that allows the fewest blocks; the first of several.
    pub limit: OccupancyLimit,
    /// Blocks that the number of warps would allow by itself; `u32::MAX`: any number.
    pub blocks_by_warps: u32,
    /// Blocks that the registers would allow.
    pub blocks_by_registers: u32,
    /// Blocks that shared memory would allow.
    pub blocks_by_shared_memory: u32,
    /// Blocks that a multiprocessor has room for at all.
    pub blocks_by_blocks: u32,
    /// Registers of a block, as they are given out.
    pub registers_per_block: u32,
    /// Shared memory of a block, as it is given out.
    pub shared_bytes_per_block: u64,
}

/// A shape for a launch: [`Function::best_block`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BestBlock {
    /// Threads of a block.
    pub block_threads: u32,
    /// The smallest grid of such blocks that fills the device.
    pub grid_blocks: u32,
}

impl Function {
    /// Makes machine code now, so that the first launch with blocks of this size (threads along x,
    /// y, z) need not wait for it. Launches work without it. Blocks until the code is made. C:
    /// `km_function_prepare`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_LAUNCH`](crate::Status) when no launch of the kernel can have such
    /// blocks, [`Status::ERROR_UNSUPPORTED_PTX`](crate::Status) when the kernel uses what the
    /// device lacks for them, [`Status::ERROR_COMPILER`](crate::Status) when the code generator
    /// fails, [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn prepare(&self, block_dim: (u32, u32, u32)) -> Result<()> {
        let (x, y, z) = block_dim;
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_function_prepare(self.as_raw(), x, y, z) })
    }

    /// Sets an attribute that can be set: the most dynamic shared memory, or one of the hints.
    /// Never blocks. C: `km_function_attribute_set`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the attribute cannot be set, or not
    /// to this value, [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn set_attribute(&self, attribute: FunctionAttribute, value: i64) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_function_attribute_set(self.as_raw(), attribute, value) })
    }

    /// How many blocks of `block_threads` threads, with `shared_mem_bytes` of dynamic shared memory
    /// each, a multiprocessor holds at a time. Never blocks. C: `km_function_occupancy`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// # let source = "extern \"C\" __global__ void empty() {}";
    /// # let function = context.load_source(source)?.load_function("empty")?;
    /// let occupancy = function.occupancy(128, 0)?;
    /// assert_eq!(occupancy.active_warps, occupancy.active_blocks * 4);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when `block_threads` is 0,
    /// [`Status::ERROR_NOT_SUPPORTED`](crate::Status) when the device does not tell its limits,
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn occupancy(&self, block_threads: u32, shared_mem_bytes: u64) -> Result<Occupancy> {
        let mut info = sys::km_occupancy {
            struct_size: size_of::<sys::km_occupancy>() as u32,
            ..Default::default()
        };
        let function = self.as_raw();
        // SAFETY: the structure says its size.
        check(unsafe {
            sys::km_function_occupancy(function, block_threads, shared_mem_bytes, &mut info)
        })?;
        Ok(Occupancy {
            active_blocks: info.active_blocks,
            active_warps: info.active_warps,
            max_warps: info.max_warps,
            percent: info.percent,
            limit: info.limit,
            blocks_by_warps: info.blocks_by_warps,
            blocks_by_registers: info.blocks_by_registers,
            blocks_by_shared_memory: info.blocks_by_shared_memory,
            blocks_by_blocks: info.blocks_by_blocks,
            registers_per_block: info.registers_per_block,
            shared_bytes_per_block: info.shared_bytes_per_block,
        })
    }

    /// The block size that keeps the most threads of a multiprocessor busy, and the smallest grid
    /// that fills the device with such blocks. Each has `shared_mem_bytes` of dynamic shared memory
    /// and at most `max_block_threads` threads; none: as many as the kernel can have. Never blocks.
    /// C: `km_function_best_block`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_LAUNCH`](crate::Status) when blocks of no size fit,
    /// [`Status::ERROR_NOT_SUPPORTED`](crate::Status) when the device does not tell its limits,
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn best_block(
        &self,
        shared_mem_bytes: u64,
        max_block_threads: Option<u32>,
    ) -> Result<BestBlock> {
        self.find_best_block(shared_mem_bytes, None, null_mut(), max_block_threads)
    }

    /// The best block size where the dynamic shared memory of a block depends on it: `shared_of` is
    /// given a number of threads and gives bytes, on this thread. A panic in it goes on when the
    /// library's call is over.
    ///
    /// # Errors
    ///
    /// Those of [`best_block`](Self::best_block).
    pub fn best_block_with<F: FnMut(u32) -> u64>(
        &self,
        shared_of: F,
        max_block_threads: Option<u32>,
    ) -> Result<BestBlock> {
        let mut state = SharedOf { shared_of, panic: None };
        let data: *mut SharedOf<F> = &mut state;
        let best =
            self.find_best_block(0, Some(call_shared_of::<F>), data.cast(), max_block_threads);
        match state.panic {
            Some(panic) => resume_unwind(panic),
            None => best,
        }
    }

    fn find_best_block(
        &self,
        shared_mem_bytes: u64,
        shared_of: sys::km_shared_bytes_callback,
        data: *mut c_void,
        max_block_threads: Option<u32>,
    ) -> Result<BestBlock> {
        let mut best = BestBlock { block_threads: 0, grid_blocks: 0 };
        // SAFETY: handles are checked ids, the out-parameters and what `shared_of` is given live
        // through the call.
        check(unsafe {
            sys::km_function_best_block(
                self.as_raw(),
                shared_mem_bytes,
                shared_of,
                data,
                max_block_threads.unwrap_or(0),
                &mut best.block_threads,
                &mut best.grid_blocks,
            )
        })?;
        Ok(best)
    }

    /// The most dynamic shared memory in bytes that a block can have while `block_count` blocks of
    /// `block_threads` threads fit on a multiprocessor. Never blocks. C:
    /// `km_function_available_shared_bytes`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_LAUNCH`](crate::Status) when so many blocks do not fit, with the
    /// reason, [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when a number is 0,
    /// [`Status::ERROR_NOT_SUPPORTED`](crate::Status) when the device does not tell its limits,
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn available_shared_bytes(&self, block_count: u32, block_threads: u32) -> Result<u64> {
        let mut bytes = 0;
        let function = self.as_raw();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe {
            sys::km_function_available_shared_bytes(
                function,
                block_count,
                block_threads,
                &mut bytes,
            )
        })?;
        Ok(bytes)
    }

    /// How many clusters of `cluster_blocks` blocks the device holds at a time, each block with
    /// `block_threads` threads and `shared_mem_bytes` of dynamic shared memory. Never blocks. C:
    /// `km_function_max_active_clusters`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when a number is 0 or the cluster has more
    /// blocks than the kernel's may, [`Status::ERROR_NOT_SUPPORTED`](crate::Status) when the device
    /// has no clusters or does not tell its limits, [`Status::ERROR_CONTEXT_LOST`](crate::Status)
    /// when the context was reset.
    pub fn max_active_clusters(
        &self,
        block_threads: u32,
        shared_mem_bytes: u64,
        cluster_blocks: u32,
    ) -> Result<u32> {
        let mut clusters = 0;
        let (function, shared) = (self.as_raw(), shared_mem_bytes);
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe {
            sys::km_function_max_active_clusters(
                function,
                block_threads,
                shared,
                cluster_blocks,
                &mut clusters,
            )
        })?;
        Ok(clusters)
    }
}

/// A function of the caller, and the panic that it ended with.
struct SharedOf<F> {
    shared_of: F,
    panic: Option<Box<dyn Any + Send>>,
}

unsafe extern "C" fn call_shared_of<F: FnMut(u32) -> u64>(data: *mut c_void, threads: u32) -> u64 {
    // SAFETY: best_block_with() gave it, and uses it only when the library's call is over.
    let state = unsafe { &mut *data.cast::<SharedOf<F>>() };
    if state.panic.is_some() {
        return 0;
    }
    match catch_unwind(AssertUnwindSafe(|| (state.shared_of)(threads))) {
        Ok(bytes) => bytes,
        Err(panic) => {
            state.panic = Some(panic); // must not unwind into the library
            0
        }
    }
}
