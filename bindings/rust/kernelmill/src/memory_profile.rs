//! Profiles of memory: the part of a device's memory that a context has in use.

use std::mem::size_of;
use std::time::Duration;

use crate::error::check;
use crate::list::read_list;
use crate::stream::nanoseconds;
use crate::{Context, Result, sys};

/// The findings of a profile of memory: [`Context::memory_profile`]. The memory is that of slices and
/// what pools have given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryProfile {
    /// True while it samples.
    pub is_running: bool,
    /// The time between samples, in nanoseconds.
    pub interval_ns: u64,
    /// The number of samples.
    pub sample_count: u64,
    /// Memory in use now; known also without a profile.
    pub used_bytes: u64,
    /// The most that was in use: exact, not sampled.
    pub peak_bytes: u64,
    /// The least that was in use: exact, not sampled.
    pub minimum_bytes: u64,
    /// The mean of the samples.
    pub mean_bytes: u64,
    /// Allocations while it ran.
    pub allocation_count: u64,
    /// Allocations that were freed while it ran.
    pub free_count: u64,
}

/// One sample of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemorySample {
    /// Nanoseconds since the profile began.
    pub time_ns: u64,
    /// Memory in use then.
    pub used_bytes: u64,
}

impl Context {
    /// Samples how much device memory the context has in use, on a thread of the library, until it
    /// is stopped. What an earlier profile found is forgotten. Never blocks.
    /// C: `km_context_start_memory_profile`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// context.start_memory_profile(std::time::Duration::from_millis(1))?;
    /// drop(context.alloc_zeros::<u8>(1000)?);
    /// context.stop_memory_profile()?;
    /// assert!(context.memory_profile()?.peak_bytes >= 1000);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when the interval is 0; `ERROR_NOT_PERMITTED` when a profile of the
    /// context runs already.
    pub fn start_memory_profile(&self, interval: Duration) -> Result<()> {
        let interval = nanoseconds(interval);
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_context_start_memory_profile(self.as_raw(), interval) })
    }

    /// Ends the profile and keeps its findings; fine when none runs. Blocks until the sampling
    /// thread has ended, some microseconds. C: `km_context_stop_memory_profile`.
    pub fn stop_memory_profile(&self) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_context_stop_memory_profile(self.as_raw()) })
    }

    /// The findings of the profile that runs, or ran last. Never blocks.
    /// C: `km_context_memory_profile`.
    pub fn memory_profile(&self) -> Result<MemoryProfile> {
        let mut profile = sys::km_memory_profile {
            struct_size: size_of::<sys::km_memory_profile>() as u32,
            ..Default::default()
        };
        // SAFETY: the structure says its size.
        check(unsafe { sys::km_context_memory_profile(self.as_raw(), &mut profile) })?;
        Ok(MemoryProfile {
            is_running: profile.is_running != 0,
            interval_ns: profile.interval_ns,
            sample_count: profile.sample_count,
            used_bytes: profile.used_bytes,
            peak_bytes: profile.peak_bytes,
            minimum_bytes: profile.minimum_bytes,
            mean_bytes: profile.mean_bytes,
            allocation_count: profile.allocation_count,
            free_count: profile.free_count,
        })
    }

    /// The samples, in the order of time. At most 65536 are kept: then every second one is dropped
    /// and the distance doubled. Never blocks. C: `km_context_memory_samples`.
    pub fn memory_samples(&self) -> Result<Vec<MemorySample>> {
        let list = read_list(sys::km_memory_sample::default(), |capacity, samples, count| {
            // SAFETY: `read_list` gives room for `capacity` structures.
            unsafe { sys::km_context_memory_samples(self.as_raw(), capacity, samples, count) }
        })?;
        let sample = |sample: &sys::km_memory_sample| MemorySample {
            time_ns: sample.time_ns,
            used_bytes: sample.used_bytes,
        };
        Ok(list.iter().map(sample).collect())
    }
}
