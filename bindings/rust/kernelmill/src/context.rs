//! Contexts: a device, opened.

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr::{null, null_mut};

use crate::error::{check, path_text, read_text, text_parts};
use crate::handle::owned_handle;
use crate::{
    Device, Error, Event, Module, PinnedMemory, Pod, Program, Result, Slice, Status, Stream, sys,
};

owned_handle! {
    /// A device, opened. Streams, slices, modules and all else that is made from it keep it alive,
    /// so the order in which they are dropped does not matter.
    Context, km_context, km_context_destroy
}

impl Context {
    /// Opens a context on a device. Uses of its slices on different streams are ordered, see [the
    /// crate's page](crate#what-is-ordered), and in builds with `debug_assertions` each access of
    /// its kernels is tested, see [`new_checked`](Self::new_checked). Never blocks. C:
    /// `km_context_create_with_flags`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_DEVICE_MEMORY`](crate::Status) when the device has no room for a
    /// context, [`Status::ERROR_NOT_SUPPORTED`](crate::Status) when the backend runs nothing or
    /// cannot order uses.
    pub fn new(device: &Device) -> Result<Self> {
        Self::new_checked(device, cfg!(debug_assertions))
    }

    /// Like [`new`](Self::new), with or without the test of each access of its kernels against the
    /// context's memory, whatever the build: the first wrong one stops the kernel with
    /// [`Status::ERROR_ILLEGAL_ADDRESS`](crate::Status). CPU devices can do that; `KM_CPU_MEMORY`
    /// of the environment has the last word, and [`is_checked`](Self::is_checked) tells. Never
    /// blocks. C: `km_context_create_with_flags`.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub fn new_checked(device: &Device, is_checked: bool) -> Result<Self> {
        Self::create(device, sys::km_context_flags::ORDERED, is_checked)
    }

    /// Opens a context whose streams know nothing of each other, as in C. In builds with
    /// `debug_assertions` each access of its kernels is tested.
    ///
    /// # Safety
    ///
    /// Work on different streams that uses the same elements, if only one writes them, is to be
    /// ordered by events: otherwise it is a race, of safe calls too.
    pub unsafe fn new_unordered(device: &Device) -> Result<Self> {
        Self::create(device, sys::km_context_flags::DEFAULT, cfg!(debug_assertions))
    }

    fn create(device: &Device, flags: sys::km_context_flags, is_checked: bool) -> Result<Self> {
        let checked = sys::km_context_flags::CHECKED;
        let flags = if is_checked { flags | checked } else { flags };
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_context_create_with_flags(device.as_raw(), flags, &mut raw) })?;
        Ok(Self { raw })
    }

    /// True when uses of its slices on different streams are ordered. Never blocks. C:
    /// `km_context_flags_get`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_HANDLE`](crate::Status) when the handle was destroyed by a call of
    /// [`sys`](crate::sys), as for every object.
    pub fn is_ordered(&self) -> Result<bool> {
        self.has_flag(sys::km_context_flags::ORDERED)
    }

    /// True when each access of its kernels is tested. Never blocks. C: `km_context_flags_get`.
    ///
    /// # Errors
    ///
    /// Those of [`is_ordered`](Self::is_ordered).
    pub fn is_checked(&self) -> Result<bool> {
        self.has_flag(sys::km_context_flags::CHECKED)
    }

    fn has_flag(&self, flag: sys::km_context_flags) -> Result<bool> {
        let mut flags = sys::km_context_flags::DEFAULT;
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_context_flags_get(self.raw, &mut flags) })?;
        Ok(flags & flag == flag)
    }

    /// Opens a context on the device of this URI, see [`Device::open`]. C:
    /// `km_context_create_with_flags`.
    ///
    /// # Errors
    ///
    /// Those of [`Device::open`] and of [`new`](Self::new).
    pub fn open(uri: &str) -> Result<Self> {
        Self::new(&Device::open(uri)?)
    }

    /// The device of the context. Never blocks. C: `km_context_device`.
    ///
    /// # Errors
    ///
    /// Those of [`is_ordered`](Self::is_ordered).
    pub fn device(&self) -> Result<Device> {
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_context_device(self.raw, &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        Ok(unsafe { Device::from_raw(raw) })
    }

    /// The context's default stream, the same for every call until a reset; a stream like any
    /// other. Never blocks. C: `km_context_default_stream`.
    ///
    /// # Errors
    ///
    /// The sticky error of the context when a kernel failed.
    pub fn default_stream(&self) -> Result<Stream> {
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_context_default_stream(self.raw, &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        Ok(unsafe { Stream::from_raw(raw) })
    }

    /// A new stream. Never blocks. C: `km_stream_create`.
    ///
    /// # Errors
    ///
    /// The sticky error of the context when a kernel failed.
    pub fn new_stream(&self) -> Result<Stream> {
        self.new_stream_with_priority(0)
    }

    /// A new stream; lower numbers go first. Never blocks. C: `km_stream_create`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the priority lies outside the range
    /// of the device, the sticky error of the context when a kernel failed.
    pub fn new_stream_with_priority(&self, priority: i32) -> Result<Stream> {
        let mut raw = null_mut();
        let flags = sys::km_stream_flags::DEFAULT;
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_stream_create(self.raw, flags, priority, &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        Ok(unsafe { Stream::from_raw(raw) })
    }

    /// A new event, which takes the time where it is recorded. Never blocks. C: `km_event_create`.
    ///
    /// # Errors
    ///
    /// The sticky error of the context when a kernel failed.
    pub fn new_event(&self) -> Result<Event> {
        self.create_event(sys::km_event_flags::DEFAULT)
    }

    /// A new event that takes no times. Never blocks. C: `km_event_create`.
    ///
    /// # Errors
    ///
    /// The sticky error of the context when a kernel failed.
    pub fn new_event_without_timing(&self) -> Result<Event> {
        self.create_event(sys::km_event_flags::DISABLE_TIMING)
    }

    fn create_event(&self, flags: sys::km_event_flags) -> Result<Event> {
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_event_create(self.raw, flags, &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        Ok(unsafe { Event::from_raw(raw) })
    }

    /// Device memory for `len` elements, zeroed, usable at once on every stream. Never blocks. C:
    /// `km_slice_create`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_DEVICE_MEMORY`](crate::Status) when the device has not that much
    /// memory left, [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the size does not fit 64
    /// bits, the sticky error of the context when a kernel failed.
    pub fn alloc_zeros<T: Pod>(&self, len: usize) -> Result<Slice<T>> {
        Slice::create(self, len, sys::km_slice_flags::ZEROED)
    }

    /// Device memory for `len` elements with any content. C: `km_slice_create`.
    ///
    /// # Errors
    ///
    /// Those of [`alloc_zeros`](Self::alloc_zeros).
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<Slice<T>> {
        Slice::create(self, len, sys::km_slice_flags::DEFAULT)
    }

    /// Page-locked host memory for `len` elements, zeroed, from and to which copies are
    /// asynchronous. Never blocks. C: `km_host_memory_create`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_DEVICE_MEMORY`](crate::Status) when that much cannot be page-locked,
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when there are no elements, the sticky
    /// error of the context when a kernel failed.
    pub fn alloc_pinned<T: Pod>(&self, len: usize) -> Result<PinnedMemory<T>> {
        PinnedMemory::new(self, len)
    }

    /// Loads PTX. Blocks while the text is read and checked; kernels are compiled at their first
    /// launch, or here. C: `km_module_load_ptx`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_PTX`](crate::Status) when the text is no PTX, with line and column,
    /// [`Status::ERROR_UNSUPPORTED_PTX`](crate::Status) when the device can run none of its
    /// kernels, with the instruction and its line, [`Status::ERROR_COMPILER`](crate::Status) when
    /// the code generator failed, [`Status::ERROR_OUT_OF_DEVICE_MEMORY`](crate::Status) when there
    /// is not enough memory for its variables, the sticky error of the context when a kernel
    /// failed.
    pub fn load_ptx(&self, ptx: &str) -> Result<Module> {
        let mut raw = null_mut();
        let (text, size) = text_parts(ptx);
        // SAFETY: the text has that size, and all arguments live through the call.
        check(unsafe { sys::km_module_load_ptx(self.raw, text, size, null(), &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        Ok(unsafe { Module::from_raw(raw) })
    }

    /// Compiles CUDA C++ for the context's device and loads it. Blocks while the compiler works. C:
    /// `km_module_load_source`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_COMPILATION_FAILED`](crate::Status) when the source has errors, the first of
    /// which the message has, [`Status::ERROR_NVRTC_UNAVAILABLE`](crate::Status) when NVRTC is not
    /// installed, with where it was looked for and how to get it, what [`load_ptx`](Self::load_ptx)
    /// gives.
    pub fn load_source(&self, source: &str) -> Result<Module> {
        let mut raw = null_mut();
        let (text, size) = text_parts(source);
        // SAFETY: the text has that size, and all arguments live through the call.
        check(unsafe { sys::km_module_load_source(self.raw, text, size, null(), &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        Ok(unsafe { Module::from_raw(raw) })
    }

    /// Loads a file of PTX or CUDA C++: `*.ptx` and `*.cu` by their ending, others by their
    /// content. Blocks as [`load_ptx`](Self::load_ptx) and [`load_source`](Self::load_source) do.
    /// C: `km_module_load_file`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_FOUND`](crate::Status) when there is no such file,
    /// [`Status::ERROR_IO`](crate::Status) when it cannot be read or has more than 256 MiB,
    /// [`Status::ERROR_NOT_SUPPORTED`](crate::Status) when it is a compiled image, what
    /// [`load_source`](Self::load_source) gives.
    pub fn load_file(&self, path: impl AsRef<Path>) -> Result<Module> {
        let text = path_text(path.as_ref())?;
        let mut raw = null_mut();
        // SAFETY: all arguments live through the call.
        check(unsafe { sys::km_module_load_file(self.raw, text.as_ptr(), &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        Ok(unsafe { Module::from_raw(raw) })
    }

    /// Loads a compiled program, whose kernels are found by their name expressions too. Blocks as
    /// [`load_ptx`](Self::load_ptx) does. C: `km_module_load_program`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_FOUND`](crate::Status) when the program has not been compiled with
    /// success, what [`load_ptx`](Self::load_ptx) gives.
    pub fn load_program(&self, program: &Program) -> Result<Module> {
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_module_load_program(self.raw, program.as_raw(), &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        Ok(unsafe { Module::from_raw(raw) })
    }

    /// Waits until the work of all streams is done, and writes what kernels printed. C:
    /// `km_context_synchronize`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_PERMITTED`](crate::Status) inside a callback of this library, the sticky
    /// error of the context when a kernel failed.
    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_context_synchronize(self.raw) })
    }

    /// The device's memory in bytes: what can still be allocated now, and all of it. Never blocks.
    /// C: `km_context_memory_info`.
    ///
    /// # Errors
    ///
    /// Those of [`is_ordered`](Self::is_ordered).
    pub fn memory_info(&self) -> Result<(u64, u64)> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: handles are checked ids, and the out-parameters live through the call.
        check(unsafe { sys::km_context_memory_info(self.raw, &mut free, &mut total) })?;
        Ok((free, total))
    }

    /// Stops running kernels, drops queued work and clears the sticky error. Everything made from
    /// the context before is lost: its calls give [`Status::ERROR_CONTEXT_LOST`]. Blocks until
    /// running kernels have stopped. C: `km_context_reset`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// use kernelmill::{Context, LaunchConfig, Status};
    /// let context = Context::open("cpu")?;
    /// let source = "extern \"C\" __global__ void trap() { __trap(); }";
    /// let trap = context.load_source(source)?.load_function("trap")?;
    /// let stream = context.default_stream()?;
    /// // SAFETY: the kernel touches no memory.
    /// unsafe { stream.launch_builder(&trap).launch(LaunchConfig::for_num_elems(1)) }?;
    /// assert_eq!(stream.synchronize().unwrap_err().status(), Status::ERROR_TRAP);
    /// assert!(context.alloc::<u8>(1).is_err()); // sticky
    /// context.reset()?;
    /// context.alloc::<u8>(1)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_PERMITTED`](crate::Status) inside a callback of this library,
    /// [`Status::ERROR_PROCESS_LOST`](crate::Status) when the device cannot recover within this
    /// process.
    pub fn reset(&self) -> Result<()> {
        // SAFETY: handles are checked ids; host memory stays mapped until its handle goes.
        check(unsafe { sys::km_context_reset(self.raw) })
    }

    /// The context's error: the sticky one of a failed kernel, else that of the last call on the
    /// context that failed. Never blocks. C: `km_context_error`.
    ///
    /// # Errors
    ///
    /// Those of [`is_ordered`](Self::is_ordered).
    pub fn error(&self) -> Result<Option<Error>> {
        self.error_by(sys::km_context_error)
    }

    /// Like [`error`](Self::error), and forgets it unless it is sticky. Never blocks. C:
    /// `km_context_take_error`.
    ///
    /// # Errors
    ///
    /// Those of [`is_ordered`](Self::is_ordered).
    pub fn take_error(&self) -> Result<Option<Error>> {
        let error = self.error()?;
        let taken = self.error_by(sys::km_context_take_error)?;
        // The text is that of the error taken, unless another thread failed in between.
        Ok(error.filter(|e| taken.as_ref().is_some_and(|t| t.status() == e.status())).or(taken))
    }

    fn error_by(
        &self,
        get: unsafe extern "C" fn(sys::km_context, *mut Status) -> Status,
    ) -> Result<Option<Error>> {
        let mut status = Status::SUCCESS;
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { get(self.raw, &mut status) })?;
        if status == Status::SUCCESS {
            return Ok(None);
        }
        let message = read_text(|buffer, capacity, size| {
            // SAFETY: `read_text` gives room for `capacity` bytes.
            unsafe { sys::km_context_error_message(self.raw, buffer, capacity, size) }
        })?;
        let mut native_code = 0;
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_context_error_native_code(self.raw, &mut native_code) })?;
        let error = match message.as_str() {
            "" => Error::from_status(status),
            _ => Error::new(status, message),
        };
        Ok(Some(error.with_native_code(native_code)))
    }

    /// Has what kernels print given to `output`, on the thread that synchronises, one call at a
    /// time. `output` may not make calls that wait. It is a reference that lives for ever because
    /// the context may outlive this object: a static, a closure without captures, or a leaked box.
    /// Never blocks. C: `km_context_set_output`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// use std::sync::Mutex;
    /// static SAID: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    /// let context = kernelmill::Context::open("cpu")?;
    /// context.set_output(&|text| SAID.lock().unwrap().extend(text))?;
    /// # let source = "extern \"C\" __global__ void hello() { printf(\"hello\"); }";
    /// # let hello = context.load_source(source)?.load_function("hello")?;
    /// # let (grid_dim, block_dim) = ((1, 1, 1), (1, 1, 1));
    /// # let config = kernelmill::LaunchConfig { grid_dim, block_dim, shared_mem_bytes: 0 };
    /// let stream = context.default_stream()?;
    /// // SAFETY: the kernel prints "hello".
    /// unsafe { stream.launch_builder(&hello).launch(config) }?;
    /// stream.synchronize()?;
    /// assert_eq!(*SAID.lock().unwrap(), b"hello");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_SUPPORTED`](crate::Status) when the backend has no such thing.
    pub fn set_output<F: Fn(&[u8]) + Sync>(&self, output: &'static F) -> Result<()> {
        let data: *const F = output;
        // SAFETY: `give_output::<F>` gets back the F that lives for ever.
        let status = unsafe {
            sys::km_context_set_output(self.raw, Some(give_output::<F>), data.cast_mut().cast())
        };
        check(status)
    }

    /// Has what kernels print written to standard output, as at the start. Never blocks. C:
    /// `km_context_set_output`.
    ///
    /// # Errors
    ///
    /// Those of [`set_output`](Self::set_output).
    pub fn reset_output(&self) -> Result<()> {
        // SAFETY: handles are checked ids; no callback means standard output.
        check(unsafe { sys::km_context_set_output(self.raw, None, null_mut()) })
    }
}

unsafe extern "C" fn give_output<F: Fn(&[u8]) + Sync>(
    data: *mut c_void,
    text: *const c_char,
    size: u64,
) {
    // SAFETY: `data` is what set_output() gave, and the library says how long the text is.
    let (output, text) = unsafe {
        let text = if size == 0 { &[] } else { bytes_of(text, size) };
        (&*data.cast_const().cast::<F>(), text)
    };
    // A panic has been reported by its hook, and must not unwind into the library.
    let _ = catch_unwind(AssertUnwindSafe(|| output(text)));
}

/// # Safety
///
/// `text` has `size` bytes, which stay as they are for `'a`.
unsafe fn bytes_of<'a>(text: *const c_char, size: u64) -> &'a [u8] {
    // SAFETY: the caller promises it.
    unsafe { std::slice::from_raw_parts(text.cast(), size as usize) }
}
