//! The C ABI of Kernelmill as bindgen sees it: every function
//! of `<kernelmill/c_api.h>` under its own name, handles as distinct pointer types, enums as newtypes
//! with the values as constants (`KM_ERROR_NOT_FOUND` is [`km_status::ERROR_NOT_FOUND`]). Layouts are
//! checked at compile time. The crate `kernelmill` is the safe layer.
//!
//! The library is found by the environment variable `KM_LIBRARY_DIR`, else by pkg-config. Programs
//! find it at run time by the usual search of the loader; a program's build script can put the
//! folder, which it sees as `DEP_KERNELMILL_LIBRARY_DIR`, into the program's rpath.
#![no_std]

mod generated {
    #![allow(non_camel_case_types, rustdoc::invalid_html_tags)]
    include!("generated/bindings.rs");
}

pub use generated::*;
