//! Modules and the kernels in them.

use std::mem::size_of;
use std::ptr::null_mut;

use crate::error::{c_string, check, read_text};
use crate::handle::owned_handle;
use crate::layout::{Kinds, Layout};
use crate::{Error, Pod, Result, Slice, Status, sys};

/// A property of a kernel that is a number: `FunctionAttribute::REGISTERS`.
pub use sys::km_function_attribute as FunctionAttribute;

/// The kind of a parameter, an address or a value, as far as the kernel tells:
/// `ParamKind::POINTER`.
pub use sys::km_param_kind as ParamKind;

/// The type that PTX declares for a parameter: `ParamType::FLOAT`.
pub use sys::km_param_type as ParamType;

owned_handle! {
    /// Compiled kernels and variables, made by [`Context::load_ptx`](crate::Context::load_ptx) and
    /// the like.
    Module, km_module, km_module_destroy
}

impl Module {
    /// The kernel of this name in the PTX (mangled, unless it is `extern "C"`), or of this name
    /// expression. Never blocks. C: `km_module_function`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_FOUND`](crate::Status) when there is no such kernel, with the nearest
    /// name and what there is, [`Status::ERROR_UNSUPPORTED_PTX`](crate::Status) when it is one that
    /// the device cannot run, [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was
    /// reset.
    pub fn load_function(&self, name: &str) -> Result<Function> {
        let c_name = c_string(name, "name")?;
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the arguments live through the call.
        check(unsafe { sys::km_module_function(self.raw, c_name.as_ptr(), &mut raw) })?;
        Function::new(raw)
    }

    /// The names of all kernels, in the order of the text. Never blocks. C:
    /// `km_module_function_name`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn function_names(&self) -> Result<Vec<String>> {
        let mut count = 0;
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_module_function_count(self.raw, &mut count) })?;
        let name = |index| {
            read_text(|buffer, capacity, size| {
                // SAFETY: `read_text` gives room for `capacity` bytes.
                unsafe { sys::km_module_function_name(self.raw, index, buffer, capacity, size) }
            })
        };
        (0..count).map(name).collect()
    }

    /// A global or constant variable as a slice. Never blocks. C: `km_module_global`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// # let stream = context.default_stream()?;
    /// let source = "__constant__ float weights[3] = {1, 2, 3};
    ///   extern \"C\" __global__ void first(float* out) { *out = weights[0]; }";
    /// let module = context.load_source(source)?;
    /// let mut weights = module.global::<f32>("weights")?;
    /// stream.memcpy_htod(&[4.0, 5.0, 6.0], &mut weights)?;
    /// assert_eq!(stream.clone_dtoh(&weights)?, [4.0, 5.0, 6.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_FOUND`](crate::Status) when there is no such variable,
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when its size is no multiple of the
    /// type's, [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset, the sticky
    /// error of the context when a kernel failed.
    pub fn global<T: Pod>(&self, name: &str) -> Result<Slice<T>> {
        let c_name = c_string(name, "name")?;
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the arguments live through the call.
        check(unsafe { sys::km_module_global(self.raw, c_name.as_ptr(), &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        unsafe { Slice::from_raw(raw) }
    }
}

/// One parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Param {
    /// Its kind, an address or a value.
    pub kind: ParamKind,
    /// The type that PTX declares for it; CUDA C++ does not tell signed numbers from others.
    pub value_type: ParamType,
    /// Its size.
    pub size_bytes: usize,
    /// Its alignment.
    pub align_bytes: usize,
    /// Its place in the buffer of arguments.
    pub offset_bytes: usize,
}

/// A kernel. It keeps its module.
///
/// ```
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// use kernelmill::FunctionAttribute;
/// let source = "extern \"C\" __global__ void add(float* x, double y, int n) { x[n] += y; }";
/// let add = context.load_source(source)?.load_function("add")?;
/// let sizes: Vec<_> = add.params().iter().map(|param| param.size_bytes).collect();
/// assert_eq!(sizes, [8, 8, 4]);
/// assert!(add.attribute(FunctionAttribute::MAX_THREADS_PER_BLOCK)? >= 256);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Function {
    raw: sys::km_function,
    // They lie one after the other, and none ends beyond `arguments_size_bytes`.
    params: Box<[Param]>,
    layout: Layout,
    kinds: Kinds,
    arguments_size_bytes: usize,
}

// SAFETY: base.h says "Threads: any" of every km_function_... function: any number of
// threads may call them at once, also on the same object.
unsafe impl Send for Function {}
// SAFETY: the same.
unsafe impl Sync for Function {}

impl Function {
    pub(crate) fn new(raw: sys::km_function) -> Result<Self> {
        // Owns the handle from here on.
        let mut function = Self::without_params(raw);
        let mut count = 0;
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_function_param_count(raw, &mut count) })?;
        let params = (0..count).map(|index| read_param(raw, index)).collect::<Result<_>>()?;
        function.set_params(params)?;
        Ok(function)
    }

    fn without_params(raw: sys::km_function) -> Self {
        let (params, layout) = (Box::default(), Layout::EMPTY);
        Self { raw, params, layout, kinds: Kinds::UNKNOWN, arguments_size_bytes: 0 }
    }

    /// Takes the parameters, if they lie one after the other.
    fn set_params(&mut self, params: Box<[Param]>) -> Result<()> {
        let mut end = 0usize;
        for param in &params {
            let after = param.offset_bytes.checked_add(param.size_bytes);
            end = match after {
                Some(after) if param.offset_bytes >= end => after,
                _ => return Err(Error::new(Status::ERROR_INTERNAL, "parameters overlap")),
            };
        }
        self.layout = Layout::of(&params);
        self.kinds = Kinds::of(&params);
        (self.params, self.arguments_size_bytes) = (params, end);
        Ok(())
    }

    /// A kernel of no library, for tests: sizes and offsets of its parameters in bytes.
    #[cfg(test)]
    pub(crate) fn of_params(params: &[(usize, usize)]) -> Self {
        let param = |(size_bytes, offset_bytes): &(usize, usize)| Param {
            kind: ParamKind::UNKNOWN,
            value_type: ParamType::UNKNOWN,
            size_bytes: *size_bytes,
            align_bytes: 1,
            offset_bytes: *offset_bytes,
        };
        let mut function = Self::without_params(null_mut());
        assert!(function.set_params(params.iter().map(param).collect()).is_ok());
        function
    }

    /// The handle, for calls of [`sys`]; it stays this object's.
    #[inline]
    pub fn as_raw(&self) -> sys::km_function {
        self.raw
    }

    /// The parameters, in order.
    #[inline]
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// The places of the parameters.
    #[inline]
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The kinds of the parameters.
    #[inline]
    pub(crate) fn kinds(&self) -> Kinds {
        self.kinds
    }

    /// The size of all arguments: the end of the last parameter.
    #[inline]
    pub(crate) fn arguments_size_bytes(&self) -> usize {
        self.arguments_size_bytes
    }

    /// The kernel's name in the PTX. Never blocks. C: `km_function_name`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn name(&self) -> Result<String> {
        read_text(|buffer, capacity, size| {
            // SAFETY: `read_text` gives room for `capacity` bytes.
            unsafe { sys::km_function_name(self.raw, buffer, capacity, size) }
        })
    }

    /// One property as a number. Never blocks. C: `km_function_attribute_get`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_SUPPORTED`](crate::Status) when the device cannot tell,
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn attribute(&self, attribute: FunctionAttribute) -> Result<i64> {
        let mut value = 0;
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_function_attribute_get(self.raw, attribute, &mut value) })?;
        Ok(value)
    }

    /// Allows launches with more dynamic shared memory than the default limit. Never blocks. C:
    /// `km_function_attribute_set`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when the device has not that much for a
    /// block, [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn set_max_dynamic_shared_bytes(&self, bytes: u64) -> Result<()> {
        let attribute = FunctionAttribute::MAX_DYNAMIC_SHARED_BYTES;
        let value = i64::try_from(bytes).unwrap_or(i64::MAX);
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_function_attribute_set(self.raw, attribute, value) })
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        #[cfg(test)]
        if self.raw.is_null() {
            return; // that of a test
        }
        // SAFETY: the handle is this object's own, and destroying it twice is no danger.
        unsafe { sys::km_function_destroy(self.raw) };
    }
}

fn read_param(function: sys::km_function, index: u32) -> Result<Param> {
    let mut info = sys::km_param_info {
        struct_size: size_of::<sys::km_param_info>() as u32,
        ..Default::default()
    };
    // SAFETY: the structure says its size.
    check(unsafe { sys::km_function_param(function, index, &mut info) })?;
    Ok(Param {
        kind: info.kind,
        value_type: info.value_type,
        size_bytes: info.size_bytes as usize,
        align_bytes: info.align_bytes as usize,
        offset_bytes: info.offset_bytes as usize,
    })
}
