//! Events: marks in streams.

use std::ptr::null_mut;
use std::time::Duration;

use crate::error::{check, check_done};
use crate::handle::owned_handle;
use crate::stream::nanoseconds;
use crate::{Context, Result, Status, Stream, sys};

owned_handle! {
    /// A point in a stream, made by [`Context::new_event`](crate::Context::new_event).
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// let stream = context.new_stream()?;
    /// let start = stream.record_event()?;
    /// let slice = stream.clone_htod(&[1u8; 1 << 20])?;
    /// let end = stream.record_event()?;
    /// end.synchronize()?;
    /// assert!(start.elapsed_ns(&end)?.is_some_and(|elapsed| elapsed > 0));
    /// # drop(slice);
    /// # Ok(())
    /// # }
    /// ```
    Event, km_event, km_event_destroy
}

impl Event {
    /// The context of the event. Never blocks. C: `km_event_context`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub fn context(&self) -> Result<Context> {
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_event_context(self.raw, &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        Ok(unsafe { Context::from_raw(raw) })
    }

    /// Marks the end of the work queued in the stream so far, in place of what it marked before.
    /// Never blocks. C: `km_event_record`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_MISMATCH`](crate::Status) when the stream is of another context,
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset, the sticky error
    /// of the context when a kernel failed.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_event_record(self.raw, stream.as_raw()) })
    }

    /// True when the work that the event marks is done; so it is for one never recorded. Never
    /// blocks. C: `km_event_query`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset, the sticky error
    /// of the context when a kernel failed.
    pub fn is_done(&self) -> Result<bool> {
        // SAFETY: handles are checked ids.
        check_done(unsafe { sys::km_event_query(self.raw) }, Status::NOT_READY)
    }

    /// Waits until the work that the event marks is done. C: `km_event_synchronize`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_PERMITTED`](crate::Status) inside a callback of this library,
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset, the sticky error
    /// of the context when a kernel failed.
    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_event_synchronize(self.raw) })
    }

    /// Waits for a limited time; true when the work was done before it passed. C:
    /// `km_event_synchronize_timeout`.
    ///
    /// # Errors
    ///
    /// Those of [`synchronize`](Self::synchronize).
    pub fn synchronize_timeout(&self, limit: Duration) -> Result<bool> {
        // SAFETY: handles are checked ids.
        let status = unsafe { sys::km_event_synchronize_timeout(self.raw, nanoseconds(limit)) };
        check_done(status, Status::TIMEOUT)
    }

    /// Nanoseconds from this event's mark to that of `end`, negative when that came first; none
    /// while one of the marks has not been reached. Never blocks. C: `km_event_elapsed_ns`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when one of the events was never recorded
    /// or takes no times, [`Status::ERROR_CONTEXT_MISMATCH`](crate::Status) when they belong to
    /// different contexts, [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was
    /// reset, the sticky error of the context when a kernel failed.
    pub fn elapsed_ns(&self, end: &Event) -> Result<Option<i64>> {
        let mut elapsed = 0;
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        let status = unsafe { sys::km_event_elapsed_ns(self.raw, end.raw, &mut elapsed) };
        Ok(check_done(status, Status::NOT_READY)?.then_some(elapsed))
    }
}
