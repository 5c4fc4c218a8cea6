//! NVRTC call by call: programs by their handles.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::fmt;
use std::mem::ManuallyDrop;

use super::sys::{nvrtcProgram, nvrtcResult};
use crate::{Error, Program, Status};

/// A call that failed: NVRTC's result. `Display` gives the library's whole text on the thread on
/// which the call failed, until another one fails there with the same result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NvrtcError(pub nvrtcResult);

thread_local! {
    // The last failure of this thread for each result.
    static FAILURES: RefCell<BTreeMap<nvrtcResult, Error>> = const { RefCell::new(BTreeMap::new()) };
}

impl NvrtcError {
    /// The failure itself; none when this thread has had no failure with this result.
    #[must_use]
    pub fn details(&self) -> Option<Error> {
        FAILURES.try_with(|known| known.borrow().get(&self.0).cloned()).ok().flatten()
    }
}

/// Results of the library in NVRTC's terms.
pub(super) trait Nvrtc<T> {
    fn nvrtc(self) -> Result<T, NvrtcError>;
}

impl<T> Nvrtc<T> for Result<T, Error> {
    fn nvrtc(self) -> Result<T, NvrtcError> {
        self.map_err(NvrtcError::of_library)
    }
}

impl NvrtcError {
    /// The error in NVRTC's terms.
    pub(super) fn of_library(error: Error) -> Self {
        let result = match error.status() {
            Status::ERROR_COMPILATION_FAILED => nvrtcResult::NVRTC_ERROR_COMPILATION,
            Status::ERROR_INVALID_ARGUMENT => nvrtcResult::NVRTC_ERROR_INVALID_INPUT,
            Status::ERROR_INVALID_HANDLE => nvrtcResult::NVRTC_ERROR_INVALID_PROGRAM,
            Status::ERROR_OUT_OF_HOST_MEMORY => nvrtcResult::NVRTC_ERROR_OUT_OF_MEMORY,
            _ => nvrtcResult::NVRTC_ERROR_INTERNAL_ERROR,
        };
        // Without a place to keep it, at the end of a thread, the result alone has to do.
        let _ = FAILURES.try_with(|known| known.borrow_mut().insert(result, error));
        Self(result)
    }
}

impl fmt::Display for NvrtcError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.details() {
            Some(error) => write!(formatter, "{:?}: {}", self.0, error.message()),
            None => write!(formatter, "{:?}", self.0),
        }
    }
}

impl fmt::Debug for NvrtcError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tuple = formatter.debug_tuple("NvrtcError");
        tuple.field(&self.0);
        if let Some(error) = self.details() {
            tuple.field(&error.message());
        }
        tuple.finish()
    }
}

impl std::error::Error for NvrtcError {}

/// Makes a program, which [`destroy_program`] gives back.
///
/// # Errors
///
/// `NVRTC_ERROR_INVALID_INPUT` when a text is no UTF-8, `NVRTC_ERROR_INTERNAL_ERROR` when the
/// library cannot be loaded.
pub fn create_program(source: &CStr, name: Option<&CStr>) -> Result<nvrtcProgram, NvrtcError> {
    let program = match name {
        Some(name) => Program::with_name(text(source)?, text(name)?).nvrtc()?,
        None => Program::new(text(source)?).nvrtc()?,
    };
    Ok(program.into_raw())
}

fn text(bytes: &CStr) -> Result<&str, NvrtcError> {
    bytes.to_str().map_err(|error| {
        let message = format!("the text is no UTF-8: {error}");
        NvrtcError::of_library(Error::new(Status::ERROR_INVALID_ARGUMENT, message))
    })
}

/// Compiles a program.
///
/// # Safety
///
/// The program is not given back meanwhile.
///
/// # Errors
///
/// `NVRTC_ERROR_COMPILATION` when the source does not compile: [`get_program_log`] has the messages.
pub unsafe fn compile_program<O: Clone + Into<Vec<u8>>>(
    program: nvrtcProgram,
    options: &[O],
) -> Result<(), NvrtcError> {
    let program = borrow(program);
    for option in options {
        let bytes = option.clone().into();
        program.add_option(&String::from_utf8_lossy(&bytes)).nvrtc()?;
    }
    program.compile().nvrtc()
}

/// Gives a program back.
///
/// # Safety
///
/// Nobody uses it any more.
///
/// # Errors
///
/// None; the signature is cudarc's.
pub unsafe fn destroy_program(program: nvrtcProgram) -> Result<(), NvrtcError> {
    // SAFETY: the caller gives the handle away.
    drop(unsafe { Program::from_raw(program) });
    Ok(())
}

/// The PTX of a compiled program, with a zero at its end.
///
/// # Safety
///
/// The program is not given back meanwhile.
///
/// # Errors
///
/// `NVRTC_ERROR_INTERNAL_ERROR` when it is not compiled.
pub unsafe fn get_ptx(program: nvrtcProgram) -> Result<Vec<c_char>, NvrtcError> {
    Ok(with_zero(&borrow(program).ptx().nvrtc()?))
}

/// The messages of a program's last compilation, with a zero at their end.
///
/// # Safety
///
/// The program is not given back meanwhile.
///
/// # Errors
///
/// `NVRTC_ERROR_INVALID_PROGRAM` when there is no such program.
pub unsafe fn get_program_log(program: nvrtcProgram) -> Result<Vec<c_char>, NvrtcError> {
    Ok(with_zero(&borrow(program).log().nvrtc()?))
}

fn with_zero(text: &str) -> Vec<c_char> {
    text.bytes().chain([0]).map(|byte| byte as c_char).collect()
}

/// A program that somebody else owns. (A handle that is not live is no danger: calls with it fail.)
fn borrow(program: nvrtcProgram) -> ManuallyDrop<Program> {
    // SAFETY: the object is never dropped.
    ManuallyDrop::new(unsafe { Program::from_raw(program) })
}
