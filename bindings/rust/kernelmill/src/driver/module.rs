//! Modules: kernels and variables.

use std::sync::{Arc, OnceLock};

use super::error::Cuda;
use super::function::CudaFunction;
use super::memory::Memory;
use super::sys::CUresult;
use super::{CudaContext, CudaStream, CudaViewMut, DriverError};
use crate::nvrtc::{Ptx, PtxKind};
use crate::{Error, Module, Status};

/// Kernels and variables, loaded by [`CudaContext::load_module`].
#[derive(Debug)]
pub struct CudaModule {
    native: Module,
    context: Arc<CudaContext>,
    globals: OnceLock<Box<Global>>,
}

/// A variable that was asked for, and the next one. They live as long as the module.
#[derive(Debug)]
struct Global {
    name: String,
    memory: Arc<Memory>,
    next: OnceLock<Box<Global>>,
}

impl CudaModule {
    pub(super) fn load(context: &Arc<CudaContext>, ptx: &Ptx) -> Result<Arc<Self>, DriverError> {
        let native = match &ptx.0 {
            PtxKind::Source(text) => context.native().load_ptx(text).cuda()?,
            PtxKind::File(path) => context.native().load_file(path).map_err(no_file)?,
            PtxKind::Binary(bytes) => {
                let message = format!(
                    "{} bytes of machine code of a GPU cannot be loaded; load PTX",
                    bytes.len()
                );
                let error = Error::new(Status::ERROR_NOT_SUPPORTED, message);
                return Err(DriverError::of(CUresult::CUDA_ERROR_INVALID_IMAGE, error));
            }
        };
        Ok(Arc::new(Self { native, context: Arc::clone(context), globals: OnceLock::new() }))
    }

    /// The kernel of this name in the PTX: mangled, unless it is `extern "C"`.
    ///
    /// # Errors
    ///
    /// [`DriverError::NotFound`] when there is none.
    pub fn load_function(self: &Arc<Self>, name: &str) -> Result<CudaFunction, DriverError> {
        Ok(CudaFunction::new(self.native.load_function(name).cuda()?, Arc::clone(self)))
    }

    /// A variable in global or constant memory, as bytes. [`CudaViewMut::transmute_mut`] gives them
    /// a type.
    ///
    /// # Errors
    ///
    /// [`DriverError::NotFound`] when there is none.
    pub fn get_global<'a>(
        self: &'a Arc<Self>,
        name: &str,
        stream: &'a Arc<CudaStream>,
    ) -> Result<CudaViewMut<'a, u8>, DriverError> {
        let memory = self.global(name, stream)?;
        Ok(CudaViewMut::new(memory, 0, memory.size_bytes()))
    }

    fn global(&self, name: &str, stream: &CudaStream) -> Result<&Arc<Memory>, DriverError> {
        let mut place = &self.globals;
        let mut found = None;
        loop {
            let global = match (place.get(), found.take()) {
                (Some(global), _) => global,
                (None, Some(made)) => place.get_or_init(|| made),
                (None, None) => {
                    let memory = Memory::of(self.native.global::<u8>(name).cuda()?, stream);
                    let (name, next) = (name.to_owned(), OnceLock::new());
                    found = Some(Box::new(Global { name, memory, next }));
                    continue;
                }
            };
            if global.name == name {
                return Ok(&global.memory);
            }
            place = &global.next;
        }
    }

    /// The context of the module.
    #[must_use]
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }
}

/// CUDA has a result of its own for files.
fn no_file(error: Error) -> DriverError {
    match error.status() {
        Status::ERROR_NOT_FOUND | Status::ERROR_IO => {
            DriverError::of(CUresult::CUDA_ERROR_FILE_NOT_FOUND, error)
        }
        _ => DriverError::of_library(error),
    }
}
