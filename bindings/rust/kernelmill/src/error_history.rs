//! Failures: those of a context, and the last one of a thread.

use std::mem::size_of;
use std::time::SystemTime;

use crate::error::{array_text, check};
use crate::list::{read_list, time_at};
use crate::{Category, Context, Error, Result, Status, sys};

/// Failures of one call of a context, for one reason, one right after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorRecord {
    /// The number of the record, which rises.
    pub id: u64,
    /// The status that the calls returned.
    pub status: Status,
    /// The kind of failure.
    pub category: Category,
    /// The number of times that it occurred.
    pub count: u64,
    /// The time of the first.
    pub first_time: SystemTime,
    /// The time of the last.
    pub last_time: SystemTime,
    /// The backend's own code, 0 where there is none.
    pub native_code: i64,
    /// The C function that failed: `"km_launch_submit"`.
    pub call: String,
    /// The text of the failure, cut where longer than 1023 bytes.
    pub message: String,
}

/// A status and the number of times that it occurred in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorCount {
    /// The status.
    pub status: Status,
    /// The kind of failure.
    pub category: Category,
    /// The number of times that it occurred.
    pub count: u64,
    /// The time of the last.
    pub last_time: SystemTime,
}

impl Context {
    /// The latest failures of calls on the context and its children, the newest first, at most 64
    /// records. A failure of the same call for the same reason as the one before is counted in that
    /// one's record. A reset keeps them. Never blocks. C: `km_context_error_history`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// for _ in 0..3 {
    ///     assert!(context.load_ptx("no PTX").is_err());
    /// }
    /// let records = context.error_history()?;
    /// assert_eq!((records[0].call.as_str(), records[0].count), ("km_module_load_ptx", 3));
    /// # Ok(())
    /// # }
    /// ```
    pub fn error_history(&self) -> Result<Vec<ErrorRecord>> {
        let blank = sys::km_error_record {
            struct_size: size_of::<sys::km_error_record>() as u32,
            ..Default::default()
        };
        let list = read_list(blank, |capacity, records, count| {
            // SAFETY: `read_list` gives room for `capacity` structures, which say their size.
            unsafe { sys::km_context_error_history(self.as_raw(), capacity, records, count) }
        })?;
        let record = |record: &sys::km_error_record| ErrorRecord {
            id: record.id,
            status: record.status,
            category: record.category,
            count: record.count,
            first_time: time_at(record.time_ns),
            last_time: time_at(record.last_time_ns),
            native_code: record.native_code,
            call: array_text(&record.call),
            message: array_text(&record.message),
        };
        Ok(list.iter().map(record).collect())
    }

    /// The statuses that occurred and how often, in the order of their values; all failures count,
    /// also those that [`error_history`](Self::error_history) has forgotten. Never blocks.
    /// C: `km_context_error_counts`.
    pub fn error_counts(&self) -> Result<Vec<ErrorCount>> {
        let list = read_list(sys::km_error_count::default(), |capacity, counts, count| {
            // SAFETY: `read_list` gives room for `capacity` structures.
            unsafe { sys::km_context_error_counts(self.as_raw(), capacity, counts, count) }
        })?;
        let entry = |entry: &sys::km_error_count| ErrorCount {
            status: entry.status,
            category: entry.category,
            count: entry.count,
            last_time: time_at(entry.last_time_ns),
        };
        Ok(list.iter().map(entry).collect())
    }

    /// Forgets the history of failures and their counts; the context's error stays. Never blocks.
    /// C: `km_context_clear_error_history`.
    pub fn clear_error_history(&self) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_context_clear_error_history(self.as_raw()) })
    }
}

/// The last failure of a call that this thread made, by this crate or by others that use the same
/// library; none where there is none. It stays until [`take_last_error`]. Never blocks.
/// C: `km_last_error_status`, with the text and the code.
///
/// # Errors
///
/// `ERROR_BACKEND_UNAVAILABLE` when the library cannot be loaded.
pub fn last_error() -> Result<Option<Error>> {
    let mut status = Status::SUCCESS;
    // SAFETY: the out-parameter lives through the call.
    check(unsafe { sys::km_last_error_status(&mut status) })?;
    Ok((status != Status::SUCCESS).then(|| Error::last(status)))
}

/// Gives [`last_error`] and forgets it. The error of a context stays: see
/// [`Context::take_error`]. Never blocks. C: `km_last_error_take`.
///
/// # Errors
///
/// `ERROR_BACKEND_UNAVAILABLE` when the library cannot be loaded.
pub fn take_last_error() -> Result<Option<Error>> {
    let error = last_error()?;
    let mut status = Status::SUCCESS;
    // SAFETY: the out-parameter lives through the call.
    check(unsafe { sys::km_last_error_take(&mut status) })?;
    Ok(error)
}
