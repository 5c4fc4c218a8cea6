//! The traits that all kinds of device memory have in common.

use std::sync::Arc;

use super::memory::Memory;
use super::sys::CUdeviceptr;
use super::{CudaSlice, CudaStream, CudaView, CudaViewMut, DriverError, UnifiedSlice};
use crate::view::Place;

pub(crate) mod sealed {
    use std::sync::Arc;

    use super::{Memory, Place};

    pub trait Located {
        #[doc(hidden)]
        fn memory(&self) -> &Arc<Memory>;

        /// The bytes that are meant.
        #[doc(hidden)]
        fn bytes(&self) -> Place;
    }
}
use sealed::Located;

/// Device memory: slices, views, and unified memory.
pub trait DeviceSlice<T>: Located {
    /// The number of elements.
    fn len(&self) -> usize;

    /// True when there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size of all elements.
    fn num_bytes(&self) -> usize {
        self.len() * size_of::<T>()
    }

    /// The stream that the memory was allocated on.
    fn stream(&self) -> &Arc<CudaStream> {
        &self.memory().stream
    }
}

/// Device memory that can be read.
pub trait DevicePtr<T>: DeviceSlice<T> {
    /// The address of the first element, for calls by address, and a guard for the time of those
    /// calls. Kernels that are given an address are not ordered between streams, so where the context
    /// has several this waits for uses of the memory, and the guard waits for `stream` when it is
    /// dropped.
    /// The address is 0 where there is none, and the context's
    /// [`check_err`](super::CudaContext::check_err) says why.
    fn device_ptr<'a>(&'a self, stream: &'a CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
        address(self.memory(), self.bytes(), stream, Memory::wait_for_writes)
    }
}

/// Device memory that can be written.
pub trait DevicePtrMut<T>: DeviceSlice<T> {
    /// [`DevicePtr::device_ptr`] for calls that write.
    fn device_ptr_mut<'a>(&'a mut self, stream: &'a CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
        address(self.memory(), self.bytes(), stream, Memory::wait_for_uses)
    }
}

fn address<'a>(
    memory: &Memory,
    place: Place,
    stream: &'a CudaStream,
    wait: impl FnOnce(&Memory) -> Result<(), DriverError>,
) -> (CUdeviceptr, SyncOnDrop<'a>) {
    let context = stream.context();
    let found = memory.check_access(stream).and_then(|()| memory.address());
    if !context.is_managing_stream_synchronization() {
        return (ready(found, place, stream), SyncOnDrop::Sync(None));
    }
    context.record_err(wait(memory));
    (ready(found, place, stream), SyncOnDrop::Sync(Some(stream)))
}

fn ready(
    found: Result<CUdeviceptr, DriverError>,
    place: Place,
    stream: &CudaStream,
) -> CUdeviceptr {
    match found {
        Ok(address) => address + place.offset_bytes,
        failed => {
            stream.context().record_err(failed);
            0
        }
    }
}

/// The time in which an address is used: [`DevicePtr::device_ptr`].
#[derive(Debug)]
#[must_use = "calls by the address are over when it is dropped"]
pub enum SyncOnDrop<'a> {
    /// Waits for this stream when it is dropped.
    Sync(Option<&'a CudaStream>),
}

impl<'a> SyncOnDrop<'a> {
    /// Waits for the stream when it is dropped.
    pub fn sync_stream(stream: &'a CudaStream) -> Self {
        Self::Sync(Some(stream))
    }
}

impl Drop for SyncOnDrop<'_> {
    fn drop(&mut self) {
        let Self::Sync(stream) = self;
        if let Some(stream) = stream {
            stream.context().record_err(stream.synchronize());
        }
    }
}

macro_rules! device_memory {
    ($($kind:ty { $($write:tt)? })*) => {
        $(
            impl<T> DeviceSlice<T> for $kind {
                fn len(&self) -> usize {
                    self.len()
                }
            }
            impl<T> DevicePtr<T> for $kind {}
            $(device_memory! { @ $write $kind })?
        )*
    };
    (@ mut $kind:ty) => {
        impl<T> DevicePtrMut<T> for $kind {}
    };
}
device_memory! {
    CudaSlice<T> { mut }
    CudaView<'_, T> {}
    CudaViewMut<'_, T> { mut }
    UnifiedSlice<T> { mut }
}
