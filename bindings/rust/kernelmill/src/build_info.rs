//! The library in use: version and build.

use std::mem::size_of;

use crate::error::{array_text, check};
use crate::{Result, sys};

/// Version and build of the library in use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuildInfo {
    /// Major, minor and patch number.
    pub version: (u32, u32, u32),
    /// The id of the build, which library and plugins share.
    pub build_id: String,
    /// The compiler that made it.
    pub compiler: String,
}

/// Version, build id and compiler of the library in use. Never blocks. C: `km_build_info_get`.
///
/// ```
/// # fn main() -> kernelmill::Result<()> {
/// let info = kernelmill::build_info()?;
/// println!("{:?}, build {}, by {}", info.version, info.build_id, info.compiler);
/// # assert_eq!(info.version, kernelmill::version()?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// `ERROR_BACKEND_UNAVAILABLE` when the library cannot be loaded.
pub fn build_info() -> Result<BuildInfo> {
    let mut info = sys::km_build_info {
        struct_size: size_of::<sys::km_build_info>() as u32,
        ..Default::default()
    };
    // SAFETY: the structure says its size.
    check(unsafe { sys::km_build_info_get(&mut info) })?;
    Ok(BuildInfo {
        version: (info.version_major, info.version_minor, info.version_patch),
        build_id: array_text(&info.build_id),
        compiler: array_text(&info.compiler),
    })
}
