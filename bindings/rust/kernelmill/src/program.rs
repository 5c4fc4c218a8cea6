//! Programs: CUDA C++ to PTX.

use std::ptr::{null, null_mut};

use crate::error::{c_string, check, read_text, text_parts};
use crate::handle::owned_handle;
use crate::{Result, sys};

owned_handle! {
    /// A CUDA C++ source, to be compiled to PTX.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// use kernelmill::Program;
    /// let program = Program::new("template <class T> __global__ void set(T* x) { *x = N; }")?;
    /// program.add_option("-DN=4")?;
    /// program.add_name_expression("set<double>")?;
    /// program.compile()?;
    /// let set = context.load_program(&program)?.load_function("set<double>")?;
    /// assert_eq!(set.name()?, program.lowered_name("set<double>")?);
    /// # Ok(())
    /// # }
    /// ```
    Program, km_program, km_program_destroy
}

impl Program {
    /// A program of this source. Never blocks. C: `km_program_create`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_OUT_OF_HOST_MEMORY`](crate::Status) when there is no memory for a copy of
    /// the source.
    pub fn new(source: &str) -> Result<Self> {
        Self::create(source, None)
    }

    /// A program of this source with a name for messages. C: `km_program_create`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the name has a zero byte, and what
    /// [`new`](Self::new) gives.
    pub fn with_name(source: &str, name: &str) -> Result<Self> {
        Self::create(source, Some(name))
    }

    fn create(source: &str, name: Option<&str>) -> Result<Self> {
        let name = name.map(|name| c_string(name, "name")).transpose()?;
        let c_name = name.as_ref().map_or(null(), |name| name.as_ptr());
        let mut raw = null_mut();
        // SAFETY: the source has that size, and all arguments live through the call.
        check(unsafe {
            let (text, size) = text_parts(source);
            sys::km_program_create(text, size, c_name, &mut raw)
        })?;
        Ok(Self { raw })
    }

    /// An option for the next compilation, as NVRTC spells it: "-DN=4". Never blocks. C:
    /// `km_program_add_option`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the option has a zero byte.
    pub fn add_option(&self, option: &str) -> Result<()> {
        let option = c_string(option, "option")?;
        // SAFETY: handles are checked ids, and the text lives through the call.
        check(unsafe { sys::km_program_add_option(self.raw, option.as_ptr()) })
    }

    /// A header that `#include "name"` finds in the next compilation. Never blocks. C:
    /// `km_program_add_header`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the name is empty, has a zero byte or
    /// more than 4,095 bytes, or is that of another header.
    pub fn add_header(&self, name: &str, source: &str) -> Result<()> {
        let name = c_string(name, "name")?;
        let (text, size) = text_parts(source);
        // SAFETY: the source has that size, and all arguments live through the call.
        check(unsafe { sys::km_program_add_header(self.raw, name.as_ptr(), text, size) })
    }

    /// A C++ name, such as "scale&lt;float&gt;", that the next compilation keeps. Never blocks. C:
    /// `km_program_add_name_expression`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the expression has a zero byte.
    pub fn add_name_expression(&self, expression: &str) -> Result<()> {
        let expression = c_string(expression, "expression")?;
        // SAFETY: handles are checked ids, and the text lives through the call.
        check(unsafe { sys::km_program_add_name_expression(self.raw, expression.as_ptr()) })
    }

    /// Compiles with all that was added so far. [`log`](Self::log) lists the errors of a source
    /// that has some. Blocks while the compiler works; compilations take turns. C:
    /// `km_program_compile`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_COMPILATION_FAILED`](crate::Status) when the source has errors,
    /// [`Status::ERROR_NVRTC_UNAVAILABLE`](crate::Status) when NVRTC is not installed, with where
    /// it was looked for and how to get it, [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when
    /// NVRTC does not know an option.
    pub fn compile(&self) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_program_compile(self.raw) })
    }

    /// The text of the compiler for the last compilation, warnings included. Never blocks. C:
    /// `km_program_log`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_HANDLE`](crate::Status) when the handle was destroyed by a call of
    /// [`sys`].
    pub fn log(&self) -> Result<String> {
        read_text(|buffer, capacity, size| {
            // SAFETY: `read_text` gives room for `capacity` bytes.
            unsafe { sys::km_program_log(self.raw, buffer, capacity, size) }
        })
    }

    /// The PTX of the last compilation. Never blocks. C: `km_program_ptx`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_FOUND`](crate::Status) when the program has not been compiled with
    /// success.
    pub fn ptx(&self) -> Result<String> {
        read_text(|buffer, capacity, size| {
            // SAFETY: `read_text` gives room for `capacity` bytes.
            unsafe { sys::km_program_ptx(self.raw, buffer, capacity, size) }
        })
    }

    /// The name in the PTX of a name expression. Never blocks. C: `km_program_lowered_name`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_FOUND`](crate::Status) when the program has not been compiled with
    /// success, or the expression was not added before.
    pub fn lowered_name(&self, expression: &str) -> Result<String> {
        let expression = c_string(expression, "expression")?;
        read_text(|buffer, capacity, size| {
            let expression = expression.as_ptr();
            // SAFETY: `read_text` gives room for `capacity` bytes.
            unsafe { sys::km_program_lowered_name(self.raw, expression, buffer, capacity, size) }
        })
    }
}

/// Compiles CUDA C++ with options as NVRTC spells them, and gives the PTX. Blocks while the
/// compiler works. C: `km_program_compile`.
///
/// # Errors
///
/// Those of [`Program::compile`].
pub fn compile_ptx(source: &str, options: &[&str]) -> Result<String> {
    let program = Program::new(source)?;
    for option in options {
        program.add_option(option)?;
    }
    program.compile()?;
    program.ptx()
}
