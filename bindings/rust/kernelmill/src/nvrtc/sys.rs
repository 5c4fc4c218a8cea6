//! The results of NVRTC, and programs.
#![allow(non_camel_case_types)]

/// A program, made by [`create_program`](super::result::create_program).
pub type nvrtcProgram = crate::sys::km_program;

macro_rules! results {
    ($($number:literal $name:ident;)*) => {
        /// `nvrtcResult` of NVRTC.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum nvrtcResult {
            $(
                #[doc = concat!("Number ", $number, " in NVRTC.")]
                $name = $number,
            )*
        }

        impl nvrtcResult {
            /// The result of this number; [`Self::NVRTC_ERROR_INTERNAL_ERROR`] when NVRTC has none.
            #[must_use]
            pub fn from_number(number: i64) -> Self {
                match number {
                    $($number => Self::$name,)*
                    _ => Self::NVRTC_ERROR_INTERNAL_ERROR,
                }
            }
        }
    };
}
results! {
    0 NVRTC_SUCCESS;
    1 NVRTC_ERROR_OUT_OF_MEMORY;
    2 NVRTC_ERROR_PROGRAM_CREATION_FAILURE;
    3 NVRTC_ERROR_INVALID_INPUT;
    4 NVRTC_ERROR_INVALID_PROGRAM;
    5 NVRTC_ERROR_INVALID_OPTION;
    6 NVRTC_ERROR_COMPILATION;
    7 NVRTC_ERROR_BUILTIN_OPERATION_FAILURE;
    8 NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
    9 NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    10 NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
    11 NVRTC_ERROR_INTERNAL_ERROR;
    12 NVRTC_ERROR_TIME_FILE_WRITE_FAILED;
    13 NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED;
    14 NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED;
    15 NVRTC_ERROR_PCH_CREATE;
    16 NVRTC_ERROR_CANCELLED;
    17 NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED;
}

impl nvrtcResult {
    /// The result as what functions give: [`Self::NVRTC_SUCCESS`] is no error.
    ///
    /// # Errors
    ///
    /// The result itself, unless it is [`Self::NVRTC_SUCCESS`].
    pub fn result(self) -> Result<(), super::result::NvrtcError> {
        match self {
            Self::NVRTC_SUCCESS => Ok(()),
            failed => Err(super::result::NvrtcError(failed)),
        }
    }
}

/// True when the library that runs all of it can be loaded. NVRTC itself is looked for at the first
/// compilation.
///
/// # Safety
///
/// None is needed; it is unsafe as in cudarc.
#[must_use]
pub unsafe fn is_culib_present() -> bool {
    crate::sys::load_error().is_none()
}
