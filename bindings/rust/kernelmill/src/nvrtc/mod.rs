//! CUDA C++ to PTX in cudarc's idiom, by NVIDIA's NVRTC where that is installed.
//!
//! ```
//! use kernelmill::nvrtc::{CompileError, CompileOptions, compile_ptx_with_opts};
//! let options = CompileOptions { ftz: Some(true), ..Default::default() };
//! let ptx = compile_ptx_with_opts("extern \"C\" __global__ void empty() {}", options)?;
//! assert!(ptx.to_src().contains(".visible .entry empty"));
//! # Ok::<(), CompileError>(())
//! ```

mod compile;
mod error;
mod ptx;
pub mod result;
pub mod sys;

/// All safe names again, under the name that cudarc gives their module.
pub mod safe {
    pub use super::{CompileError, CompileOptions, Ptx, compile_ptx, compile_ptx_with_opts};
}

pub use compile::{CompileOptions, compile_ptx, compile_ptx_with_opts};
pub use error::CompileError;
pub use ptx::Ptx;
pub(crate) use ptx::PtxKind;
