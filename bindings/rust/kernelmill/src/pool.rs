//! Pools of device memory.

use std::mem::size_of;
use std::ptr::null_mut;

use crate::error::check;
use crate::handle::owned_handle;
use crate::{Context, Pod, Result, Slice, Stream, sys};

owned_handle! {
    /// A pool of device memory, made by [`Context::new_pool`]: blocks that are freed are kept and
    /// given out again, which costs a small part of what allocating from the device does. Slices
    /// out of it are like all others and keep it alive. C: `km_pool`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// let pool = context.new_pool(Some(1 << 20))?; // at most 1 MiB
    /// drop(pool.alloc_zeros::<f32>(1000)?);
    /// let again = pool.alloc::<f32>(1000)?; // the same block
    /// let info = pool.info()?;
    /// assert_eq!((info.allocation_count, info.reuse_count), (2, 1));
    /// assert_eq!(info.used_bytes, 4096); // in steps of an eighth at most
    /// # drop(again);
    /// # Ok(())
    /// # }
    /// ```
    Pool, km_pool, km_pool_destroy
}

/// The figures of a pool: [`Pool::info`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolInfo {
    /// The most that the pool takes from the device; none: as much as there is.
    pub limit_bytes: Option<u64>,
    /// How much it keeps when blocks are freed; none: all of it.
    pub release_threshold_bytes: Option<u64>,
    /// The size of the blocks in use.
    pub used_bytes: u64,
    /// The most that it was since the start or [`Pool::reset_high_water`].
    pub used_high_bytes: u64,
    /// The size of all blocks.
    pub reserved_bytes: u64,
    /// The most that it was since the start or [`Pool::reset_high_water`].
    pub reserved_high_bytes: u64,
    /// How many blocks are in use.
    pub used_block_count: u64,
    /// How many allocations there were.
    pub allocation_count: u64,
    /// How many of them took a block that was there.
    pub reuse_count: u64,
}

impl Context {
    /// A new pool that takes at most `limit_bytes` from the device; without a limit, or with 0, as
    /// much as there is. Never blocks. C: `km_pool_create`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_HANDLE`](crate::Status) when the context's handle was destroyed.
    pub fn new_pool(&self, limit_bytes: Option<u64>) -> Result<Pool> {
        let mut raw = null_mut();
        let limit = limit_bytes.unwrap_or(0);
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_pool_create(self.as_raw(), limit, &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        Ok(unsafe { Pool::from_raw(raw) })
    }
}

impl Pool {
    /// Memory for `len` elements with any content, usable at once on every stream. Never blocks.
    /// C: `km_pool_allocate`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_DEVICE_MEMORY`](crate::Status) when the pool's limit or the device's
    /// memory does not allow it, with the figures,
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when an element has no size or all do not
    /// fit 64 bits, the sticky error of the context when a kernel failed.
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<Slice<T>> {
        self.allocate(len, sys::km_slice_flags::DEFAULT)
    }

    /// Memory like that of [`alloc`](Self::alloc), zeroed. The call may wait for the zeros where
    /// the host cannot reach the device's memory.
    ///
    /// # Errors
    ///
    /// Those of [`alloc`](Self::alloc), and [`Status::ERROR_NOT_PERMITTED`](crate::Status) inside a
    /// callback.
    pub fn alloc_zeros<T: Pod>(&self, len: usize) -> Result<Slice<T>> {
        self.allocate(len, sys::km_slice_flags::ZEROED)
    }

    /// Memory for `len` elements with any content, for work that is queued in `stream` from now on.
    /// A block that this stream used last is taken at once, before that use is over. Give it back
    /// with [`Slice::free_on`]. Never blocks. C: `km_pool_allocate_on_stream`.
    ///
    /// # Errors
    ///
    /// Those of [`alloc`](Self::alloc), and [`Status::ERROR_CONTEXT_MISMATCH`](crate::Status) when
    /// the stream is of another context.
    pub fn alloc_on<T: Pod>(&self, stream: &Stream, len: usize) -> Result<Slice<T>> {
        self.allocate_on(stream, len, sys::km_slice_flags::DEFAULT)
    }

    /// Memory like that of [`alloc_on`](Self::alloc_on), zeroed.
    ///
    /// # Errors
    ///
    /// Those of [`alloc_on`](Self::alloc_on).
    pub fn alloc_zeros_on<T: Pod>(&self, stream: &Stream, len: usize) -> Result<Slice<T>> {
        self.allocate_on(stream, len, sys::km_slice_flags::ZEROED)
    }

    fn allocate<T: Pod>(&self, len: usize, flags: sys::km_slice_flags) -> Result<Slice<T>> {
        let (count, size) = (len as u64, size_of::<T>() as u64);
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_pool_allocate(self.raw, count, size, flags, &mut raw) })?;
        Ok(Slice::adopt(raw, len))
    }

    fn allocate_on<T: Pod>(
        &self,
        stream: &Stream,
        len: usize,
        flags: sys::km_slice_flags,
    ) -> Result<Slice<T>> {
        let (count, size) = (len as u64, size_of::<T>() as u64);
        let stream = stream.as_raw();
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe {
            sys::km_pool_allocate_on_stream(self.raw, stream, count, size, flags, &mut raw)
        })?;
        Ok(Slice::adopt(raw, len))
    }

    /// Has the pool give free blocks back to the device while it has more than this; none, as at
    /// the start: it keeps all. Never blocks. C: `km_pool_set_release_threshold`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn set_release_threshold(&self, threshold_bytes: Option<u64>) -> Result<()> {
        let threshold = threshold_bytes.unwrap_or(u64::MAX);
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_pool_set_release_threshold(self.raw, threshold) })
    }

    /// Gives free blocks that no work uses any more back to the device, the largest first, until
    /// the pool has at most `keep_bytes` or none are left. Never blocks. C: `km_pool_trim`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn trim(&self, keep_bytes: u64) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_pool_trim(self.raw, keep_bytes) })
    }

    /// The pool's figures. Never blocks. C: `km_pool_info_get`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn info(&self) -> Result<PoolInfo> {
        let mut info = sys::km_pool_info {
            struct_size: size_of::<sys::km_pool_info>() as u32,
            ..Default::default()
        };
        // SAFETY: the structure says its size.
        check(unsafe { sys::km_pool_info_get(self.raw, &mut info) })?;
        let threshold = info.release_threshold_bytes;
        Ok(PoolInfo {
            limit_bytes: (info.limit_bytes != 0).then_some(info.limit_bytes),
            release_threshold_bytes: (threshold != u64::MAX).then_some(threshold),
            used_bytes: info.used_bytes,
            used_high_bytes: info.used_high_bytes,
            reserved_bytes: info.reserved_bytes,
            reserved_high_bytes: info.reserved_high_bytes,
            used_block_count: info.used_block_count,
            allocation_count: info.allocation_count,
            reuse_count: info.reuse_count,
        })
    }

    /// Has the high-water marks start from what is used and reserved now. Never blocks. C:
    /// `km_pool_reset_high_water`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn reset_high_water(&self) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_pool_reset_high_water(self.raw) })
    }
}
