//! The C ABI of Kernelmill as bindgen sees it: every function
//! of `<kernelmill/c_api.h>` under its own name, handles as distinct pointer types, enums as newtypes
//! with the values as constants (`KM_ERROR_NOT_FOUND` is [`km_status::ERROR_NOT_FOUND`]). Layouts are
//! checked at compile time. The crate `kernelmill` is the safe layer.
//!
//! # How the library is found
//!
//! With the feature `dynamic-loading`, which is on by default, `libkernelmill.so.1` is loaded at the
//! first call. A program is built and starts without it; calls then return
//! [`km_status::ERROR_BACKEND_UNAVAILABLE`], and [`load_error`] says where was looked. In this order:
//!
//! 1. the folder that the environment variable `KM_LIBRARY_DIR` names, and no other where it is set,
//! 2. the program's own folder, and `../lib` beside it,
//! 3. the folder that the build found by `KM_LIBRARY_DIR`, the feature `bundled` or pkg-config,
//! 4. the active virtual environment (`VIRTUAL_ENV`) or Conda's, where the wheel is installed,
//! 5. the folders of the system's loader: `LD_LIBRARY_PATH`, `/etc/ld.so.conf`,
//! 6. beside the command `kernelmill` that `PATH` finds: an archive's tree, or the wheel's,
//! 7. the wheel among the user's and the system's Python packages.
//!
//! With the feature `bundled`, which is off by default, the build downloads the archive of the
//! release (or takes the copy that `KM_BUNDLED_ARCHIVE` names), compares its SHA-256 with the one
//! that the crate pins, and unpacks it into cargo's build folder; `KM_LIBRARY_DIR` comes before it,
//! and documentation is built without it. A program that goes to another machine takes the
//! library's folder along as `../lib` beside its own.
//!
//! With `dynamic-linking` the linker binds the library, which the build then needs.

#[cfg(all(feature = "dynamic-loading", not(feature = "dynamic-linking")))]
#[macro_use]
mod loaded;
#[cfg(all(feature = "dynamic-loading", not(feature = "dynamic-linking")))]
mod places;

#[cfg(any(feature = "dynamic-linking", not(feature = "dynamic-loading")))]
#[macro_use]
mod linked;

#[cfg(any(feature = "dynamic-linking", not(feature = "dynamic-loading")))]
use linked as origin;
#[cfg(all(feature = "dynamic-loading", not(feature = "dynamic-linking")))]
use loaded as origin;

mod generated {
    #![allow(non_camel_case_types, clippy::missing_safety_doc, rustdoc::invalid_html_tags)]
    #[cfg(all(feature = "dynamic-loading", not(feature = "dynamic-linking")))]
    use crate::loaded::Function;
    include!("generated/bindings.rs");
}

pub use generated::*;

/// Why the library could not be loaded, with every place that was looked at; `None` when it is
/// there. The first call of this or any other function loads the library; the answer stays the same
/// for the life of the process. It blocks while the library is loaded, and any thread may call it.
#[must_use]
pub fn load_error() -> Option<&'static str> {
    origin::load_error()
}

/// The function that this thread called last although the library, an older one than this crate,
/// lacks it; `None` when there is no such call since this was asked last.
#[must_use]
pub fn take_missing_function() -> Option<&'static str> {
    origin::take_missing_function()
}
