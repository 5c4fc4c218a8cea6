//! The table of device attributes, and what "auto" makes of the backends.

use std::mem::size_of;

use crate::error::{array_text, check};
use crate::{Device, DeviceAttribute, Result, Status, sys};

/// A row of the table of device attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceAttributeInfo {
    /// The attribute, for [`Device::attribute`](crate::Device::attribute).
    pub attribute: DeviceAttribute,
    /// The number of the same `CUdevice_attribute` in CUDA; none where it has none.
    pub cuda_attribute: Option<i32>,
    /// The name as CUDA spells it, without `CU_DEVICE_ATTRIBUTE_`.
    pub name: String,
    /// "bytes", "threads", "kHz", "flag" ...
    pub unit: String,
}

/// All device attributes with name and unit: those of this library, then CUDA's by their number.
/// Never blocks. C: `km_device_attribute_count`, `km_device_attribute_info_get`.
///
/// ```
/// # fn main() -> kernelmill::Result<()> {
/// let device = kernelmill::Device::open("cpu")?;
/// for info in kernelmill::device_attributes()? {
///     if let Ok(value) = device.attribute(info.attribute) {
///         println!("{}: {value} {}", info.name, info.unit);
///     }
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// `ERROR_BACKEND_UNAVAILABLE` when the library cannot be loaded.
pub fn device_attributes() -> Result<Vec<DeviceAttributeInfo>> {
    let mut count = 0;
    // SAFETY: the out-parameter lives through the call.
    check(unsafe { sys::km_device_attribute_count(&mut count) })?;
    (0..count).map(attribute_info).collect()
}

fn attribute_info(index: u32) -> Result<DeviceAttributeInfo> {
    let mut info = sys::km_device_attribute_info {
        struct_size: size_of::<sys::km_device_attribute_info>() as u32,
        ..Default::default()
    };
    // SAFETY: the structure says its size.
    check(unsafe { sys::km_device_attribute_info_get(index, &mut info) })?;
    Ok(DeviceAttributeInfo {
        attribute: info.attribute,
        cuda_attribute: (info.cuda_attribute != 0).then_some(info.cuda_attribute),
        name: array_text(&info.name),
        unit: array_text(&info.unit),
    })
}

impl Device {
    /// The property that CUDA knows by this number (`CUdevice_attribute`), in CUDA's unit. Never
    /// blocks. C: `km_device_attribute_get`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// let device = kernelmill::Device::open("cpu")?;
    /// assert_eq!(device.cuda_attribute(10)?, 32); // CU_DEVICE_ATTRIBUTE_WARP_SIZE
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when CUDA has no such attribute; `ERROR_NOT_SUPPORTED` when the
    /// device cannot tell.
    pub fn cuda_attribute(&self, number: i32) -> Result<i64> {
        // CUDA's own begin with 1; a smaller number would be one of this library's.
        let number = if number > 0 { number } else { i32::MAX };
        self.attribute(sys::km_device_attribute(DeviceAttribute::CUDA.0.saturating_add(number)))
    }
}

/// The fate of a candidate of "auto".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AutoOutcome {
    /// An outcome that this crate does not know.
    Unknown,
    /// It is the one.
    Chosen,
    /// It does not work here.
    Refused,
    /// Another one was chosen before, or `KM_DEVICE` names another.
    NotTried,
}

/// A device that "auto" considers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AutoCandidate {
    /// "cuda:0"
    pub uri: String,
    /// Chosen, refused or not tried.
    pub outcome: AutoOutcome,
    /// The reason of a refusal, else [`Status::SUCCESS`].
    pub status: Status,
    /// The reason for the outcome, in words.
    pub reason: String,
}

/// The choice that [`Device::open`](crate::Device::open) makes for "auto" here and now, candidate by
/// candidate in the order in which they are tried; nothing stays open. Never blocks, but loading a
/// backend takes milliseconds.
/// C: `km_auto_candidate_count`, `km_auto_candidate_get`.
///
/// ```
/// # fn main() -> kernelmill::Result<()> {
/// for candidate in kernelmill::auto_candidates()? {
///     println!("{}: {:?}, {}", candidate.uri, candidate.outcome, candidate.reason);
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// `ERROR_BACKEND_UNAVAILABLE` when the library cannot be loaded.
pub fn auto_candidates() -> Result<Vec<AutoCandidate>> {
    let mut count = 0;
    // SAFETY: the out-parameter lives through the call.
    check(unsafe { sys::km_auto_candidate_count(&mut count) })?;
    (0..count).map(auto_candidate).collect()
}

fn auto_candidate(index: u32) -> Result<AutoCandidate> {
    let mut candidate = sys::km_auto_candidate {
        struct_size: size_of::<sys::km_auto_candidate>() as u32,
        ..Default::default()
    };
    // SAFETY: the structure says its size.
    check(unsafe { sys::km_auto_candidate_get(index, &mut candidate) })?;
    Ok(AutoCandidate {
        uri: array_text(&candidate.uri),
        outcome: match candidate.outcome {
            sys::km_auto_outcome::AUTO_CHOSEN => AutoOutcome::Chosen,
            sys::km_auto_outcome::AUTO_REFUSED => AutoOutcome::Refused,
            sys::km_auto_outcome::AUTO_NOT_TRIED => AutoOutcome::NotTried,
            _ => AutoOutcome::Unknown,
        },
        status: candidate.status,
        reason: array_text(&candidate.reason),
    })
}
