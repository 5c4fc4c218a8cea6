//! Types of other crates, each by an optional feature of its name.

#[cfg(feature = "bytemuck")]
pub(crate) mod bytemuck;
#[cfg(feature = "half")]
mod half;
#[cfg(feature = "ndarray")]
mod ndarray;
