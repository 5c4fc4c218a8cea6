//! Several devices: memory of one that is used by another.

use crate::copy::same_len;
use crate::error::check;
use crate::{Context, Device, DeviceSlice, DeviceSliceMut, Pod, Result, Stream, sys};

impl Device {
    /// True when kernels of this device can be given memory of `peer`, by
    /// [`Context::enable_peer_access`]. A device is no peer of itself. Never blocks. C:
    /// `km_device_can_access_peer`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_HANDLE`](crate::Status) when one of the handles was destroyed.
    pub fn can_access_peer(&self, peer: &Device) -> Result<bool> {
        let mut can = 0;
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_device_can_access_peer(self.as_raw(), peer.as_raw(), &mut can) })?;
        Ok(can != 0)
    }
}

impl Context {
    /// Lets kernels of this context use memory of `peer`: its slices are taken as arguments of
    /// launches. It works in one direction, until it is disabled; enabling it twice is fine. Work
    /// of the two contexts is ordered by events. Never blocks. C: `km_context_enable_peer_access`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when both are the same,
    /// [`Status::ERROR_NOT_SUPPORTED`](crate::Status) when the devices cannot reach each other's
    /// memory.
    pub fn enable_peer_access(&self, peer: &Context) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_context_enable_peer_access(self.as_raw(), peer.as_raw()) })
    }

    /// Ends what [`enable_peer_access`](Self::enable_peer_access) began, for later launches. Never
    /// blocks. C: `km_context_disable_peer_access`.
    ///
    /// # Errors
    ///
    /// Those of [`enable_peer_access`](Self::enable_peer_access).
    pub fn disable_peer_access(&self, peer: &Context) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_context_disable_peer_access(self.as_raw(), peer.as_raw()) })
    }
}

impl Stream {
    /// Copies between as many elements of contexts and devices of one backend, which may differ
    /// from each other and from the stream's, with or without peer access. It is ordered by this
    /// stream only; order it after other streams by events. Never blocks. C: `km_slice_copy_peer`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// let (here, there) = (kernelmill::Context::open("cpu")?, kernelmill::Context::open("cpu")?);
    /// let stream = here.default_stream()?;
    /// let source = stream.clone_htod(&[1u32, 2, 3])?;
    /// let mut destination = there.alloc_zeros(3)?;
    /// stream.memcpy_peer(&source, &mut destination)?;
    /// stream.synchronize()?; // the other context's streams do not wait by themselves
    /// assert_eq!(there.default_stream()?.clone_dtoh(&destination)?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the lengths differ,
    /// [`Status::ERROR_NOT_SUPPORTED`](crate::Status) when the contexts are of different backends,
    /// the sticky error of the stream's context when a kernel failed.
    pub fn memcpy_peer<T: Pod>(
        &self,
        source: &impl DeviceSlice<T>,
        destination: &mut impl DeviceSliceMut<T>,
    ) -> Result<()> {
        let (from, to) = (source.place(), destination.place());
        same_len("memcpy_peer", from.len, to.len)?;
        let (stream, size) = (self.as_raw(), source.size_bytes() as u64);
        // SAFETY: handles are checked ids, and ranges are checked.
        check(unsafe {
            sys::km_slice_copy_peer(
                stream,
                to.slice,
                to.offset_bytes,
                from.slice,
                from.offset_bytes,
                size,
            )
        })
    }
}
