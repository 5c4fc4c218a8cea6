//! Captures: what is queued in a stream becomes a graph.

use std::ptr::null_mut;
use std::sync::{Arc, Mutex};

use super::keep::{CAPTURED, Keep, Resource, flatten, lock};
use super::nodes::host_work;
use super::{Graph, GraphBuffer, GraphExec};
use crate::blas::{Blas, Layout};
use crate::copy::same_len;
use crate::error::check;
use crate::{
    Context, DeviceSlice, DeviceSliceMut, Error, Event, Extent, Fill, Function, LaunchBuilder, Pod,
    Result, Rows, Status, Stream, StreamValue, WaitCondition, sys,
};

/// The state of a stream as to captures, [`km_capture_status`](sys::km_capture_status):
/// `CaptureStatus::ACTIVE`.
pub use sys::km_capture_status as CaptureStatus;

/// A capture under way, made by [`Context::begin_capture`]: a stream of its own, in which what is
/// queued becomes nodes of a graph and does not run. [`fork`](Self::fork) gives branches that run
/// beside each other.
///
/// ```
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// let (mut a, mut b) = (context.alloc_zeros::<u32>(4)?, context.alloc_zeros::<u32>(4)?);
/// let capture = context.begin_capture()?;
/// capture.fill(&mut a, 7)?;
/// capture.memcpy_dtod(&a, &mut b)?;
/// let graph = capture.end()?;
/// let exec = graph.instantiate()?;
/// let stream = context.default_stream()?;
/// exec.launch(&stream)?;
/// assert_eq!(stream.clone_dtoh(&b)?, [7; 4]);
/// # Ok(())
/// # }
/// ```
///
/// Memory of the host that is only borrowed cannot be captured, because it is used later; that is
/// what [`GraphBuffer`] is for:
///
/// ```compile_fail,E0599
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// let mut slice = context.alloc_zeros::<u32>(4)?;
/// let capture = context.begin_capture()?;
/// capture.memcpy_htod(&[1, 2, 3, 4], &mut slice)?; // error: there is no such call
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Capture {
    stream: Stream, // never given away, so nothing else is queued there and nothing else joins
    shared: Arc<Mutex<Shared>>,
    is_origin: bool,
}

/// State that the branches of a capture have in common.
#[derive(Default)]
struct Shared {
    has_ended: bool, // their streams are as all others then
    resources: Vec<Resource>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Shared").field("has_ended", &self.has_ended).finish_non_exhaustive()
    }
}

/// A mark in a captured stream: [`Capture::record_event`].
#[derive(Debug)]
pub struct CaptureEvent(Event);

impl Context {
    /// Begins a capture: what is queued in it becomes nodes of a graph. Never blocks. C:
    /// `km_stream_begin_capture`.
    ///
    /// # Errors
    ///
    /// The sticky error of the context when a kernel failed.
    pub fn begin_capture(&self) -> Result<Capture> {
        let stream = self.new_stream()?;
        // SAFETY: the stream is not given away; what is captured in it keeps what it uses.
        unsafe { stream.begin_capture() }?;
        Ok(Capture { stream, shared: Arc::default(), is_origin: true })
    }
}

impl Stream {
    /// Begins to capture the stream itself: until [`end_capture`](Self::end_capture), what is
    /// queued in it becomes nodes of a graph and does not run. Streams that wait for an event
    /// recorded in it join. [`Context::begin_capture`] is the safe way. Never blocks. C:
    /// `km_stream_begin_capture`.
    ///
    /// # Safety
    ///
    /// Until the end nothing is queued in the stream, by this handle or another one, nor in streams
    /// that join, that uses memory of the host, calls host functions or launches a [`GraphExec`]
    /// that does so: borrows of this crate's copies and callbacks would be over when it runs.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_PERMITTED`] when the stream is being captured already,
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset, the sticky error of the context
    /// when a kernel failed.
    pub unsafe fn begin_capture(&self) -> Result<()> {
        // SAFETY: handles are checked ids; the caller answers for what is captured.
        check(unsafe { sys::km_stream_begin_capture(self.as_raw()) })
    }

    /// Ends the capture of the stream, and of all that joined it. Never blocks. C:
    /// `km_stream_end_capture`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_PERMITTED`] when the stream is not being captured, or only joined the
    /// capture of another one, which goes on; [`Status::ERROR_CAPTURE_INVALIDATED`] when a call has
    /// invalidated the capture and [`Status::ERROR_CAPTURE_UNJOINED`] when a branch was not joined:
    /// the capture is over; [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub fn end_capture(&self) -> Result<Graph> {
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_stream_end_capture(self.as_raw(), &mut raw) })?;
        Ok(Graph::new(raw, Keep::new()))
    }

    /// Tells whether the stream is being captured. Never blocks. C: `km_stream_capture_status`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub fn capture_status(&self) -> Result<CaptureStatus> {
        let mut status = CaptureStatus::INVALID;
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_stream_capture_status(self.as_raw(), &mut status) })?;
        Ok(status)
    }
}

impl Capture {
    /// Ends the capture and gives the graph. Never blocks. C: `km_stream_end_capture`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_PERMITTED`] when this is a branch, made by [`fork`](Self::fork),
    /// [`Status::ERROR_CAPTURE_UNJOINED`] when there is a branch whose work nothing waits for,
    /// [`Status::ERROR_CAPTURE_INVALIDATED`] when a call has invalidated the capture,
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset. There is no graph then.
    pub fn end(self) -> Result<Graph> {
        let mut shared = lock(&self.shared);
        shared.has_ended |= self.is_origin;
        let graph = self.stream.end_capture()?;
        let keep = Keep::from([(CAPTURED, std::mem::take(&mut shared.resources))]);
        *graph.lock() = keep;
        Ok(graph)
    }

    /// A branch: what is queued in it from now on runs after what is queued here so far, and beside
    /// what follows here. Each has to be [joined](Self::join), or [waited for](Self::wait), before
    /// the end. Never blocks.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// let (mut a, mut b) = (context.alloc_zeros::<u32>(4)?, context.alloc_zeros::<u32>(4)?);
    /// let capture = context.begin_capture()?;
    /// let branch = capture.fork()?;
    /// capture.fill(&mut a, 1)?;
    /// branch.fill(&mut b, 2)?; // beside it
    /// capture.join(branch)?;
    /// capture.memcpy_dtod(&a, &mut b)?; // after both
    /// assert_eq!(capture.end()?.nodes()?.len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CAPTURE_INVALIDATED`] when a call has invalidated the capture,
    /// [`Status::ERROR_NOT_PERMITTED`] when it is over, [`Status::ERROR_CONTEXT_LOST`] when the
    /// context was reset.
    pub fn fork(&self) -> Result<Capture> {
        let begin = self.record_event()?;
        let stream = self.stream.context()?.new_stream()?;
        let branch = Capture { stream, shared: Arc::clone(&self.shared), is_origin: false };
        branch.wait(&begin)?;
        Ok(branch)
    }

    /// Makes all that is queued here from now on run after a branch. Never blocks.
    ///
    /// # Errors
    ///
    /// Those of [`wait`](Self::wait).
    pub fn join(&self, branch: Capture) -> Result<()> {
        self.wait(&branch.record_event()?)
    }

    /// Marks the end of what is queued here so far. Never blocks. C: `km_event_record`.
    ///
    /// # Errors
    ///
    /// Those of [`fork`](Self::fork).
    pub fn record_event(&self) -> Result<CaptureEvent> {
        let event = self.stream.context()?.new_event_without_timing()?;
        self.while_active(|_| event.record(&self.stream))?;
        Ok(CaptureEvent(event))
    }

    /// Makes all that is queued here from now on run after what the event marks. Never blocks. C:
    /// `km_stream_wait_event`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CAPTURE_UNSUPPORTED`] when the event is of another capture; both are invalid
    /// then; else those of [`fork`](Self::fork).
    pub fn wait(&self, event: &CaptureEvent) -> Result<()> {
        self.while_active(|_| self.stream.wait(&event.0))
    }

    /// Tells whether the capture is active. Never blocks. C: `km_stream_capture_status`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub fn status(&self) -> Result<CaptureStatus> {
        self.stream.capture_status()
    }

    /// The stream that is captured, for objects that queue work in a stream of their own, as
    /// matrix products do.
    ///
    /// # Safety
    ///
    /// That of [`Stream::begin_capture`], and nothing ends the capture but [`end`](Self::end).
    pub unsafe fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Begins the launch of a kernel, which becomes a node. The promise of
    /// [`LaunchBuilder::launch`] is then one for each launch of the graph. In a branch whose
    /// capture was ended meanwhile the kernel runs at once.
    pub fn launch_builder<'a>(&'a self, function: &'a Function) -> LaunchBuilder<'a> {
        self.stream.launch_builder(function)
    }

    /// Copies from all of a buffer to as many elements on the device, each time that the graph
    /// runs. Never blocks. C: `km_slice_upload`.
    ///
    /// # Errors
    ///
    /// Those of [`Stream::memcpy_htod`] and of [`fork`](Self::fork).
    pub fn upload<T: Pod>(
        &self,
        source: &GraphBuffer<T>,
        destination: &mut impl DeviceSliceMut<T>,
    ) -> Result<()> {
        let place = destination.place();
        same_len("upload", source.len(), place.len)?;
        let (from, size) = (source.pointer().cast(), destination.size_bytes() as u64);
        self.keep(Resource::Buffer(source.tracked()), || {
            let (stream, offset) = (self.stream.as_raw(), place.offset_bytes);
            // SAFETY: the buffer has that size, is kept, and nobody writes it while a launch reads
            // it; the capture is active.
            check(unsafe { sys::km_slice_upload(stream, place.slice, offset, from, size) })
        })
    }

    /// Copies from the device to all of a buffer of as many elements, each time that the graph
    /// runs. Never blocks. C: `km_slice_download`.
    ///
    /// # Errors
    ///
    /// Those of [`Stream::memcpy_dtoh`] and of [`fork`](Self::fork).
    pub fn download<T: Pod>(
        &self,
        source: &impl DeviceSlice<T>,
        destination: &GraphBuffer<T>,
    ) -> Result<()> {
        let place = source.place();
        same_len("download", place.len, destination.len())?;
        let (to, size) = (destination.pointer().cast(), source.size_bytes() as u64);
        self.keep(Resource::Buffer(destination.tracked()), || {
            let (stream, offset) = (self.stream.as_raw(), place.offset_bytes);
            // SAFETY: the buffer has that size, is kept, and nobody touches it while a launch
            // writes it; the capture is active.
            check(unsafe { sys::km_slice_download(stream, place.slice, offset, to, size) })
        })
    }

    /// Calls a host function each time that the graph runs, under the rules of [`Graph::add_host`].
    /// Never blocks. C: `km_stream_add_callback`.
    ///
    /// # Errors
    ///
    /// Those of [`fork`](Self::fork).
    pub fn add_callback<F>(&self, callback: F) -> Result<()>
    where
        F: Fn(Result<()>) + Send + Sync + 'static,
    {
        let (work, callback) = host_work(callback);
        self.keep(callback, || {
            let stream = self.stream.as_raw();
            // SAFETY: the function is kept, and is what the callback takes; the capture is active.
            check(unsafe { sys::km_stream_add_callback(stream, work.callback, work.data) })
        })
    }

    /// Has a graph run as a part of this one, as it is now. Never blocks. C:
    /// `km_graph_exec_launch`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_MISMATCH`] when the graph is of another context, else those of
    /// [`fork`](Self::fork).
    pub fn launch_graph(&self, exec: &GraphExec) -> Result<()> {
        self.while_active(|shared| {
            let kept = exec.lock();
            // SAFETY: handles are checked ids; what the graph uses is kept; the capture is active.
            check(unsafe { sys::km_graph_exec_launch(exec.as_raw(), self.stream.as_raw()) })?;
            shared.resources.extend(flatten(&kept.keep));
            Ok(())
        })
    }

    /// Copies between as many elements of one context, as [`Stream::memcpy_dtod`] does. C:
    /// `km_slice_copy`.
    ///
    /// # Errors
    ///
    /// Those of [`Stream::memcpy_dtod`] and of [`fork`](Self::fork).
    pub fn memcpy_dtod<T: Pod>(
        &self,
        source: &impl DeviceSlice<T>,
        destination: &mut impl DeviceSliceMut<T>,
    ) -> Result<()> {
        self.while_active(|_| self.stream.memcpy_dtod(source, destination))
    }

    /// Copies rows within a context, as [`Stream::memcpy_dtod_3d`] does. C: `km_slice_copy_3d`.
    ///
    /// # Errors
    ///
    /// Those of [`Stream::memcpy_dtod_3d`] and of [`fork`](Self::fork).
    pub fn memcpy_dtod_3d<T: Pod>(
        &self,
        source: &impl DeviceSlice<T>,
        source_rows: Rows,
        destination: &mut impl DeviceSliceMut<T>,
        destination_rows: Rows,
        extent: Extent,
    ) -> Result<()> {
        self.while_active(|_| {
            self.stream.memcpy_dtod_3d(source, source_rows, destination, destination_rows, extent)
        })
    }

    /// Copies between contexts, as [`Stream::memcpy_peer`] does. C: `km_slice_copy_peer`.
    ///
    /// # Errors
    ///
    /// Those of [`Stream::memcpy_peer`] and of [`fork`](Self::fork).
    pub fn memcpy_peer<T: Pod>(
        &self,
        source: &impl DeviceSlice<T>,
        destination: &mut impl DeviceSliceMut<T>,
    ) -> Result<()> {
        self.while_active(|_| self.stream.memcpy_peer(source, destination))
    }

    /// Writes the value to all elements, as [`Stream::fill`] does. C: `km_slice_fill_u32` and its
    /// kin.
    ///
    /// # Errors
    ///
    /// Those of [`Stream::fill`] and of [`fork`](Self::fork).
    pub fn fill<T: Fill>(&self, destination: &mut impl DeviceSliceMut<T>, value: T) -> Result<()> {
        self.while_active(|_| self.stream.fill(destination, value))
    }

    /// Writes zeros to all elements, as [`Stream::memset_zeros`] does. C: `km_slice_fill_u8`.
    ///
    /// # Errors
    ///
    /// Those of [`Stream::memset_zeros`] and of [`fork`](Self::fork).
    pub fn memset_zeros<T: Pod>(&self, destination: &mut impl DeviceSliceMut<T>) -> Result<()> {
        self.while_active(|_| self.stream.memset_zeros(destination))
    }

    /// Writes the value to elements of rows, as [`Stream::fill_2d`] does. C: `km_slice_fill_2d`.
    ///
    /// # Errors
    ///
    /// Those of [`Stream::fill_2d`] and of [`fork`](Self::fork).
    pub fn fill_2d<T: Fill>(
        &self,
        destination: &mut impl DeviceSliceMut<T>,
        rows: Rows,
        width: usize,
        height: usize,
        value: T,
    ) -> Result<()> {
        self.while_active(|_| self.stream.fill_2d(destination, rows, width, height, value))
    }

    /// An object for BLAS calls, which become nodes of the graph as long as the capture goes on,
    /// and run at once in a stream of their own after it. Never blocks. C: `km_blas_create`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// use kernelmill::blas::Layout;
    /// let stream = context.default_stream()?;
    /// let mut x = stream.clone_htod(&[1.0f32, 2.0])?;
    /// let capture = context.begin_capture()?;
    /// capture.blas(Layout::ROWS)?.scal(3.0, &mut x)?;
    /// let exec = capture.end()?.instantiate()?;
    /// exec.launch(&stream)?;
    /// exec.launch(&stream)?;
    /// assert_eq!(stream.clone_dtoh(&x)?, [9.0, 18.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Blas::new`] and of [`fork`](Self::fork).
    pub fn blas(&self, layout: Layout) -> Result<Blas> {
        self.while_active(|_| Ok(()))?;
        Blas::new(&self.stream, layout)
    }

    /// Writes a number, as [`Stream::write_value`] does. C: `km_stream_write_value`.
    ///
    /// # Errors
    ///
    /// Those of [`Stream::write_value`] and of [`fork`](Self::fork).
    pub fn write_value<T: StreamValue>(
        &self,
        destination: &mut impl DeviceSliceMut<T>,
        index: usize,
        value: T,
    ) -> Result<()> {
        self.while_active(|_| self.stream.write_value(destination, index, value))
    }

    /// Makes all that follows wait for a number, as [`Stream::wait_value`] does. C:
    /// `km_stream_wait_value`.
    ///
    /// # Errors
    ///
    /// Those of [`Stream::wait_value`] and of [`fork`](Self::fork).
    pub fn wait_value<T: StreamValue>(
        &self,
        source: &impl DeviceSlice<T>,
        index: usize,
        condition: WaitCondition,
        value: T,
    ) -> Result<()> {
        self.while_active(|_| self.stream.wait_value(source, index, condition, value))
    }

    /// Queues work that uses a resource, which the graph keeps.
    fn keep(&self, resource: Resource, queue: impl FnOnce() -> Result<()>) -> Result<()> {
        let mut resource = Some(resource); // when it is not queued, it is dropped without the lock
        self.while_active(|shared| {
            queue()?;
            shared.resources.extend(resource.take());
            Ok(())
        })
    }

    /// Does something that nobody ends the capture in the middle of: after its end the stream of a
    /// branch is like any other, and would do it at once.
    fn while_active(&self, act: impl FnOnce(&mut Shared) -> Result<()>) -> Result<()> {
        let mut shared = lock(&self.shared);
        if shared.has_ended {
            let message = "the capture was ended; begin another one";
            return Err(Error::new(Status::ERROR_NOT_PERMITTED, message));
        }
        act(&mut shared)
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        if self.is_origin {
            lock(&self.shared).has_ended = true;
        }
    }
}
