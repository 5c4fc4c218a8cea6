//! Contexts: devices, opened, and shared by all who open them.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

use super::DriverError;
use super::error::Cuda;
use super::stream::Queue;
use super::sys::{CUdevice, CUresult};
use crate::{Context, Device, DeviceInfo};

/// A device, opened. All contexts of one device that [`new`](Self::new) gives share their streams
/// and memory, as CUDA's primary context does; the last one to go closes the device. Streams,
/// slices and modules keep it.
///
/// ```
/// use kernelmill::driver::CudaContext;
/// # fn main() -> Result<(), kernelmill::driver::DriverError> {
/// let context = CudaContext::new(0)?; // a GPU where there is one, else the CPU
/// println!("{} of {}", context.name()?, CudaContext::device_count()?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CudaContext {
    pub(super) shared: Arc<Shared>,
    is_tracking: AtomicBool,
    recorded: AtomicU32, // the first result of record_err() since check_err(), 0: none
}

/// The part of a context that all who opened its device have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub native: Context,
    pub device: Device,
    pub info: DeviceInfo,
    pub cache_config: AtomicI32,
    pub kept_limits: [AtomicUsize; 2], // of CPUs: stack, and depth of waits for nested launches
    pub has_streams: AtomicBool,       // beside the default one
    default: RwLock<Arc<Queue>>,
    is_primary: bool,
}

// The contexts that new() has opened and that are still in use.
static PRIMARIES: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

thread_local! {
    static CURRENT: RefCell<Weak<Shared>> = const { RefCell::new(Weak::new()) };
}

/// The backend whose devices are counted: that of "auto".
fn backend() -> Result<&'static str, DriverError> {
    static BACKEND: OnceLock<String> = OnceLock::new();
    if let Some(known) = BACKEND.get() {
        return Ok(known);
    }
    let name = Device::open("auto").cuda()?.info().cuda()?.backend;
    Ok(BACKEND.get_or_init(|| name))
}

pub(super) fn device_count() -> Result<i32, DriverError> {
    let count = Device::count(Some(backend()?)).cuda()?;
    Ok(i32::try_from(count).unwrap_or(i32::MAX))
}

pub(super) fn open_device(ordinal: usize) -> Result<Device, DriverError> {
    Device::open(&format!("{}:{ordinal}", backend()?)).cuda()
}

impl Shared {
    fn open(device: Device, is_primary: bool) -> Result<Arc<Self>, DriverError> {
        let native = Context::new(&device).cuda()?;
        let default = RwLock::new(Arc::new(Queue::new(native.new_stream().cuda()?)));
        let info = device.info().cuda()?;
        Ok(Arc::new(Self {
            native,
            device,
            info,
            cache_config: AtomicI32::new(0),
            kept_limits: [1024, 2].map(AtomicUsize::new), // CUDA's defaults
            has_streams: AtomicBool::new(false),
            default,
            is_primary,
        }))
    }

    /// The one of the device that all share.
    fn primary(ordinal: usize) -> Result<Arc<Self>, DriverError> {
        let mut primaries = PRIMARIES.lock().unwrap_or_else(PoisonError::into_inner);
        primaries.retain(|one| one.strong_count() > 0);
        let known = primaries.iter().filter_map(Weak::upgrade);
        if let Some(open) = known.into_iter().find(|one| one.info.ordinal as usize == ordinal) {
            return Ok(open);
        }
        let opened = Self::open(open_device(ordinal)?, true)?;
        primaries.push(Arc::downgrade(&opened));
        Ok(opened)
    }

    /// That of this thread, else that of the first device.
    pub fn current() -> Result<Arc<Self>, DriverError> {
        match CURRENT.try_with(|current| current.borrow().upgrade()) {
            Ok(Some(current)) => Ok(current),
            _ => Self::primary(0), // also at the end of a thread
        }
    }

    fn make_current(self: &Arc<Self>) {
        let current = Arc::downgrade(self);
        let _ = CURRENT.try_with(|place| place.replace(current)); // not at the end of a thread
    }

    pub fn default_queue(&self) -> Arc<Queue> {
        Arc::clone(&self.default.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl CudaContext {
    fn of(shared: Arc<Shared>) -> Arc<Self> {
        shared.make_current();
        Arc::new(Self { shared, is_tracking: AtomicBool::new(true), recorded: AtomicU32::new(0) })
    }

    /// Opens the device of this number, or shares it where it is open. The devices are those of the
    /// backend that "auto" gives: the CUDA devices where there are some that work, else the CPU;
    /// `KM_DEVICE` decides otherwise. Never blocks.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidDevice`] when there is no such device,
    /// [`DriverError::SharedObjectInitFailed`] when the library cannot be loaded.
    pub fn new(ordinal: usize) -> Result<Arc<Self>, DriverError> {
        Shared::primary(ordinal).map(Self::of)
    }

    /// Opens a context that nobody else shares, with flags (`CUctx_flags`) under the rules of
    /// [`set_flags`](Self::set_flags).
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new) and of [`set_flags`](Self::set_flags).
    pub fn new_non_primary(ordinal: usize, flags: u32) -> Result<Arc<Self>, DriverError> {
        super::context_config::check_flags(flags)?;
        Shared::open(open_device(ordinal)?, false).map(Self::of)
    }

    /// Opens a context of its own on a device by its URI: "cpu", "cuda:1", "auto".
    ///
    /// # Errors
    ///
    /// Those of [`Device::open`].
    pub fn open(uri: &str) -> Result<Arc<Self>, DriverError> {
        Shared::open(Device::open(uri).cuda()?, false).map(Self::of)
    }

    /// True when [`new`](Self::new) opened it.
    #[must_use]
    pub fn is_primary(&self) -> bool {
        self.shared.is_primary
    }

    /// True: memory is allocated and freed in the order of streams on every device.
    #[must_use]
    pub fn has_async_alloc(&self) -> bool {
        true
    }

    /// How many devices there are.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub fn device_count() -> Result<i32, DriverError> {
        device_count()
    }

    /// The number of the device.
    #[must_use]
    pub fn ordinal(&self) -> usize {
        self.shared.info.ordinal as usize
    }

    /// The number of the device, as CUDA's functions take it.
    #[must_use]
    pub fn cu_device(&self) -> CUdevice {
        i32::try_from(self.shared.info.ordinal).unwrap_or(i32::MAX)
    }

    /// The context itself, for what the library can do beyond cudarc.
    #[must_use]
    pub fn native(&self) -> &Context {
        &self.shared.native
    }

    /// Makes it this thread's current context, by which [`result`](super::result) goes. All else
    /// names its context, and needs no such call.
    ///
    /// # Errors
    ///
    /// Those of [`check_err`](Self::check_err).
    pub fn bind_to_thread(&self) -> Result<(), DriverError> {
        self.shared.make_current();
        self.check_err()
    }

    /// Waits until the work of all streams is done, and writes what kernels printed.
    ///
    /// # Errors
    ///
    /// Those of [`check_err`](Self::check_err), else the error of a kernel that failed, which
    /// stays until [`reset`](Self::reset).
    pub fn synchronize(&self) -> Result<(), DriverError> {
        self.bind_to_thread()?;
        self.shared.native.synchronize().cuda()
    }

    /// Stops running kernels, drops queued work and clears the error of a kernel that failed. What
    /// was made from the context before is lost: streams, slices, modules and events give
    /// [`DriverError::ContextIsDestroyed`]. New ones work.
    ///
    /// # Errors
    ///
    /// [`DriverError::Unknown`] when the device cannot be had again.
    pub fn reset(&self) -> Result<(), DriverError> {
        let mut default = self.shared.default.write().unwrap_or_else(PoisonError::into_inner);
        self.shared.native.reset().cuda()?;
        *default = Arc::new(Queue::new(self.shared.native.new_stream().cuda()?));
        Ok(())
    }

    /// True once there is another stream than the default one.
    #[must_use]
    pub fn is_in_multi_stream_mode(&self) -> bool {
        self.shared.has_streams.load(Ordering::Acquire)
    }

    /// True until [`disable_event_tracking`](Self::disable_event_tracking).
    #[must_use]
    pub fn is_event_tracking(&self) -> bool {
        self.is_tracking.load(Ordering::Acquire)
    }

    /// True when uses of slices on different streams are ordered and there are several streams.
    #[must_use]
    pub fn is_managing_stream_synchronization(&self) -> bool {
        self.is_in_multi_stream_mode() && self.is_event_tracking()
    }

    /// Takes back what [`disable_event_tracking`](Self::disable_event_tracking) said.
    ///
    /// # Safety
    ///
    /// None is needed; it is unsafe as in cudarc.
    pub unsafe fn enable_event_tracking(&self) {
        self.is_tracking.store(true, Ordering::Release);
    }

    /// Says that the program orders its streams by itself, for calls by address:
    /// [`device_ptr`](super::DevicePtr::device_ptr) and `device_ptr_mut` no longer wait for uses of
    /// the memory, nor do their guards wait for the stream.
    ///
    /// Copies, fills and launches stay ordered: that is a property of the context from its beginning,
    /// makes no events of CUDA, and costs each use of a slice a comparison, of about 2 ns. Streams that
    /// know nothing of each other are those of
    /// [`Context::new_unordered`](crate::Context::new_unordered).
    ///
    /// # Safety
    ///
    /// The program orders uses by address with all other uses of the memory.
    pub unsafe fn disable_event_tracking(&self) {
        self.is_tracking.store(false, Ordering::Release);
    }

    /// The first error that [`record_err`](Self::record_err) was given since the last call, and
    /// forgets it.
    ///
    /// # Errors
    ///
    /// That error.
    pub fn check_err(&self) -> Result<(), DriverError> {
        match self.recorded.swap(0, Ordering::AcqRel) {
            0 => Ok(()),
            number => CUresult::from_number(number as i32).result(),
        }
    }

    /// Keeps an error for [`check_err`](Self::check_err), where a call cannot return it.
    pub fn record_err<T>(&self, result: Result<T, DriverError>) {
        if let Err(error) = result {
            let number = error.0 as u32;
            let _ = self.recorded.compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire);
        }
    }

    /// Loads kernels: PTX, or a file of it.
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidPtx`] when the text is wrong, [`DriverError::UnsupportedPtxVersion`]
    /// when the device cannot run it, [`DriverError::FileNotFound`] when there is no such file,
    /// [`DriverError::InvalidImage`] for machine code of a GPU.
    pub fn load_module(
        self: &Arc<Self>,
        ptx: crate::nvrtc::Ptx,
    ) -> Result<Arc<super::CudaModule>, DriverError> {
        super::CudaModule::load(self, &ptx)
    }
}

impl PartialEq for CudaContext {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}
impl Eq for CudaContext {}
