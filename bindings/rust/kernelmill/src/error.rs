//! Failures: what the library says about a call that did not succeed.

use std::ffi::{CStr, CString, c_char};
use std::fmt;
use std::path::Path;
use std::ptr::null_mut;

use crate::advice::with_own_names;
use crate::status_texts::{Texts, texts_of};
use crate::sys;

/// The status of a call, [`km_status`](sys::km_status): `Status::ERROR_NOT_FOUND`.
pub use sys::km_status as Status;

/// The kind of a failure, [`km_error_category`](sys::km_error_category):
/// `Category::KERNEL_FAULT`.
pub use sys::km_error_category as Category;

/// The result of every call.
pub type Result<T> = std::result::Result<T, Error>;

/// A call that failed. Small, because the details lie behind a pointer.
///
/// ```
/// use kernelmill::{Category, Context, Status};
/// let error = Context::open("cpu:x").unwrap_err();
/// assert_eq!(error.status(), Status::ERROR_INVALID_ARGUMENT);
/// assert_eq!(error.category(), Category::USAGE);
/// println!("{error}: {}", error.suggestion());
/// ```
#[derive(Clone)]
pub struct Error(Box<Details>);

#[derive(Clone)]
struct Details {
    status: Status,
    message: String,
    native_code: i64,
    is_missing_library: bool,
}

impl Error {
    pub(crate) fn new(status: Status, message: impl Into<String>) -> Self {
        let message = with_own_names(message.into());
        let details = Details { status, message, native_code: 0, is_missing_library: false };
        Self(Box::new(details))
    }

    /// An error that comes as a status alone.
    pub(crate) fn from_status(status: Status) -> Self {
        let text = static_text(status, sys::km_status_description, |texts| texts.meaning);
        Self::new(status, text)
    }

    /// This error with the backend's own code.
    pub(crate) fn with_native_code(mut self, native_code: i64) -> Self {
        self.0.native_code = native_code;
        self
    }

    /// The failure of the call that this thread has just made.
    #[cold]
    #[inline(never)]
    pub(crate) fn last(status: Status) -> Self {
        if let Some(reason) = sys::load_error() {
            let mut error = Self::new(status, reason);
            error.0.is_missing_library = true;
            return error;
        }
        if let Some(name) = sys::take_missing_function() {
            let message = format!(
                "the library lacks {name}: it is older than this crate; install version {}",
                env!("CARGO_PKG_VERSION")
            );
            return Self::new(status, message);
        }
        let message = read_text(|buffer, capacity, size| {
            // SAFETY: `read_text` gives room for `capacity` bytes.
            unsafe { sys::km_last_error_message(buffer, capacity, size) }
        });
        let mut native_code = 0;
        // SAFETY: the out-parameter lives through the call.
        unsafe { sys::km_last_error_native_code(&mut native_code) };
        Self::new(status, message.unwrap_or_default()).with_native_code(native_code)
    }

    /// The failure of the call that this thread has just made, told as that of `caller`.
    #[cold]
    pub(crate) fn last_of(status: Status, caller: &str) -> Self {
        let mut error = Self::last(status);
        if let Some((_, text)) = error.0.message.split_once(": ") {
            error.0.message = format!("{caller}: {text}");
        }
        error
    }

    /// The status that the call returned.
    pub fn status(&self) -> Status {
        self.0.status
    }

    /// The text: what was wrong with which values, and what to do.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The backend's own code (`CUresult`, errno), 0 where there is none.
    pub fn native_code(&self) -> i64 {
        self.0.native_code
    }

    /// The kind of the failure.
    pub fn category(&self) -> Category {
        if self.0.is_missing_library {
            return Category::ENVIRONMENT;
        }
        let mut category = Category::NONE;
        // SAFETY: the out-parameter lives through the call.
        match unsafe { sys::km_status_category(self.0.status, &mut category) } {
            Status::SUCCESS => category,
            _ => texts_of(self.0.status).map_or(category, |texts| texts.category),
        }
    }

    /// One sentence on what to do about it.
    pub fn suggestion(&self) -> &'static str {
        if self.0.is_missing_library {
            return "Install Kernelmill, or set KM_LIBRARY_DIR to the folder that holds it.";
        }
        match texts_of(self.0.status) {
            Some(own) => own.recovery, // with the names of this crate
            None => static_text(self.0.status, sys::km_status_recovery, |texts| texts.recovery),
        }
    }

    /// The status as the C header spells it: "KM_ERROR_NOT_FOUND".
    pub fn status_name(&self) -> &'static str {
        static_text(self.0.status, sys::km_status_name, |texts| texts.name)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} [{}]", self.0.message, self.status_name())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Error")
            .field("status", &self.status_name())
            .field("message", &self.0.message)
            .field("suggestion", &self.suggestion())
            .field("native_code", &self.0.native_code)
            .finish()
    }
}

impl std::error::Error for Error {}

/// A status as a result. KM_NOT_READY and KM_TIMEOUT, which are no errors, do not come here.
#[inline]
pub(crate) fn check(status: Status) -> Result<()> {
    if status == Status::SUCCESS { Ok(()) } else { Err(Error::last(status)) }
}

/// A status that can also be `not_yet`, for work that goes on.
#[inline]
pub(crate) fn check_done(status: Status, not_yet: Status) -> Result<bool> {
    if status == Status::SUCCESS {
        Ok(true)
    } else if status == not_yet {
        Ok(false)
    } else {
        Err(Error::last(status))
    }
}

/// The meaning of a status, in a sentence.
pub(crate) fn status_description(status: Status) -> Result<&'static CStr> {
    let mut text = std::ptr::null();
    // SAFETY: the out-parameter lives through the call.
    check(unsafe { sys::km_status_description(status, &mut text) })?;
    if text.is_null() {
        return Ok(c"");
    }
    // SAFETY: the call succeeded, and its text is static and ends with a zero.
    Ok(unsafe { CStr::from_ptr(text) })
}

type StaticText = unsafe extern "C" fn(Status, *mut *const c_char) -> Status;

/// The library's text of a status; `own` is this crate's, where the library is missing.
fn static_text(
    status: Status,
    get: StaticText,
    own: impl FnOnce(&'static Texts) -> &'static str,
) -> &'static str {
    let mut text = std::ptr::null();
    // SAFETY: the out-parameter lives through the call; the text that it gives is static.
    unsafe {
        match get(status, &mut text) {
            Status::SUCCESS if !text.is_null() => CStr::from_ptr(text).to_str().unwrap_or_default(),
            _ => texts_of(status).map_or(UNKNOWN_STATUS, own),
        }
    }
}

const UNKNOWN_STATUS: &str = "a status that this version of the library does not know";

/// Copies a text out of the library: `get` is a call with buffer, capacity and size.
pub(crate) fn read_text(
    mut get: impl FnMut(*mut c_char, u64, *mut u64) -> Status,
) -> Result<String> {
    loop {
        let mut size = 0;
        check(get(null_mut(), 0, &mut size))?;
        let mut bytes = vec![0u8; size as usize];
        match get(bytes.as_mut_ptr().cast(), size, &mut size) {
            Status::ERROR_BUFFER_TOO_SMALL => continue, // another thread made it longer
            status => check(status)?,
        }
        bytes.truncate((size as usize).saturating_sub(1));
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
}

/// A text that the library takes with a closing zero.
pub(crate) fn c_string(text: &str, what: &str) -> Result<CString> {
    CString::new(text).map_err(|error| {
        let place = error.nul_position();
        let message = format!("{what} has a zero byte at {place}; expected a text without one");
        Error::new(Status::ERROR_INVALID_ARGUMENT, message)
    })
}

/// A path as the library takes it.
pub(crate) fn path_text(path: &Path) -> Result<CString> {
    let text = path.to_str().ok_or_else(|| {
        let message = format!("the path {} is not UTF-8", path.display());
        Error::new(Status::ERROR_INVALID_ARGUMENT, message)
    })?;
    c_string(text, "path")
}

/// "1 argument", "2 arguments".
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Place and size of a text. The library reads one of size 0 up to its closing zero, which an empty
/// `str` lacks.
pub(crate) fn text_parts(text: &str) -> (*const c_char, u64) {
    let place = if text.is_empty() { c"".as_ptr() } else { text.as_ptr().cast() };
    (place, text.len() as u64)
}

/// A fixed-size text in a structure that the library filled.
pub(crate) fn array_text(array: &[c_char]) -> String {
    let bytes: Vec<u8> = array.iter().map(|c| *c as u8).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
