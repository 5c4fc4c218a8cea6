//! Names of older generations of cudarc, and of texts about it.

use std::sync::Arc;

use super::sys::CUevent_flags;
use super::{
    CudaContext, CudaEvent, CudaSlice, CudaStream, DeviceProperties, DevicePtr, DevicePtrMut,
    DeviceRepr, DriverError, HostSlice, PinnedHostSlice,
};

impl CudaContext {
    /// [`CudaStream::fork`] of the default stream: a new stream that waits for what that has so far.
    ///
    /// # Errors
    ///
    /// Those of [`CudaStream::fork`].
    pub fn fork_default_stream(self: &Arc<Self>) -> Result<Arc<CudaStream>, DriverError> {
        self.default_stream().fork()
    }

    /// [`new_event`](Self::new_event), one that takes the time.
    ///
    /// # Errors
    ///
    /// Those of [`new_event`](Self::new_event).
    pub fn create_event(self: &Arc<Self>) -> Result<CudaEvent, DriverError> {
        self.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT))
    }

    /// The device's name and limits. What the device does not tell is 0.
    ///
    /// # Errors
    ///
    /// [`DriverError::ContextIsDestroyed`] when the device is lost.
    pub fn device_properties(&self) -> Result<DeviceProperties, DriverError> {
        DeviceProperties::of(self)
    }
}

impl CudaStream {
    /// [`clone_htod`](Self::clone_htod).
    ///
    /// # Errors
    ///
    /// Those of [`clone_htod`](Self::clone_htod).
    pub fn htod_copy<T: DeviceRepr, Src: HostSlice<T> + ?Sized>(
        &self,
        src: &Src,
    ) -> Result<CudaSlice<T>, DriverError> {
        self.clone_htod(src)
    }

    /// [`memcpy_htod`](Self::memcpy_htod).
    ///
    /// # Errors
    ///
    /// Those of [`memcpy_htod`](Self::memcpy_htod).
    pub fn htod_copy_into<T, Src, Dst>(&self, src: &Src, dst: &mut Dst) -> Result<(), DriverError>
    where
        T: DeviceRepr,
        Src: HostSlice<T> + ?Sized,
        Dst: DevicePtrMut<T>,
    {
        self.memcpy_htod(src, dst)
    }

    /// [`memcpy_htod`](Self::memcpy_htod) from page-locked memory, which goes on by itself. The
    /// memory may be dropped or asked for at once: its calls wait.
    ///
    /// # Errors
    ///
    /// Those of [`memcpy_htod`](Self::memcpy_htod).
    pub fn htod_copy_async<T: DeviceRepr, Dst: DevicePtrMut<T>>(
        &self,
        src: &PinnedHostSlice<T>,
        dst: &mut Dst,
    ) -> Result<(), DriverError> {
        self.memcpy_htod(src, dst)
    }

    /// [`clone_dtoh`](Self::clone_dtoh).
    ///
    /// # Errors
    ///
    /// Those of [`clone_dtoh`](Self::clone_dtoh).
    pub fn dtoh_sync_copy<T: DeviceRepr, Src: DevicePtr<T>>(
        &self,
        src: &Src,
    ) -> Result<Vec<T>, DriverError> {
        self.clone_dtoh(src)
    }

    /// [`clone_htod`](Self::clone_htod).
    ///
    /// # Errors
    ///
    /// Those of [`clone_htod`](Self::clone_htod).
    pub fn memcpy_stod<T: DeviceRepr, Src: HostSlice<T> + ?Sized>(
        &self,
        src: &Src,
    ) -> Result<CudaSlice<T>, DriverError> {
        self.clone_htod(src)
    }

    /// [`clone_dtoh`](Self::clone_dtoh).
    ///
    /// # Errors
    ///
    /// Those of [`clone_dtoh`](Self::clone_dtoh).
    pub fn memcpy_dtov<T: DeviceRepr, Src: DevicePtr<T>>(
        &self,
        src: &Src,
    ) -> Result<Vec<T>, DriverError> {
        self.clone_dtoh(src)
    }

    /// [`wait`](Self::wait).
    ///
    /// # Errors
    ///
    /// Those of [`wait`](Self::wait).
    pub fn wait_event(&self, event: &CudaEvent) -> Result<(), DriverError> {
        self.wait(event)
    }
}
