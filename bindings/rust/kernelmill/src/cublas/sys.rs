//! The types of cuBLAS that configurations and errors are made of.
#![allow(non_camel_case_types)]

/// The form that a product gives a matrix before it is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum cublasOperation_t {
    /// Nothing.
    CUBLAS_OP_N = 0,
    /// Its transpose.
    CUBLAS_OP_T = 1,
    /// The complex conjugate of its transpose.
    CUBLAS_OP_C = 2,
}

/// A result of cuBLAS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum cublasStatus_t {
    /// It worked.
    CUBLAS_STATUS_SUCCESS = 0,
    /// The library that runs the calls is missing.
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    /// There is no memory.
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    /// An argument is wrong.
    CUBLAS_STATUS_INVALID_VALUE = 7,
    /// The architecture has no such thing.
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    /// Memory could not be reached.
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    /// A kernel failed.
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    /// The library failed.
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    /// There is no such call here.
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    /// A licence is missing.
    CUBLAS_STATUS_LICENSE_ERROR = 16,
}

/// The place of results that are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum cublasPointerMode_t {
    /// In memory of the host.
    CUBLAS_POINTER_MODE_HOST = 0,
    /// In memory of the device.
    CUBLAS_POINTER_MODE_DEVICE = 1,
}
