//! Streams: ordered queues of work.

use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock, Weak};

use super::context::Shared;
use super::error::Cuda;
use super::sys::CUevent_flags;
use super::{CudaContext, CudaEvent, DriverError};
use crate::{CaptureStatus, Error, Result as NativeResult, Status, Stream};

/// The stream itself, which the objects for it share.
#[derive(Debug)]
pub(super) struct Queue {
    pub stream: Stream,
    // Read while host memory is copied, written while the stream may come to be captured: captured
    // copies would use the memory when it is no longer borrowed.
    gate: RwLock<()>,
}

impl Queue {
    pub fn new(stream: Stream) -> Self {
        Self { stream, gate: RwLock::new(()) }
    }

    /// Does something with memory of the host, which is an error while the stream is captured.
    pub fn with_host_memory<R>(
        &self,
        act: impl FnOnce(&Stream) -> NativeResult<R>,
    ) -> Result<R, DriverError> {
        let _gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        if self.stream.capture_status().cuda()? != CaptureStatus::NONE {
            let message = "memory of the host cannot be used while the stream is captured: it \
                           would be used again at each launch of the graph; copy before \
                           begin_capture(), or capture with kernelmill::Capture::upload()";
            return Err(DriverError::of_library(Error::new(
                Status::ERROR_CAPTURE_UNSUPPORTED,
                message,
            )));
        }
        act(&self.stream).cuda()
    }

    /// Does something after which the stream may be captured.
    pub fn with_capture<R>(
        &self,
        act: impl FnOnce(&Stream) -> NativeResult<R>,
    ) -> Result<R, DriverError> {
        let _gate = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        act(&self.stream).cuda()
    }
}

/// An ordered queue of work. Dropping the last object for it does not wait: what is queued goes on
/// to its end.
///
/// Uses of a slice on several streams are ordered by the library, so streams need events only for
/// what it does not see. See [the crate's page](crate#what-is-ordered).
#[derive(Debug)]
pub struct CudaStream {
    pub(super) queue: Arc<Queue>,
    pub(super) context: Arc<CudaContext>,
    me: Weak<Self>,
}

// The stream of this thread for each context that it asked for one.
type OfThread = Vec<(Weak<Shared>, Arc<Queue>)>;
thread_local! {
    static OF_THREAD: RefCell<OfThread> = const { RefCell::new(Vec::new()) };
}

impl CudaContext {
    /// The context's default stream, the same for every call until a reset; a stream like any other.
    #[must_use]
    pub fn default_stream(self: &Arc<Self>) -> Arc<CudaStream> {
        CudaStream::of(self.shared.default_queue(), self)
    }

    /// The calling thread's stream, the same for every call on this thread. The object stays that
    /// thread's stream where it is given to another thread. Where no stream can be made it is the
    /// default stream, and [`check_err`](Self::check_err) has the error.
    #[must_use]
    pub fn per_thread_stream(self: &Arc<Self>) -> Arc<CudaStream> {
        let of_thread = OF_THREAD.try_with(|streams| {
            let mut streams = streams.borrow_mut();
            streams.retain(|(context, _)| context.strong_count() > 0);
            let is_own = |(context, _): &&(Weak<Shared>, _)| {
                std::ptr::eq(context.as_ptr(), Arc::as_ptr(&self.shared))
            };
            if let Some((_, queue)) = streams.iter().find(is_own) {
                return Ok(Arc::clone(queue));
            }
            let queue = self.new_queue(0)?;
            streams.push((Arc::downgrade(&self.shared), Arc::clone(&queue)));
            Ok(queue)
        });
        let queue = match of_thread {
            Ok(Ok(queue)) => queue,
            Ok(Err(error)) => {
                self.record_err::<()>(Err(error));
                self.shared.default_queue()
            }
            Err(_) => self.shared.default_queue(), // the thread ends
        };
        CudaStream::of(queue, self)
    }

    /// A new stream, which runs beside all others.
    ///
    /// # Errors
    ///
    /// [`DriverError::ContextIsDestroyed`] when the device is lost.
    pub fn new_stream(self: &Arc<Self>) -> Result<Arc<CudaStream>, DriverError> {
        self.new_stream_with_priority(0)
    }

    /// A new stream; lower numbers go first.
    ///
    /// # Errors
    ///
    /// Those of [`new_stream`](Self::new_stream).
    pub fn new_stream_with_priority(
        self: &Arc<Self>,
        priority: i32,
    ) -> Result<Arc<CudaStream>, DriverError> {
        Ok(CudaStream::of(self.new_queue(priority)?, self))
    }

    fn new_queue(&self, priority: i32) -> Result<Arc<Queue>, DriverError> {
        let stream = self.shared.native.new_stream_with_priority(priority).cuda()?;
        self.shared.has_streams.store(true, Ordering::Release);
        Ok(Arc::new(Queue::new(stream)))
    }
}

impl CudaStream {
    pub(super) fn of(queue: Arc<Queue>, context: &Arc<CudaContext>) -> Arc<Self> {
        let context = Arc::clone(context);
        Arc::new_cyclic(|me| Self { queue, context, me: me.clone() })
    }

    /// This object, counted; another one for the same stream where it was taken out of its `Arc`.
    pub(super) fn counted(&self) -> Arc<Self> {
        self.me.upgrade().unwrap_or_else(|| Self::of(Arc::clone(&self.queue), &self.context))
    }

    #[inline]
    pub(crate) fn native(&self) -> &Stream {
        &self.queue.stream
    }

    /// The handle, for calls of [`sys`](crate::sys); it stays this object's. Callers of those answer
    /// for host memory that is used while the stream is captured.
    #[must_use]
    pub fn as_raw(&self) -> crate::sys::km_stream {
        self.native().as_raw()
    }

    /// The context of the stream.
    #[must_use]
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    /// A new stream that waits for the work queued here so far.
    ///
    /// # Errors
    ///
    /// [`DriverError::ContextIsDestroyed`] when the device is lost, the error of a kernel that
    /// failed.
    pub fn fork(&self) -> Result<Arc<Self>, DriverError> {
        let stream = self.context.new_stream()?;
        stream.join(self)?;
        Ok(stream)
    }

    /// Work queued from now on waits for the work that another stream has so far.
    ///
    /// # Errors
    ///
    /// Those of [`fork`](Self::fork).
    pub fn join(&self, other: &Self) -> Result<(), DriverError> {
        self.wait(&other.record_event(None)?)
    }

    /// Work queued from now on waits for the work that the event marks. It waits for copies from and
    /// to host memory that other threads make on this stream at that time.
    ///
    /// # Errors
    ///
    /// [`DriverError::StreamCaptureUnsupported`] when the event is of another capture than the
    /// stream, else those of [`fork`](Self::fork).
    pub fn wait(&self, event: &CudaEvent) -> Result<(), DriverError> {
        self.queue.with_capture(|stream| stream.wait(&event.native))
    }

    /// Marks the end of the work queued so far: `record_event(&event)` by an event that is there,
    /// `record_event(flags)`, with `None` or `Some(CUevent_flags::CU_EVENT_DEFAULT)`, by a new one,
    /// which it gives. `None`: it takes no time.
    ///
    /// ```
    /// use kernelmill::driver::{CudaContext, sys::CUevent_flags};
    /// # fn main() -> Result<(), kernelmill::driver::DriverError> {
    /// let context = CudaContext::new(0)?;
    /// let stream = context.default_stream();
    /// let start = stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT))?;
    /// let end = context.create_event()?;
    /// stream.record_event(&end)?;
    /// assert!(start.elapsed_ms(&end)? >= 0.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`DriverError::InvalidContext`] when the event is of another context, else those of
    /// [`fork`](Self::fork).
    pub fn record_event<E: EventArgument>(&self, event: E) -> Result<E::Given, DriverError> {
        event.record(self)
    }

    /// Waits until the work queued so far is done, and writes what its kernels printed.
    ///
    /// # Errors
    ///
    /// The error of a kernel that failed, which stays until [`CudaContext::reset`];
    /// [`DriverError::StreamCaptureUnsupported`] when the stream is captured.
    pub fn synchronize(&self) -> Result<(), DriverError> {
        self.context.check_err()?;
        self.native().synchronize().cuda()
    }
}

impl PartialEq for CudaStream {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.queue, &other.queue)
    }
}
impl Eq for CudaStream {}

/// The arguments of [`CudaStream::record_event`].
pub trait EventArgument {
    /// The result: an event if it makes one.
    type Given;

    #[doc(hidden)]
    fn record(self, stream: &CudaStream) -> Result<Self::Given, DriverError>;
}

impl EventArgument for &CudaEvent {
    type Given = ();

    fn record(self, stream: &CudaStream) -> Result<(), DriverError> {
        CudaEvent::record(self, stream)
    }
}

impl EventArgument for &Arc<CudaEvent> {
    type Given = ();

    fn record(self, stream: &CudaStream) -> Result<(), DriverError> {
        CudaEvent::record(self, stream)
    }
}

impl EventArgument for Option<CUevent_flags> {
    type Given = CudaEvent;

    fn record(self, stream: &CudaStream) -> Result<CudaEvent, DriverError> {
        let event = stream.context.new_event(self)?;
        event.record(stream)?;
        Ok(event)
    }
}
