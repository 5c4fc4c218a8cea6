//! Programs: CUDA C++ to PTX.

use std::ptr::{null, null_mut};

use crate::error::{c_string, check, read_text, text_parts};
use crate::handle::owned_handle;
use crate::{Result, sys};

owned_handle! {
    /// A CUDA C++ source, to be compiled to PTX.
    Program, km_program, km_program_destroy
}

impl Program {
    /// A program of this source.
    pub fn new(source: &str) -> Result<Self> {
        Self::create(source, None)
    }

    /// The same with a name for messages.
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

    /// An option for the next compilation, as NVRTC spells it: "-DN=4".
    pub fn add_option(&self, option: &str) -> Result<()> {
        let option = c_string(option, "option")?;
        // SAFETY: handles are checked ids, and the text lives through the call.
        check(unsafe { sys::km_program_add_option(self.raw, option.as_ptr()) })
    }

    /// A header that `#include "name"` finds in the next compilation.
    pub fn add_header(&self, name: &str, source: &str) -> Result<()> {
        let name = c_string(name, "name")?;
        let (text, size) = text_parts(source);
        // SAFETY: the source has that size, and all arguments live through the call.
        check(unsafe { sys::km_program_add_header(self.raw, name.as_ptr(), text, size) })
    }

    /// A C++ name, such as "scale&lt;float&gt;", that the next compilation keeps.
    pub fn add_name_expression(&self, expression: &str) -> Result<()> {
        let expression = c_string(expression, "expression")?;
        // SAFETY: handles are checked ids, and the text lives through the call.
        check(unsafe { sys::km_program_add_name_expression(self.raw, expression.as_ptr()) })
    }

    /// Compiles with all that was added so far. [`log`](Self::log) lists the errors of a source that
    /// has some.
    pub fn compile(&self) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_program_compile(self.raw) })
    }

    /// What the compiler said last, warnings included.
    pub fn log(&self) -> Result<String> {
        read_text(|buffer, capacity, size| {
            // SAFETY: `read_text` gives room for `capacity` bytes.
            unsafe { sys::km_program_log(self.raw, buffer, capacity, size) }
        })
    }

    /// The PTX of the last compilation.
    pub fn ptx(&self) -> Result<String> {
        read_text(|buffer, capacity, size| {
            // SAFETY: `read_text` gives room for `capacity` bytes.
            unsafe { sys::km_program_ptx(self.raw, buffer, capacity, size) }
        })
    }

    /// The name in the PTX of a name expression.
    pub fn lowered_name(&self, expression: &str) -> Result<String> {
        let expression = c_string(expression, "expression")?;
        read_text(|buffer, capacity, size| {
            let expression = expression.as_ptr();
            // SAFETY: `read_text` gives room for `capacity` bytes.
            unsafe { sys::km_program_lowered_name(self.raw, expression, buffer, capacity, size) }
        })
    }
}

/// Compiles CUDA C++ with options as NVRTC spells them, and gives the PTX.
pub fn compile_ptx(source: &str, options: &[&str]) -> Result<String> {
    let program = Program::new(source)?;
    for option in options {
        program.add_option(option)?;
    }
    program.compile()?;
    program.ptx()
}
