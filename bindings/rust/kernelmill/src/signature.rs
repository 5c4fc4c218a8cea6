//! The types of kernels' parameters as CUDA C++ has them, and the types of slices that launches check.

use std::ffi::CString;
use std::mem::size_of;
use std::ptr::null;

use crate::error::{c_string, check, read_text};
use crate::{Function, Pod, Result, Slice, sys};

/// A type of CUDA C++ that elements and parameters have: `ElementType::F32`.
pub use sys::km_element_type as ElementType;

/// The kind of a parameter in its source: `SignatureKind::POINTER`.
pub use sys::km_signature_kind as SignatureKind;

/// The type of one parameter as CUDA C++ declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParamSignature {
    /// Its kind; a reference is a pointer.
    pub kind: SignatureKind,
    /// The type of the value, or of what the pointer points to.
    pub element: ElementType,
    /// 2 to 4 for a vector such as `float4`, 0 if nothing is known, else 1.
    pub lanes: u32,
    /// True when the elements behind the pointer are const.
    pub is_const: bool,
    /// The size of an element with all lanes; 0 if it is not known.
    pub element_size_bytes: usize,
    /// The name of the element type in CUDA C++; empty if it is not known.
    pub type_name: String,
}

impl Function {
    /// The type of a parameter. It is known of kernels that come from CUDA C++ or have mangled
    /// names. Never blocks. C: `km_function_param_signature`, `km_function_param_type_name`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// let source = "extern \"C\" __global__ void first(const float4* x, int n) {}";
    /// let first = context.load_source(source)?.load_function("first")?;
    /// let signature = first.param_signature(0)?;
    /// assert_eq!((signature.type_name.as_str(), signature.is_const), ("float4", true));
    /// assert_eq!(first.param_signature(1)?.type_name, "int");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when there is no such parameter,
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn param_signature(&self, index: usize) -> Result<ParamSignature> {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let mut found = sys::km_param_signature {
            struct_size: size_of::<sys::km_param_signature>() as u32,
            ..Default::default()
        };
        // SAFETY: the structure says its size.
        check(unsafe { sys::km_function_param_signature(self.as_raw(), index, &mut found) })?;
        let type_name = read_text(|buffer, capacity, size| {
            // SAFETY: `read_text` gives room for `capacity` bytes.
            unsafe {
                sys::km_function_param_type_name(self.as_raw(), index, buffer, capacity, size)
            }
        })?;
        Ok(ParamSignature {
            kind: found.kind,
            element: found.element,
            lanes: found.lanes,
            is_const: found.is_const != 0,
            element_size_bytes: found.element_size_bytes as usize,
            type_name,
        })
    }
}

/// The type of CUDA C++ that the elements of a slice have on the device.
///
/// ```
/// use kernelmill::{DeviceType, Pod};
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Point { x: f32, y: f32 }
/// // SAFETY: two numbers without padding.
/// unsafe impl Pod for Point {
///     const DEVICE_TYPE: DeviceType = DeviceType::named("geometry::Point");
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceType {
    element: ElementType,
    lanes: u32,
    name: Option<&'static str>,
}

/// The kinds of arguments that launches tell apart: integers and addresses are others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Unknown,
    Float,
    Other,
}

impl DeviceType {
    /// Any type: launches check nothing.
    pub const UNKNOWN: Self = Self { element: ElementType::UNKNOWN, lanes: 0, name: None };

    /// A number: `float`, `int`. It fits vectors of such numbers, too.
    pub const fn scalar(element: ElementType) -> Self {
        Self { element, lanes: 1, name: None }
    }

    /// A vector of 1 to 4 numbers: `float4`.
    pub const fn vector(element: ElementType, lanes: u32) -> Self {
        Self { element, lanes, name: None }
    }

    /// A structure, union or enumeration by its name in CUDA C++: `ns::Point`.
    pub const fn named(name: &'static str) -> Self {
        Self { element: ElementType::NAMED, lanes: 1, name: Some(name) }
    }

    /// The kind of a value of this type as an argument.
    #[inline(always)]
    pub(crate) const fn kind(self) -> ValueKind {
        match self.element {
            _ if self.lanes != 1 => ValueKind::Unknown,
            ElementType::UNKNOWN | ElementType::VOID | ElementType::NAMED => ValueKind::Unknown,
            ElementType::F16 | ElementType::BF16 | ElementType::F32 | ElementType::F64 => {
                ValueKind::Float
            }
            ElementType::F8_E4M3 | ElementType::F8_E5M2 => ValueKind::Float,
            _ => ValueKind::Other,
        }
    }

    /// The type if it is one number of so many bytes, else none.
    pub(crate) const fn number(self, size_bytes: usize) -> Option<ElementType> {
        let fits = match self.element {
            ElementType::BOOL | ElementType::CHAR | ElementType::I8 | ElementType::U8 => 1,
            ElementType::F8_E4M3 | ElementType::F8_E5M2 => 1,
            ElementType::I16 | ElementType::U16 | ElementType::F16 | ElementType::BF16 => 2,
            ElementType::I32 | ElementType::U32 | ElementType::F32 => 4,
            ElementType::I64 | ElementType::U64 | ElementType::F64 => 8,
            ElementType::I128 | ElementType::U128 => 16,
            _ => 0,
        } == size_bytes;
        if fits && self.lanes == 1 && size_bytes != 0 { Some(self.element) } else { None }
    }

    /// Says the type of a new slice, where one is known. No type can be worse than none: what the
    /// library does not take, it does not check.
    pub(crate) fn set(self, slice: sys::km_slice) {
        if self.element == ElementType::UNKNOWN || slice.is_null() {
            return;
        }
        let name: Option<CString> = self.name.and_then(|name| CString::new(name).ok());
        if self.name.is_some() != name.is_some() {
            return;
        }
        let text = name.as_deref().map_or(null(), |name| name.as_ptr());
        // SAFETY: handles are checked ids, and the text lives through the call.
        unsafe { sys::km_slice_set_element_type(slice, self.element, self.lanes, text) };
    }
}

impl<T: Pod> Slice<T> {
    /// Says of which type of CUDA C++ the elements are, if it is not [`Pod::DEVICE_TYPE`]. From then
    /// on a launch that gives the slice for a parameter that is known to have a type that does not
    /// fit is an error. `lanes` is 2 to 4 for a vector such as `float4`, else 1; `name` is that of
    /// an `ElementType::NAMED`. `ElementType::UNKNOWN` with 0 lanes ends the check. Never blocks. C:
    /// `km_slice_set_element_type`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// # let stream = context.default_stream()?;
    /// use kernelmill::{ElementType, LaunchConfig, Status};
    /// let source = "extern \"C\" __global__ void zero(float* x) { x[0] = 0; }";
    /// let zero = context.load_source(source)?.load_function("zero")?;
    /// let mut x = context.alloc_zeros::<u32>(1)?;
    /// x.set_element_type(ElementType::F64, 1, None)?; // it holds the bits of doubles
    /// let config = LaunchConfig::for_num_elems(1);
    /// let launched = unsafe { stream.launch_builder(&zero).arg(&mut x).launch(config) };
    /// assert_eq!(launched.unwrap_err().status(), Status::ERROR_INVALID_LAUNCH);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when there is no such type or the name has
    /// a zero byte, [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn set_element_type(
        &self,
        element: ElementType,
        lanes: u32,
        name: Option<&str>,
    ) -> Result<()> {
        let name: Option<CString> = name.map(|name| c_string(name, "name")).transpose()?;
        let pointer = name.as_deref().map_or(null(), |name| name.as_ptr());
        // SAFETY: handles are checked ids, and the text lives through the call.
        check(unsafe { sys::km_slice_set_element_type(self.as_raw(), element, lanes, pointer) })
    }
}
