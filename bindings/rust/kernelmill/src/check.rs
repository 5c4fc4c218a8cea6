//! The checker of a context: its tools, and what they find.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

use crate::error::{array_text, check};
use crate::{Context, Result, sys};

/// The checker's tools, [`km_check_flags`](sys::km_check_flags): `Check::MEMORY | Check::RACE`.
pub use sys::km_check_flags as Check;

/// One access of a [`Finding`], or the place of another event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FindingPlace {
    /// The access: "write of 4 bytes".
    pub access: String,
    /// The file of the source, or of the PTX text if no other is known.
    pub source: String,
    /// The line in it; 0 if it is not known.
    pub line: u64,
    /// The block; `u32::MAX` if it is not known.
    pub block: [u32; 3],
    /// The thread of the block; `u32::MAX` if it is not known.
    pub thread: [u32; 3],
    /// The calls in whose place a compiler has put this code, the innermost first: "a.cu:20".
    pub callers: Vec<String>,
}

/// A defect that the checker has found: [`Context::set_check`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The tool that found it.
    pub tool: Check,
    /// The kind among the tool's: "write-read".
    pub kind: String,
    /// The kernel as its source names it.
    pub kernel: String,
    /// A sentence.
    pub message: String,
    /// The place of the access.
    pub place: FindingPlace,
    /// The earlier access of a race.
    pub other: Option<FindingPlace>,
    /// The address of the access.
    pub address: u64,
    /// The size of the access.
    pub size_bytes: u64,
    /// The allocation that the address lies in or near to.
    pub allocation: String,
    /// The remedy; may be empty.
    pub advice: String,
    /// How often the launch had it.
    pub count: u64,
}

impl FindingPlace {
    fn new(place: &sys::km_finding_place, callers: &str) -> Self {
        Self {
            access: array_text(&place.access),
            source: array_text(&place.source),
            line: place.line,
            block: place.block,
            thread: place.thread,
            callers: callers.lines().map(String::from).collect(),
        }
    }
}

impl From<&sys::km_finding> for Finding {
    fn from(found: &sys::km_finding) -> Self {
        let other = FindingPlace::new(&found.other, &array_text(&found.other_callers));
        Self {
            tool: found.tool,
            kind: array_text(&found.kind),
            kernel: array_text(&found.kernel),
            message: array_text(&found.message),
            place: FindingPlace::new(&found.place, &array_text(&found.place_callers)),
            other: (!other.access.is_empty()).then_some(other),
            address: found.address,
            size_bytes: found.size_bytes,
            allocation: array_text(&found.allocation),
            advice: array_text(&found.advice),
            count: found.count,
        }
    }
}

impl Context {
    /// Selects the checker's tools for launches from now on, and has at most `limit` findings (0:
    /// all) given to `receive`, on any thread, one call at a time. `receive` may not make calls
    /// that wait. It is a reference that lives for ever because the context may outlive this
    /// object. Waits for the former one if it runs. C: `km_context_set_check`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// use kernelmill::{Check, Finding, LaunchConfig};
    /// use std::sync::Mutex;
    /// static FOUND: Mutex<Vec<Finding>> = Mutex::new(Vec::new());
    /// let context = kernelmill::Context::open("cpu")?;
    /// context.set_check(Check::MEMORY, 0, &|found| FOUND.lock().unwrap().push(found))?;
    /// # let source = "extern \"C\" __global__ void last(int* x) { x[threadIdx.x] = 1; }";
    /// # let last = context.load_source(source)?.load_function("last")?;
    /// # let stream = context.default_stream()?;
    /// let mut x = stream.alloc_zeros::<i32>(31)?; // one too few
    /// let mut launch = stream.launch_builder(&last);
    /// launch.arg(&mut x);
    /// // SAFETY: the checker leaves out the access beyond `x`.
    /// unsafe { launch.launch(LaunchConfig::for_num_elems(32)) }?;
    /// stream.synchronize()?;
    /// assert_eq!(FOUND.lock().unwrap()[0].kind, "illegal-address");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when the flags have unknown bits, `ERROR_NOT_SUPPORTED` when the
    /// device has no checker, `ERROR_NOT_PERMITTED` in a callback.
    pub fn set_check<F: Fn(Finding) + Sync>(
        &self,
        tools: Check,
        limit: u64,
        receive: &'static F,
    ) -> Result<()> {
        let data: *const F = receive;
        // SAFETY: `give_finding::<F>` gets back the F that lives for ever.
        check(unsafe {
            sys::km_context_set_check(
                self.as_raw(),
                tools,
                limit,
                Some(give_finding::<F>),
                data.cast_mut().cast(),
            )
        })
    }

    /// Selects the checker's tools, whose findings are printed on standard error.
    /// C: `km_context_set_check`.
    ///
    /// # Errors
    ///
    /// Those of [`set_check`](Self::set_check).
    pub fn set_check_printed(&self, tools: Check) -> Result<()> {
        // SAFETY: handles are checked ids; no callback means standard error.
        check(unsafe { sys::km_context_set_check(self.as_raw(), tools, 0, None, null_mut()) })
    }
}

unsafe extern "C" fn give_finding<F: Fn(Finding) + Sync>(
    data: *mut c_void,
    finding: *const sys::km_finding,
) {
    // SAFETY: `data` is what set_check() gave, and the finding is valid for the call.
    let (receive, finding) = unsafe { (&*data.cast_const().cast::<F>(), &*finding) };
    // A panic has been reported by its hook, and must not unwind into the library.
    let _ = catch_unwind(AssertUnwindSafe(|| receive(finding.into())));
}
