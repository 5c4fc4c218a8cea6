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
    /// Opens a context on a device. Uses of its slices on different streams are ordered, see
    /// [the crate's page](crate#what-is-ordered).
    pub fn new(device: &Device) -> Result<Self> {
        Self::create(device, sys::km_context_flags::ORDERED)
    }

    /// Opens a context whose streams know nothing of each other, as in C.
    ///
    /// # Safety
    ///
    /// Work on different streams that uses the same elements, if only one writes them, is to be
    /// ordered by events: otherwise it is a race, of safe calls too.
    pub unsafe fn new_unordered(device: &Device) -> Result<Self> {
        Self::create(device, sys::km_context_flags::DEFAULT)
    }

    fn create(device: &Device, flags: sys::km_context_flags) -> Result<Self> {
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_context_create_with_flags(device.as_raw(), flags, &mut raw) })?;
        Ok(Self { raw })
    }

    /// True when uses of its slices on different streams are ordered.
    pub fn is_ordered(&self) -> Result<bool> {
        let mut flags = sys::km_context_flags::DEFAULT;
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_context_flags_get(self.raw, &mut flags) })?;
        Ok(flags == sys::km_context_flags::ORDERED)
    }

    /// Opens a context on the device of this URI, see [`Device::open`].
    pub fn open(uri: &str) -> Result<Self> {
        Self::new(&Device::open(uri)?)
    }

    /// The device of the context.
    pub fn device(&self) -> Result<Device> {
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_context_device(self.raw, &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        Ok(unsafe { Device::from_raw(raw) })
    }

    /// The context's default stream, the same for every call until a reset; a stream like any other.
    pub fn default_stream(&self) -> Result<Stream> {
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_context_default_stream(self.raw, &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        Ok(unsafe { Stream::from_raw(raw) })
    }

    /// A new stream.
    pub fn new_stream(&self) -> Result<Stream> {
        self.new_stream_with_priority(0)
    }

    /// A new stream; lower numbers go first.
    pub fn new_stream_with_priority(&self, priority: i32) -> Result<Stream> {
        let mut raw = null_mut();
        let flags = sys::km_stream_flags::DEFAULT;
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_stream_create(self.raw, flags, priority, &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        Ok(unsafe { Stream::from_raw(raw) })
    }

    /// A new event, which takes the time where it is recorded.
    pub fn new_event(&self) -> Result<Event> {
        self.create_event(sys::km_event_flags::DEFAULT)
    }

    /// A new event that takes no times.
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

    /// Device memory for `len` elements, zeroed, usable at once on every stream.
    pub fn alloc_zeros<T: Pod>(&self, len: usize) -> Result<Slice<T>> {
        Slice::create(self, len, sys::km_slice_flags::ZEROED)
    }

    /// The same with any content.
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<Slice<T>> {
        Slice::create(self, len, sys::km_slice_flags::DEFAULT)
    }

    /// Page-locked host memory for `len` elements, zeroed, from and to which copies are
    /// asynchronous.
    pub fn alloc_pinned<T: Pod>(&self, len: usize) -> Result<PinnedMemory<T>> {
        PinnedMemory::new(self, len)
    }

    /// Loads PTX.
    pub fn load_ptx(&self, ptx: &str) -> Result<Module> {
        let mut raw = null_mut();
        let (text, size) = text_parts(ptx);
        // SAFETY: the text has that size, and all arguments live through the call.
        check(unsafe { sys::km_module_load_ptx(self.raw, text, size, null(), &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        Ok(unsafe { Module::from_raw(raw) })
    }

    /// Compiles CUDA C++ for the context's device and loads it.
    pub fn load_source(&self, source: &str) -> Result<Module> {
        let mut raw = null_mut();
        let (text, size) = text_parts(source);
        // SAFETY: the text has that size, and all arguments live through the call.
        check(unsafe { sys::km_module_load_source(self.raw, text, size, null(), &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        Ok(unsafe { Module::from_raw(raw) })
    }

    /// Loads a file of PTX or CUDA C++: `*.ptx` and `*.cu` by their ending, others by their content.
    pub fn load_file(&self, path: impl AsRef<Path>) -> Result<Module> {
        let text = path_text(path.as_ref())?;
        let mut raw = null_mut();
        // SAFETY: all arguments live through the call.
        check(unsafe { sys::km_module_load_file(self.raw, text.as_ptr(), &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        Ok(unsafe { Module::from_raw(raw) })
    }

    /// Loads a compiled program, whose kernels are found by their name expressions too.
    pub fn load_program(&self, program: &Program) -> Result<Module> {
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_module_load_program(self.raw, program.as_raw(), &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        Ok(unsafe { Module::from_raw(raw) })
    }

    /// Waits until the work of all streams is done, and writes what kernels printed.
    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_context_synchronize(self.raw) })
    }

    /// The device's memory in bytes: what can still be allocated now, and all of it.
    pub fn memory_info(&self) -> Result<(u64, u64)> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: handles are checked ids, and the out-parameters live through the call.
        check(unsafe { sys::km_context_memory_info(self.raw, &mut free, &mut total) })?;
        Ok((free, total))
    }

    /// Stops running kernels, drops queued work and clears the sticky error. Everything made from
    /// the context before is lost: its calls give [`Status::ERROR_CONTEXT_LOST`].
    pub fn reset(&self) -> Result<()> {
        // SAFETY: handles are checked ids; host memory stays mapped until its handle goes.
        check(unsafe { sys::km_context_reset(self.raw) })
    }

    /// The context's error: the sticky one of a failed kernel, else that of the last call on the
    /// context that failed.
    pub fn error(&self) -> Result<Option<Error>> {
        self.error_by(sys::km_context_error)
    }

    /// Like [`error`](Self::error), and forgets it unless it is sticky.
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
    pub fn set_output<F: Fn(&[u8]) + Sync>(&self, output: &'static F) -> Result<()> {
        let data: *const F = output;
        // SAFETY: `give_output::<F>` gets back the F that lives for ever.
        let status = unsafe {
            sys::km_context_set_output(self.raw, Some(give_output::<F>), data.cast_mut().cast())
        };
        check(status)
    }

    /// Has what kernels print written to standard output, as at the start.
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
