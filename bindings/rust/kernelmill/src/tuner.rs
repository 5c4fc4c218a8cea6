//! Tuning: measures several ways to launch a kernel on a device and chooses the fastest.

use std::ffi::c_void;
use std::mem::{size_of, size_of_val};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};
use std::time::Duration;

use crate::error::{c_string, check, read_text, text_parts};
use crate::stream::nanoseconds;
use crate::{Context, Device, Error, Function, LaunchConfig, Pod, Result, Status, sys};

/// The comparison of candidates' outputs, [`km_tune_check`](sys::km_tune_check):
/// `TuneCheck::EXACT`.
pub use sys::km_tune_check as TuneCheck;

/// The use of a buffer, [`km_tune_buffer_flags`](sys::km_tune_buffer_flags):
/// `TuneBufferFlags::OUTPUT` has the check compare it.
pub use sys::km_tune_buffer_flags as TuneBufferFlags;

/// A tuning of one kernel on a device: arguments, ways to launch it (candidates), and the measured
/// choice among them.
///
/// ```
/// # fn main() -> kernelmill::Result<()> {
/// use kernelmill::{Device, LaunchConfig, TuneBufferFlags, Tuner};
/// let source = "extern \"C\" __global__ void scale(float* data, int n) {
///    int i = blockIdx.x * blockDim.x + threadIdx.x;
///    if (i < n) data[i] *= FACTOR;
/// }";
/// let mut tuner = Tuner::new(&Device::open("cpu")?, source, "scale")?;
/// tuner.add_buffer(&[1.0f32; 4096], TuneBufferFlags::OUTPUT)?;
/// tuner.add_scalar(&4096i32)?;
/// for block in [64, 256] {
///     let config = LaunchConfig {
///         grid_dim: (4096 / block, 1, 1),
///         block_dim: (block, 1, 1),
///         shared_mem_bytes: 0,
///     };
///     tuner.add_candidate(config, &["-DFACTOR=2.0f"])?;
/// }
/// # tuner.set_budget(std::time::Duration::from_millis(20), 1)?;
/// // SAFETY: the kernel stays within the 4096 elements of its buffer.
/// let best = unsafe { tuner.run(None) }?;
/// println!("candidate {best}: {} ns", tuner.result(best)?.median_ns);
/// # Ok(())
/// # }
/// ```
///
/// Kernels run, so [`run`](Self::run) is unsafe as a launch is:
///
/// ```compile_fail,E0133
/// # fn main() -> kernelmill::Result<()> {
/// # use kernelmill::{Device, Tuner};
/// let mut tuner = Tuner::new(&Device::open("cpu")?, "", "kernel")?;
/// tuner.run(None)?; // error: unsafe
/// # Ok(())
/// # }
/// ```
pub struct Tuner {
    raw: sys::km_tune,
    progress: Option<Progress>,
}

type Progress = Box<dyn FnMut(u32, u32) + Send>;

// SAFETY: base.h says "Threads: any" of every km_tune_... function, and the handle is a
// checked id; the callback is Send.
unsafe impl Send for Tuner {}
// SAFETY: the same; the callback is only reached through `&mut`.
unsafe impl Sync for Tuner {}

/// The outcome of a candidate's last measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TuneResult {
    /// [`Status::SUCCESS`]: measured; [`Status::NOT_READY`]: not measured; else why it was left out.
    pub status: Status,
    /// The median time of one launch, in nanoseconds.
    pub median_ns: u64,
    /// The shortest time of one launch, in nanoseconds.
    pub min_ns: u64,
    /// The number of launches that were measured.
    pub sample_count: u32,
    /// The reason why it was left out; empty where it was not.
    pub message: String,
}

impl Tuner {
    /// A tuning of one kernel of a source, CUDA C++ or PTX, by its name there or a name expression
    /// like `scale<float>`. The source is copied. Never blocks. C: `km_tune_create`.
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when the name has a zero byte. What the source lacks is found when
    /// it runs.
    pub fn new(device: &Device, source: &str, kernel: &str) -> Result<Self> {
        let kernel = c_string(kernel, "kernel")?;
        let (text, size) = text_parts(source);
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the arguments live through the call.
        check(unsafe {
            sys::km_tune_create(device.as_raw(), text, size, kernel.as_ptr(), &mut raw)
        })?;
        Ok(Self { raw, progress: None })
    }

    /// The handle, for calls of [`sys`]; it stays this object's.
    pub fn as_raw(&self) -> sys::km_tune {
        self.raw
    }

    /// One more way to launch the kernel: its shape, and options of the compiler (`-DTILE=16`),
    /// which PTX does not have. Gives its number, from 0. Never blocks. C: `km_tune_add_candidate`.
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when an option has a zero byte or a line break.
    pub fn add_candidate(&mut self, config: LaunchConfig, options: &[&str]) -> Result<u32> {
        if let Some(option) = options.iter().find(|option| option.contains('\n')) {
            let message = format!("the option {option:?} has a line break");
            return Err(Error::new(Status::ERROR_INVALID_ARGUMENT, message));
        }
        let options = c_string(&options.join("\n"), "options")?;
        let (grid, block) = (config.grid_dim, config.block_dim);
        let config = sys::km_launch_config {
            grid: [grid.0, grid.1, grid.2],
            block: [block.0, block.1, block.2],
            shared_bytes: config.shared_mem_bytes,
        };
        let mut candidate = 0;
        // SAFETY: handles are checked ids, and the arguments live through the call.
        check(unsafe {
            sys::km_tune_add_candidate(self.raw, &config, options.as_ptr(), &mut candidate)
        })?;
        Ok(candidate)
    }

    /// The kernel's next argument: device memory that holds these elements, which are copied,
    /// whenever a candidate starts. Never blocks. C: `km_tune_add_buffer`.
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when the flags have unknown bits; `ERROR_OUT_OF_HOST_MEMORY` when
    /// there is no room for the copy.
    pub fn add_buffer<T: Pod>(&mut self, data: &[T], flags: TuneBufferFlags) -> Result<()> {
        let (from, size) = (data.as_ptr().cast(), size_of_val(data) as u64);
        // SAFETY: the data has that size, and is copied.
        check(unsafe { sys::km_tune_add_buffer(self.raw, from, size, flags) })
    }

    /// The kernel's next argument: device memory with zeros for `len` elements.
    ///
    /// # Errors
    ///
    /// Those of [`add_buffer`](Self::add_buffer), and `ERROR_INVALID_ARGUMENT` when the size does
    /// not fit 64 bits.
    pub fn add_zeros<T: Pod>(&mut self, len: usize, flags: TuneBufferFlags) -> Result<()> {
        let size = len.checked_mul(size_of::<T>()).ok_or_else(|| {
            let message = format!("{len} elements of {} bytes are too many", size_of::<T>());
            Error::new(Status::ERROR_INVALID_ARGUMENT, message)
        })?;
        // SAFETY: handles are checked ids; no data means zeros.
        check(unsafe { sys::km_tune_add_buffer(self.raw, null(), size as u64, flags) })
    }

    /// The kernel's next argument, by value: a number or structure. Never blocks.
    /// C: `km_tune_add_scalar`.
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when it has more than 32,764 bytes.
    pub fn add_scalar<T: Pod>(&mut self, value: &T) -> Result<()> {
        let value = std::ptr::from_ref(value).cast();
        // SAFETY: the value has that size, and is copied.
        check(unsafe { sys::km_tune_add_scalar(self.raw, value, size_of::<T>() as u64) })
    }

    /// Has the outputs that a candidate leaves compared with those that the first one left, or not,
    /// as at the start. The tolerance is for floating point: relative to the larger
    /// magnitude, absolute below 1. Never blocks. C: `km_tune_set_check`.
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when it is no kind of check or the tolerance is negative or NaN.
    pub fn set_check(&mut self, check_kind: TuneCheck, tolerance: f64) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_tune_set_check(self.raw, check_kind, tolerance) })
    }

    /// The time that measuring all candidates may take together, compiling not counted (a second at
    /// the start), and the number of launches of each before it is measured (1 at the start). Never
    /// blocks. C: `km_tune_set_budget`.
    pub fn set_budget(&mut self, budget: Duration, warmup_count: u32) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_tune_set_budget(self.raw, nanoseconds(budget), warmup_count) })
    }

    /// Has `progress` called after each candidate of a [`run`](Self::run), on the thread that runs,
    /// with how many are done and how many there are. It replaces the one before.
    /// C: `km_tune_set_progress`, while it runs.
    pub fn set_progress(&mut self, progress: impl FnMut(u32, u32) + Send + 'static) {
        self.progress = Some(Box::new(progress));
    }

    /// Has nothing called after each candidate, as at the start.
    pub fn clear_progress(&mut self) {
        self.progress = None;
    }

    /// Measures the candidates in a context of the tuning's own, and gives the number of the one
    /// with the best median. Those that do not compile, cannot be launched, fault or fail the check
    /// are left out; [`result`](Self::result) says why. With a `problem`, any text that stands for
    /// the size and kind of the data, the choice is kept on disk (`KM_CACHE_DIR`) and taken from
    /// there the next time. Blocks until all candidates are measured; a kernel that never ends needs
    /// `KM_KERNEL_TIMEOUT_MS`. C: `km_tune_run`.
    ///
    /// # Safety
    ///
    /// Nothing checks the kernel's use of the buffers and numbers that it is given: with each
    /// candidate it must stay within them.
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when there are no candidates or the problem has a zero byte;
    /// `ERROR_NOT_PERMITTED` inside a callback of this library; when no candidate works, the status
    /// of the first one, with its text.
    pub unsafe fn run(&mut self, problem: Option<&str>) -> Result<u32> {
        // SAFETY: the caller promises it.
        unsafe { self.run_with(problem, sys::km_tune_run_flags::DEFAULT) }
    }

    /// Like [`run`](Self::run), and measures also when a choice is remembered.
    ///
    /// # Safety
    ///
    /// That of [`run`](Self::run).
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run).
    pub unsafe fn run_again(&mut self, problem: Option<&str>) -> Result<u32> {
        // SAFETY: the caller promises it.
        unsafe { self.run_with(problem, sys::km_tune_run_flags::AGAIN) }
    }

    unsafe fn run_with(
        &mut self,
        problem: Option<&str>,
        flags: sys::km_tune_run_flags,
    ) -> Result<u32> {
        let problem = problem.map(|text| c_string(text, "problem")).transpose()?;
        let problem = problem.as_ref().map_or(null(), |text| text.as_ptr());
        let (callback, data) = match self.progress.as_mut() {
            Some(progress) => {
                (Some(report as unsafe extern "C" fn(_, _, _)), std::ptr::from_mut(progress))
            }
            None => (None, null_mut()),
        };
        let mut best = 0;
        // SAFETY: the callback gets this object's own closure, which stays where it is and is used
        // by nobody else while it runs: `&mut self` keeps all others out, and afterwards there is no
        // callback. What kernels do is the caller's promise.
        let (status, reset) = unsafe {
            check(sys::km_tune_set_progress(self.raw, callback, data.cast()))?;
            let status = sys::km_tune_run(self.raw, problem, flags, &mut best);
            let result = check(status); // before the text of another call
            (result, sys::km_tune_set_progress(self.raw, None, null_mut()))
        };
        status?;
        check(reset)?;
        Ok(best)
    }

    /// The outcome of a candidate's last measurement. Never blocks.
    /// C: `km_tune_result_get`, `km_tune_result_message`.
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when there is no such candidate.
    pub fn result(&self, candidate: u32) -> Result<TuneResult> {
        let mut result = sys::km_tune_result {
            struct_size: size_of::<sys::km_tune_result>() as u32,
            ..Default::default()
        };
        // SAFETY: the structure says its size.
        check(unsafe { sys::km_tune_result_get(self.raw, candidate, &mut result) })?;
        let message = read_text(|buffer, capacity, size| {
            // SAFETY: `read_text` gives room for `capacity` bytes.
            unsafe { sys::km_tune_result_message(self.raw, candidate, buffer, capacity, size) }
        })?;
        Ok(TuneResult {
            status: result.status,
            median_ns: result.median_ns,
            min_ns: result.min_ns,
            sample_count: result.sample_count,
            message,
        })
    }

    /// The kernel as a candidate has it, compiled with its options, in a context of the caller's.
    /// Blocks while it is compiled. C: `km_tune_function`.
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when there is no such candidate, or options are given for PTX;
    /// `ERROR_NOT_FOUND` when the source has no such kernel; what
    /// [`Context::load_source`] and [`Context::load_ptx`] return when they fail.
    pub fn function(&self, candidate: u32, context: &Context) -> Result<Function> {
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_tune_function(self.raw, candidate, context.as_raw(), &mut raw) })?;
        Function::new(raw)
    }
}

impl Drop for Tuner {
    fn drop(&mut self) {
        // SAFETY: the handle is this object's own, and destroying it twice is no danger.
        unsafe { sys::km_tune_destroy(self.raw) };
    }
}

impl std::fmt::Debug for Tuner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Tuner").field("raw", &self.raw).finish_non_exhaustive()
    }
}

unsafe extern "C" fn report(data: *mut c_void, done: u32, count: u32) {
    // SAFETY: what run_with() gave, which nobody else uses while it runs.
    let progress = unsafe { &mut *data.cast::<Progress>() };
    // A panic has been reported by its hook, and must not unwind into the library.
    let _ = catch_unwind(AssertUnwindSafe(|| progress(done, count)));
}
