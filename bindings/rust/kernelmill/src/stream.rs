//! Streams: ordered queues of work.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::time::Duration;

use crate::error::{check, check_done};
use crate::handle::owned_handle;
use crate::{Context, Error, Event, Function, LaunchBuilder, Result, Status, sys};

owned_handle! {
    /// An ordered queue of work that runs concurrently with other streams. Dropping it does not
    /// wait: what is queued goes on to its end.
    Stream, km_stream, km_stream_destroy
}

impl Stream {
    /// The context of the stream. Never blocks. C: `km_stream_context`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn context(&self) -> Result<Context> {
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_stream_context(self.raw, &mut raw) })?;
        // SAFETY: the call gave a handle of its own.
        Ok(unsafe { Context::from_raw(raw) })
    }

    /// The priority that the stream was created with. Never blocks. C: `km_stream_priority`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn priority(&self) -> Result<i32> {
        let mut priority = 0;
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_stream_priority(self.raw, &mut priority) })?;
        Ok(priority)
    }

    /// Waits until the work queued so far is done, and writes what its kernels printed. C:
    /// `km_stream_synchronize`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_PERMITTED`](crate::Status) inside a callback of this library,
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset, the sticky error
    /// of the context when a kernel failed.
    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_stream_synchronize(self.raw) })
    }

    /// Waits for a limited time; true when the work was done before it passed. C:
    /// `km_stream_synchronize_timeout`.
    ///
    /// # Errors
    ///
    /// Those of [`synchronize`](Self::synchronize).
    pub fn synchronize_timeout(&self, limit: Duration) -> Result<bool> {
        // SAFETY: handles are checked ids.
        let status = unsafe { sys::km_stream_synchronize_timeout(self.raw, nanoseconds(limit)) };
        check_done(status, Status::TIMEOUT)
    }

    /// True when the work queued so far is done. Never blocks. C: `km_stream_query`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset, the sticky error
    /// of the context when a kernel failed.
    #[inline]
    pub fn is_done(&self) -> Result<bool> {
        // SAFETY: handles are checked ids.
        check_done(unsafe { sys::km_stream_query(self.raw) }, Status::NOT_READY)
    }

    /// Work queued from now on waits for the work that the event marks. Never blocks. C:
    /// `km_stream_wait_event`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_MISMATCH`](crate::Status) when the two belong to devices of
    /// different backends, [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was
    /// reset, the sticky error of the context when a kernel failed.
    pub fn wait(&self, event: &Event) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_stream_wait_event(self.raw, event.as_raw()) })
    }

    /// A new event that marks the end of the work queued so far. Never blocks. C:
    /// `km_event_record`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset, the sticky error
    /// of the context when a kernel failed.
    pub fn record_event(&self) -> Result<Event> {
        let event = self.context()?.new_event()?;
        event.record(self)?;
        Ok(event)
    }

    /// Has `callback` called once all work queued so far is done, on a thread of the library, with
    /// the error of the context if there is one. It may not make calls that wait. Never blocks. C:
    /// `km_stream_add_callback`.
    ///
    /// Work queued later waits for it, and the library has one thread for the callbacks of all
    /// streams: while one runs, the others and all futures of this crate are not called, so it
    /// should pass on what takes long.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// let stream = context.new_stream()?;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// stream.add_callback(move |result| sender.send(result.is_ok()).unwrap())?;
    /// assert!(receiver.recv().unwrap());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset, the sticky error
    /// of the context when a kernel failed.
    pub fn add_callback<F>(&self, callback: F) -> Result<()>
    where
        F: FnOnce(Result<()>) + Send + 'static,
    {
        let data = Box::into_raw(Box::new(callback));
        // SAFETY: the library calls `run_callback::<F>` exactly once with this box if the call
        // succeeds, else never.
        let status = unsafe {
            sys::km_stream_add_callback(self.raw, Some(run_callback::<F>), data.cast::<c_void>())
        };
        check(status).inspect_err(|_| {
            // SAFETY: the call failed, so the box is this function's still.
            drop(unsafe { Box::from_raw(data) });
        })
    }

    /// Begins the launch of a kernel in this stream. See [`LaunchBuilder`].
    #[inline]
    pub fn launch_builder<'a>(&'a self, function: &'a Function) -> LaunchBuilder<'a> {
        LaunchBuilder::new(self, function)
    }
}

unsafe extern "C" fn run_callback<F: FnOnce(Result<()>)>(data: *mut c_void, status: Status) {
    // SAFETY: the box that add_callback() gave, once.
    let callback = unsafe { Box::from_raw(data.cast::<F>()) };
    let result = match status {
        Status::SUCCESS => Ok(()),
        failed => Err(Error::from_status(failed)),
    };
    // A panic has been reported by its hook, and must not unwind into the library.
    let _ = catch_unwind(AssertUnwindSafe(|| callback(result)));
}

/// A time limit as the library takes it; what does not fit is none.
pub(crate) fn nanoseconds(limit: Duration) -> u64 {
    u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX)
}
