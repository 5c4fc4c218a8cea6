//! Texts of statuses, for errors of this crate while the library, which has them too, is missing.

use crate::{Category, Status};

/// Name, kind and texts of one status.
pub(crate) struct Texts {
    pub status: Status,
    pub name: &'static str,
    pub category: Category,
    pub meaning: &'static str,
    pub recovery: &'static str,
}

include!("generated/statuses.rs");

/// The texts of a status, of all that this version of the crate knows.
pub(crate) fn texts_of(status: Status) -> Option<&'static Texts> {
    STATUSES.iter().find(|texts| texts.status == status)
}
