//! Compiled modules on disk.

use std::path::Path;
use std::ptr::{null, null_mut};

use crate::error::{c_string, check, path_text};
use crate::{Context, Module, Result, sys};

impl Module {
    /// Compiles all kernels for blocks of these sizes (threads along x, y, z), and for blocks of
    /// any size, and writes them to a file, for the instruction set and the build of this library.
    /// Sizes that the launch bounds of a kernel exclude are left out for it. Blocks while the code
    /// is made: tens of milliseconds for each kernel and size. C: `km_module_save_object`.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// # let path = std::env::temp_dir().join(format!("kernelmill-kmo-{}", std::process::id()));
    /// # let source = "extern \"C\" __global__ void empty() {}";
    /// context.load_source(source)?.save_object(&path, &[[256, 1, 1]])?;
    /// // SAFETY: the file is the one just written.
    /// let module = unsafe { context.load_object(&std::fs::read(&path)?, None) }?;
    /// assert_eq!(module.function_names()?, ["empty"]);
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_LAUNCH`](crate::Status) when the device has no blocks of such a
    /// size, [`Status::ERROR_IO`](crate::Status) when the file cannot be written,
    /// [`Status::ERROR_UNSUPPORTED_PTX`](crate::Status) when a kernel uses what the device lacks,
    /// [`Status::ERROR_COMPILER`](crate::Status) when the code generator fails,
    /// [`Status::ERROR_NOT_SUPPORTED`](crate::Status) when the backend has no compiled modules,
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when there are more than 4,096 sizes or
    /// the path is no text, [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was
    /// reset.
    pub fn save_object(&self, path: impl AsRef<Path>, block_dims: &[[u32; 3]]) -> Result<()> {
        let path = path_text(path.as_ref())?;
        let blocks = if block_dims.is_empty() { null() } else { block_dims.as_ptr().cast() };
        let count = block_dims.len() as u64;
        // SAFETY: there are three numbers for each size, and all arguments live through the call.
        check(unsafe { sys::km_module_save_object(self.as_raw(), path.as_ptr(), blocks, count) })
    }
}

impl Context {
    /// Loads the contents of an object file, which [`Module::save_object`] wrote: nothing is
    /// compiled for the block sizes that it was made for, nor for others, which run code for any
    /// size. The name is for messages. Blocks while the data is read and checked. C:
    /// `km_module_from_object`.
    ///
    /// # Safety
    ///
    /// The data is machine code: it comes from where programs come from, and is what a library of
    /// this build wrote.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the data is no object file or is
    /// damaged, [`Status::ERROR_BUILD_MISMATCH`](crate::Status) when another build of the library
    /// made it, [`Status::ERROR_NOT_SUPPORTED`](crate::Status) when it is for instructions that
    /// this machine lacks, [`Status::ERROR_OUT_OF_DEVICE_MEMORY`](crate::Status) when there is not
    /// enough memory for its variables, the sticky error of the context when a kernel failed.
    pub unsafe fn load_object(&self, data: &[u8], name: Option<&str>) -> Result<Module> {
        let name = name.map(|name| c_string(name, "name")).transpose()?;
        let c_name = name.as_ref().map_or(null(), |name| name.as_ptr());
        let (bytes, size) = (data.as_ptr().cast(), data.len() as u64);
        let mut raw = null_mut();
        // SAFETY: the data has that size, and all arguments live through the call; the caller
        // answers for what it is.
        check(unsafe { sys::km_module_from_object(self.as_raw(), bytes, size, c_name, &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        Ok(unsafe { Module::from_raw(raw) })
    }
}
