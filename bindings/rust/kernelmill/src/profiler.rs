//! Profiles: the work that ran, and its times.

use std::mem::size_of;
use std::path::Path;

use crate::error::{array_text, c_string, check, path_text, read_text};
use crate::{Context, Function, Result, sys};

/// A kind of work that a profile tells apart, [`km_profile_kind`](sys::km_profile_kind):
/// `ProfileKind::KERNEL`.
pub use sys::km_profile_kind as ProfileKind;

/// An event of warps that counters count, [`km_counter_kind`](sys::km_counter_kind):
/// `CounterKind::GLOBAL_LOAD`.
pub use sys::km_counter_kind as CounterKind;

/// The profiler of a context, which it borrows: [`Context::profiler`].
///
/// ```
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// use kernelmill::ProfileKind;
/// let stream = context.default_stream()?;
/// let profiler = context.profiler();
/// profiler.start()?;
/// {
///     let _range = profiler.range("prepare")?;
///     stream.clone_htod(&[1.0f32; 1000])?;
/// }
/// context.synchronize()?;
/// profiler.stop()?;
/// let uploads = profiler.rows()?.into_iter().find(|row| row.kind == ProfileKind::UPLOAD);
/// assert_eq!(uploads.map(|row| row.size_bytes), Some(4000));
/// println!("{}", profiler.summary()?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Profiler<'a> {
    context: &'a Context,
}

impl Context {
    /// The profiler of this context: recording, ranges, results.
    pub fn profiler(&self) -> Profiler<'_> {
        Profiler { context: self }
    }
}

impl<'a> Profiler<'a> {
    /// Records from now on what the context does: kernels, copies, fills and callbacks with their
    /// times on the device, the host's ranges and waits, and the memory in use. Starting twice is
    /// fine. Never blocks. C: `km_profiler_start`.
    ///
    /// # Errors
    ///
    /// `ERROR_NOT_SUPPORTED` when the backend takes no times.
    pub fn start(&self) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_profiler_start(self.raw()) })
    }

    /// Stops recording; what was recorded stays. Never blocks. C: `km_profiler_stop`.
    pub fn stop(&self) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_profiler_stop(self.raw()) })
    }

    /// Sets whether the warps of kernels are counted from the next launch on; at first it is what
    /// the environment variable `KM_COUNTERS` says. Counted kernels have code of their own, which
    /// takes longer. Never blocks. C: `km_profiler_set_counters`.
    ///
    /// # Errors
    ///
    /// `ERROR_NOT_SUPPORTED` when they are to be counted on a device without counters: only CPU
    /// devices have them.
    pub fn set_counters(&self, enabled: bool) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_profiler_set_counters(self.raw(), enabled.into()) })
    }

    /// Forgets what was recorded. Never blocks. C: `km_profiler_clear`.
    pub fn clear(&self) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_profiler_clear(self.raw()) })
    }

    /// Begins a range of the host that ends when the guard is dropped, in any order and on any
    /// thread; it counts for the thread where it ends. Never blocks.
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when the name has a zero byte.
    pub fn range(&self, name: &str) -> Result<ProfileRange<'a>> {
        Ok(ProfileRange { id: self.start_range(name)?, profiler: *self })
    }

    /// Does work of the host as a range of this thread, and gives what it gives. Ranges nest.
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when the name has a zero byte; `ERROR_NOT_FOUND` when the work ended
    /// the range by itself, by [`pop_range`](Self::pop_range).
    pub fn in_range<R>(&self, name: &str, work: impl FnOnce() -> R) -> Result<R> {
        /// Ends the range also when the work panics.
        struct Pop<'a>(Profiler<'a>);
        impl Drop for Pop<'_> {
            fn drop(&mut self) {
                let _ = self.0.pop_range();
            }
        }
        self.push_range(name)?;
        let pop = Pop(*self);
        let result = work();
        std::mem::forget(pop);
        self.pop_range()?;
        Ok(result)
    }

    /// Begins a range of this thread, up to [`pop_range`](Self::pop_range); they nest. Never blocks.
    /// C: `km_profiler_range_push`.
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when the name has a zero byte.
    pub fn push_range(&self, name: &str) -> Result<()> {
        let name = c_string(name, "name")?;
        // SAFETY: handles are checked ids, and the text lives through the call.
        check(unsafe { sys::km_profiler_range_push(self.raw(), name.as_ptr()) })
    }

    /// Ends the range of this thread that began last. Never blocks. C: `km_profiler_range_pop`.
    ///
    /// # Errors
    ///
    /// `ERROR_NOT_FOUND` when this thread has no open range of the context.
    pub fn pop_range(&self) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_profiler_range_pop(self.raw()) })
    }

    /// Begins a range that any thread may end, by the number that it gives. Never blocks.
    /// C: `km_profiler_range_start`.
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when the name has a zero byte.
    pub fn start_range(&self, name: &str) -> Result<u64> {
        let name = c_string(name, "name")?;
        let mut range = 0;
        // SAFETY: handles are checked ids, and the arguments live through the call.
        check(unsafe { sys::km_profiler_range_start(self.raw(), name.as_ptr(), &mut range) })?;
        Ok(range)
    }

    /// Ends the range of this number; it counts for this thread. Never blocks.
    /// C: `km_profiler_range_end`.
    ///
    /// # Errors
    ///
    /// `ERROR_NOT_FOUND` when there is no open range of this number.
    pub fn end_range(&self, range: u64) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_profiler_range_end(self.raw(), range) })
    }

    /// The recorded work that is over by now, a row for all of one kind and name: that of the
    /// device by falling total time, then ranges and waits of the host. Synchronise first to have
    /// all. Never blocks. C: `km_profiler_row_count`, `km_profiler_row_get`.
    pub fn rows(&self) -> Result<Vec<ProfileRow>> {
        let mut rows = Vec::new();
        // There may be fewer than there were when another thread clears them.
        while (rows.len() as u64) < u64::from(self.row_count()?) {
            match self.row(rows.len() as u32) {
                Ok(row) => rows.push(row),
                Err(_) if u64::from(self.row_count()?) <= rows.len() as u64 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(rows)
    }

    fn row_count(&self) -> Result<u32> {
        let mut count = 0;
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_profiler_row_count(self.raw(), &mut count) })?;
        Ok(count)
    }

    fn row(&self, index: u32) -> Result<ProfileRow> {
        let mut row = sys::km_profile_row {
            struct_size: size_of::<sys::km_profile_row>() as u32,
            ..Default::default()
        };
        // SAFETY: the structure says its size.
        check(unsafe { sys::km_profiler_row_get(self.raw(), index, &mut row) })?;
        Ok(ProfileRow::from(&row))
    }

    /// The counters of the row of this index in [`rows`](Self::rows): the totals of the kernel, one
    /// for each kind that occurs, then those of the lines of its source. Empty when its warps were
    /// not counted ([`set_counters`](Self::set_counters)). Never blocks.
    /// C: `km_profiler_counter_count`, `km_profiler_counter_get`.
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when there is no such row.
    pub fn counters(&self, row: u32) -> Result<Vec<ProfileCounter>> {
        let mut count = 0;
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_profiler_counter_count(self.raw(), row, &mut count) })?;
        (0..count).map(|index| self.counter(row, index)).collect()
    }

    fn counter(&self, row: u32, index: u32) -> Result<ProfileCounter> {
        let mut counter = sys::km_profile_counter {
            struct_size: size_of::<sys::km_profile_counter>() as u32,
            ..Default::default()
        };
        // SAFETY: the structure says its size.
        check(unsafe { sys::km_profiler_counter_get(self.raw(), row, index, &mut counter) })?;
        Ok(ProfileCounter::from(&counter))
    }

    /// The rows as a table in text. Never blocks. C: `km_profiler_summary`.
    pub fn summary(&self) -> Result<String> {
        read_text(|buffer, capacity, size| {
            // SAFETY: `read_text` gives room for `capacity` bytes.
            unsafe { sys::km_profiler_summary(self.raw(), buffer, capacity, size) }
        })
    }

    /// Writes what was recorded to a file, in place of what it holds: a trace in Chrome's format,
    /// which ui.perfetto.dev and `chrome://tracing` open, or, when the name ends with .html, a
    /// report that needs nothing else. Blocks while the file is written. C: `km_profiler_write`.
    ///
    /// # Errors
    ///
    /// `ERROR_INVALID_ARGUMENT` when the path is empty or no UTF-8; `ERROR_IO` when the file cannot
    /// be written, with the reason.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path_text(path.as_ref())?;
        // SAFETY: handles are checked ids, and the text lives through the call.
        check(unsafe { sys::km_profiler_write(self.raw(), path.as_ptr()) })
    }

    fn raw(&self) -> sys::km_context {
        self.context.as_raw()
    }
}

/// A range of the host, which ends when this is dropped: [`Profiler::range`].
#[derive(Debug)]
#[must_use = "the range ends when this is dropped"]
pub struct ProfileRange<'a> {
    id: u64,
    profiler: Profiler<'a>,
}

impl ProfileRange<'_> {
    /// The number of the range, by which [`Profiler::end_range`] may end it before.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Ends the range, as dropping it does, and says whether it was open.
    ///
    /// # Errors
    ///
    /// `ERROR_NOT_FOUND` when it has been ended by its number.
    pub fn end(self) -> Result<()> {
        let (id, profiler) = (self.id, self.profiler);
        std::mem::forget(self); // it has nothing to give back but the range
        profiler.end_range(id)
    }
}

impl Drop for ProfileRange<'_> {
    fn drop(&mut self) {
        let _ = self.profiler.end_range(self.id);
    }
}

/// All recorded work of one kind and name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfileRow {
    /// The kind of work.
    pub kind: ProfileKind,
    /// The name of the kernel or range, cut where longer than 127 bytes.
    pub name: String,
    /// The number of times.
    pub count: u64,
    /// The time that they took together, in nanoseconds.
    pub total_ns: u64,
    /// The time of the shortest.
    pub min_ns: u64,
    /// The time of the longest.
    pub max_ns: u64,
    /// Bytes that copies and fills moved, or as [`Function::set_work`] says.
    pub size_bytes: u64,
    /// Operations, as [`Function::set_work`] says.
    pub operations: u64,
    /// Bytes per second while the work ran.
    pub bytes_per_second: u64,
    /// Operations per second while the work ran.
    pub operations_per_second: u64,
    /// The share of the device's threads that took part, by the mean, in percent.
    pub occupancy_percent: u32,
}

impl From<&sys::km_profile_row> for ProfileRow {
    fn from(row: &sys::km_profile_row) -> Self {
        Self {
            kind: row.kind,
            name: array_text(&row.name),
            count: row.count,
            total_ns: row.total_ns,
            min_ns: row.min_ns,
            max_ns: row.max_ns,
            size_bytes: row.size_bytes,
            operations: row.operations,
            bytes_per_second: row.bytes_per_second,
            operations_per_second: row.operations_per_second,
            occupancy_percent: row.occupancy_percent,
        }
    }
}

/// The events of one kind in all of a kernel, or at one line of its source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfileCounter {
    /// The kind of event.
    pub kind: CounterKind,
    /// Executions by warps with at least one active thread.
    pub requests: u64,
    /// Active threads of all requests together.
    pub threads: u64,
    /// Sectors of global memory, wavefronts of shared memory, or divergent branches.
    pub taken: u64,
    /// Sectors or wavefronts that the same data would take in the best order.
    pub ideal: u64,
    /// The file of the source; empty when it is unknown, and for totals.
    pub source: String,
    /// The line of the source; 0 when it is unknown.
    pub line: u64,
    /// True for the total of the kernel.
    pub is_total: bool,
}

impl From<&sys::km_profile_counter> for ProfileCounter {
    fn from(counter: &sys::km_profile_counter) -> Self {
        Self {
            kind: counter.kind,
            requests: counter.requests,
            threads: counter.threads,
            taken: counter.taken,
            ideal: counter.ideal,
            source: array_text(&counter.source),
            line: counter.line,
            is_total: counter.is_total != 0,
        }
    }
}

impl Function {
    /// Says what each launch of the kernel counts as in profiles from now on: so many operations and
    /// so many bytes of memory traffic. Throughputs follow from it. Never blocks.
    /// C: `km_profiler_set_work`.
    ///
    /// # Errors
    ///
    /// `ERROR_CONTEXT_LOST` when the context was reset after the function was loaded.
    pub fn set_work(&self, operations: u64, size_bytes: u64) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_profiler_set_work(self.as_raw(), operations, size_bytes) })
    }
}
