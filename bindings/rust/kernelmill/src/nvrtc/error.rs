//! Errors of compilations.

use std::ffi::CString;
use std::fmt;

use super::result::NvrtcError;

/// A compilation that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// There is no program, for one because NVRTC is not installed.
    CreationError(NvrtcError),
    /// The source does not compile.
    CompileError {
        /// NVRTC's result.
        nvrtc: NvrtcError,
        /// The options that it was given.
        options: Vec<String>,
        /// NVRTC's messages.
        log: CString,
    },
    /// There is no log.
    GetLogError(NvrtcError),
    /// There is no PTX.
    GetPtxError(NvrtcError),
    /// The program could not be given back.
    DestroyError(NvrtcError),
}

impl fmt::Display for CompileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreationError(error) => write!(formatter, "no program: {error}"),
            Self::CompileError { nvrtc, options, log } => {
                write!(formatter, "{nvrtc}")?;
                if !options.is_empty() {
                    write!(formatter, "; options {}", options.join(" "))?;
                }
                let log = log.to_string_lossy();
                if log.is_empty() { Ok(()) } else { write!(formatter, "\n{log}") }
            }
            Self::GetLogError(error) => write!(formatter, "no log: {error}"),
            Self::GetPtxError(error) => write!(formatter, "no PTX: {error}"),
            Self::DestroyError(error) => write!(formatter, "the program is left: {error}"),
        }
    }
}

impl std::error::Error for CompileError {}
