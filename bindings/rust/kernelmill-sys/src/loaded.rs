//! Functions that are looked up in the library at their first call.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use libloading::Library;

use crate::places::{NAME, places};

/// Each function of the ABI as one that calls the library's. Without the library, or where it is
/// older than this crate and lacks the function, the call has no effect and returns
/// `KM_ERROR_BACKEND_UNAVAILABLE`.
macro_rules! functions {
    ($($(#[$doc:meta])* pub fn $name:ident($($parameter:ident: $type:ty),* $(,)?) -> $result:ty;)*) => {
        $(
            $(#[$doc])*
            #[inline]
            pub unsafe extern "C" fn $name($($parameter: $type),*) -> $result {
                static FUNCTION: Function = Function::new();
                match FUNCTION.find(concat!(stringify!($name), "\0")) {
                    // SAFETY: the library's function of this name has this type; the caller answers
                    // for the arguments.
                    Some(found) => unsafe {
                        ::core::mem::transmute::<
                            ::core::ptr::NonNull<::core::ffi::c_void>,
                            unsafe extern "C" fn($($type),*) -> $result,
                        >(found)($($parameter),*)
                    },
                    None => km_status::ERROR_BACKEND_UNAVAILABLE,
                }
            }
        )*
    };
}

/// The place of one function of the library.
pub struct Function(AtomicPtr<c_void>);

impl Function {
    pub const fn new() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// `name` ends with a zero.
    #[inline]
    pub fn find(&self, name: &'static str) -> Option<NonNull<c_void>> {
        NonNull::new(self.0.load(Ordering::Relaxed)).or_else(|| self.look_up(name))
    }

    #[cold]
    #[inline(never)]
    fn look_up(&self, name: &'static str) -> Option<NonNull<c_void>> {
        let library = library().as_ref().ok()?;
        // SAFETY: nothing is called; the symbol is a function of the C ABI, and never null.
        let Ok(found) = (unsafe { library.get::<*mut c_void>(name.as_bytes()) }) else {
            MISSING.set(Some(name.trim_end_matches('\0')));
            return None;
        };
        self.0.store(*found, Ordering::Relaxed);
        NonNull::new(*found)
    }
}

thread_local! {
    static MISSING: Cell<Option<&'static str>> = const { Cell::new(None) };
}

pub fn take_missing_function() -> Option<&'static str> {
    MISSING.take()
}

pub fn load_error() -> Option<&'static str> {
    library().as_ref().err().map(String::as_str)
}

/// The library, which stays loaded until the process ends.
fn library() -> &'static Result<Library, String> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    LIBRARY.get_or_init(load)
}

fn load() -> Result<Library, String> {
    let mut tried = Vec::new();
    for place in places() {
        if place.is_absolute() && !place.exists() {
            tried.push(format!("{} is not there", place.display()));
            continue;
        }
        // SAFETY: the library's initialisers need nothing of the program.
        match unsafe { Library::new(&place) } {
            Ok(library) => return Ok(library),
            Err(error) => tried.push(reason(&error)),
        }
    }
    Err(format!(
        "{NAME} was not found. Install Kernelmill, or set KM_LIBRARY_DIR to the folder that holds \
         it. Tried: {}",
        tried.join("; ")
    ))
}

/// The loader's words, which begin with the place: libloading has them as the source of its error.
fn reason(error: &libloading::Error) -> String {
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), ToString::to_string)
}
