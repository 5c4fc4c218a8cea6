//! Device memory, counted by all who use it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::error::Cuda;
use super::sys::{CUdeviceptr, CUmemAttach_flags};
use super::{CudaStream, DriverError};
use crate::view::Place;
use crate::view::sealed::HasPlace;
use crate::{DeviceType, ElementType, Error, Extent, Pod, Rows, Slice, Status};

/// An allocation. It is freed when no slice, no launch under construction and no queued work uses it
/// any more.
#[derive(Debug)]
pub struct Memory {
    slice: Slice<u8>,
    pub(super) stream: Arc<CudaStream>,
    pub(super) attachment: Option<Attachment>, // of memory that host and device share
    address: OnceLock<CUdeviceptr>,
}

/// Which stream may use memory that host and device share.
#[derive(Debug)]
pub(super) struct Attachment {
    state: Mutex<(CUmemAttach_flags, Option<Arc<CudaStream>>)>,
    // The handle of the only stream, 0: any.
    only: AtomicU64,
}

impl Attachment {
    pub fn new(flags: CUmemAttach_flags) -> Self {
        Self { state: Mutex::new((flags, None)), only: AtomicU64::new(0) }
    }

    pub fn flags(&self) -> CUmemAttach_flags {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    pub fn set(&self, flags: CUmemAttach_flags, stream: &CudaStream) {
        let is_single = flags == CUmemAttach_flags::CU_MEM_ATTACH_SINGLE;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = (flags, is_single.then(|| stream.counted()));
        self.only.store(if is_single { handle_of(stream) } else { 0 }, Ordering::Release);
    }
}

#[inline(always)]
fn handle_of(stream: &CudaStream) -> u64 {
    stream.native().as_raw().addr() as u64
}

impl Memory {
    /// Memory of so many bytes with any content, for work that is queued in the stream.
    pub fn new(stream: &CudaStream, size_bytes: usize) -> Result<Arc<Self>, DriverError> {
        Ok(Self::of(stream.native().alloc(size_bytes).cuda()?, stream))
    }

    /// The same, zeroed.
    pub fn zeroed(stream: &CudaStream, size_bytes: usize) -> Result<Arc<Self>, DriverError> {
        Ok(Self::of(stream.native().alloc_zeros(size_bytes).cuda()?, stream))
    }

    /// No memory: a handle that no call takes.
    pub fn nothing(stream: &CudaStream) -> Arc<Self> {
        Self::of(Slice::adopt(std::ptr::null_mut(), 0), stream)
    }

    pub fn of(slice: Slice<u8>, stream: &CudaStream) -> Arc<Self> {
        Self::attached(slice, stream, None)
    }

    pub(super) fn attached(
        slice: Slice<u8>,
        stream: &CudaStream,
        attachment: Option<Attachment>,
    ) -> Arc<Self> {
        let (stream, address) = (stream.counted(), OnceLock::new());
        Arc::new(Self { slice, stream, attachment, address })
    }

    /// Has launches check that kernels take elements of this type.
    pub(super) fn set_type(&self, kind: DeviceType) {
        kind.set(self.slice.as_raw());
    }

    /// Has launches give the memory to every kernel: it is seen as of several types.
    pub(super) fn forget_type(&self) {
        self.set_type(DeviceType::scalar(ElementType::U8));
    }

    pub fn size_bytes(&self) -> usize {
        self.slice.len()
    }

    pub fn slice(&self) -> &Slice<u8> {
        &self.slice
    }

    /// All of it; places count in bytes.
    #[inline]
    pub fn place(&self) -> Place {
        self.slice.place()
    }

    /// The device address of the first byte.
    pub fn address(&self) -> Result<CUdeviceptr, DriverError> {
        if let Some(known) = self.address.get() {
            return Ok(*known);
        }
        let address = self.slice.address().cuda()?;
        Ok(*self.address.get_or_init(|| address))
    }

    /// Waits until no queued work that names the memory writes it.
    pub fn wait_for_writes(&self) -> Result<(), DriverError> {
        self.touch(false)
    }

    /// Waits until no queued work that names the memory uses it.
    pub fn wait_for_uses(&self) -> Result<(), DriverError> {
        self.touch(true)
    }

    /// Reads, and perhaps writes as it is, what the library takes for all of the memory, rows from the
    /// first byte to the last, in a stream of its own. That waits for earlier uses by other streams.
    fn touch(&self, writes: bool) -> Result<(), DriverError> {
        let size = self.size_bytes();
        if size == 0 {
            return Ok(());
        }
        let pitch_bytes = size.max(2) - 1;
        let (device, host) = (Rows { pitch_bytes, ..Rows::default() }, Rows::default());
        let ends = Extent::plane(1, size.min(2));
        let place = Place { len: size, ..self.place() };
        let mut bytes = [0u8; 2];
        let mut touch = || {
            let stream = self.stream.context.native().new_stream()?;
            stream.memcpy_dtoh_3d(&Source(place), device, &mut bytes, host, ends)?;
            if writes {
                stream.memcpy_htod_3d(&bytes, host, &mut Destination(place), device, ends)?;
                stream.synchronize()?;
            }
            Ok(())
        };
        touch().cuda()
    }

    /// True unless the memory is attached to another stream.
    // Without calls, so that the compiler keeps its knowledge of a launch.
    #[inline(always)]
    pub fn is_open_to(&self, stream: &CudaStream) -> bool {
        let Some(attachment) = &self.attachment else { return true };
        let only = attachment.only.load(Ordering::Relaxed);
        only == 0 || only == handle_of(stream)
    }

    /// Fails when the memory is attached to another stream.
    pub fn check_access(&self, stream: &CudaStream) -> Result<(), DriverError> {
        if self.is_open_to(stream) {
            return Ok(());
        }
        Err(attached_elsewhere(stream))
    }
}

/// The error of a use on a stream that unified memory is not attached to.
#[cold]
pub(super) fn attached_elsewhere(stream: &CudaStream) -> DriverError {
    let message = "the unified memory is attached to another stream (CU_MEM_ATTACH_SINGLE); use \
                   that one, or attach it to this one";
    let error = DriverError::of_library(Error::new(Status::ERROR_NOT_PERMITTED, message));
    stream.context.record_err::<()>(Err(error)); // where cudarc has it
    error
}

/// The size of so many elements.
pub(super) fn size_of_elements<T>(len: usize) -> Result<usize, DriverError> {
    len.checked_mul(size_of::<T>()).ok_or_else(|| {
        DriverError::invalid(format!("{len} elements of {} bytes are too many", size_of::<T>()))
    })
}

/// A place of bytes, as one of elements of a type that divides it.
pub(crate) fn place_of<T: Pod>(bytes: Place) -> Place {
    Place { len: bytes.len / size_of::<T>().max(1), ..bytes }
}

/// Device memory as a reader for calls of the native layer.
pub(crate) struct Source(pub Place);

/// Device memory as a writer for calls of the native layer.
pub(crate) struct Destination(pub Place);

impl HasPlace for Source {
    fn place(&self) -> Place {
        self.0
    }
}
impl HasPlace for Destination {
    fn place(&self) -> Place {
        self.0
    }
}
impl<T: Pod> crate::DeviceSlice<T> for Source {}
impl<T: Pod> crate::DeviceSlice<T> for Destination {}
impl<T: Pod> crate::DeviceSliceMut<T> for Destination {}
