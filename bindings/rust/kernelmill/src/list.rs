//! Lists that the library copies out.

use std::ptr::null_mut;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::check;
use crate::{Error, Result, Status};

/// All entries of a list: `get` is a call with capacity, entries and their count. Each entry is
/// `blank` before it is filled, with its size where it says one.
pub(crate) fn read_list<T: Copy>(
    blank: T,
    mut get: impl FnMut(u64, *mut T, *mut u64) -> Status,
) -> Result<Vec<T>> {
    let mut count = 0;
    check(get(0, null_mut(), &mut count))?;
    let mut list = Vec::new();
    while count as usize > list.len() {
        let len = count as usize;
        list.try_reserve_exact(len - list.len()).map_err(|_| no_memory(len))?;
        list.resize(len, blank);
        check(get(len as u64, list.as_mut_ptr(), &mut count))?;
    }
    list.truncate(count as usize);
    Ok(list)
}

fn no_memory(len: usize) -> Error {
    let message = format!("there is no memory for a list of {len} entries");
    Error::new(Status::ERROR_OUT_OF_HOST_MEMORY, message)
}

/// The time of so many nanoseconds since the Unix epoch.
pub(crate) fn time_at(since_epoch_ns: i64) -> SystemTime {
    let distance = Duration::from_nanos(since_epoch_ns.unsigned_abs());
    let time = match since_epoch_ns {
        0.. => UNIX_EPOCH.checked_add(distance),
        _ => UNIX_EPOCH.checked_sub(distance),
    };
    time.unwrap_or(UNIX_EPOCH)
}
