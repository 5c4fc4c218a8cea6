//! The names of Rust's types in CUDA C++, for sources that a program puts together.
//!
//! ```
//! use kernelmill::types::CudaTypeName;
//! fn source<T: CudaTypeName>() -> String {
//!     let name = T::NAME;
//!     format!("extern \"C\" __global__ void twice({name}* x) {{ x[threadIdx.x] *= 2; }}")
//! }
//! assert!(source::<f32>().contains("twice(float* x)"));
//! ```

/// A type that CUDA C++ has as well.
pub trait CudaTypeName {
    /// Its name there.
    const NAME: &'static str;
}

macro_rules! names {
    ($($kind:ty: $name:literal;)*) => {
        $(
            impl CudaTypeName for $kind {
                const NAME: &'static str = $name;
            }
        )*
    };
}
names! {
    bool: "bool";
    i8: "char";
    i16: "short";
    i32: "int";
    i64: "long";
    isize: "intptr_t";
    u8: "unsigned char";
    u16: "unsigned short";
    u32: "unsigned int";
    u64: "unsigned long";
    usize: "size_t";
    f32: "float";
    f64: "double";
}
#[cfg(feature = "half")]
names! {
    half::f16: "__half";
    half::bf16: "__nv_bfloat16";
}
