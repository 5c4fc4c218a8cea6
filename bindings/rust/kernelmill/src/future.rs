//! Waiting in asynchronous programs: futures that the library's own threads wake.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context as TaskContext, Poll, Waker};

use crate::{
    Context, DeviceSlice, Error, Event, GraphExec, LaunchBuilder, LaunchConfig, Pending,
    PinnedMemory, Pod, Result, Stream,
};

/// The end of work, made by [`Stream::finished`] and [`Event::wait`]: a future that gives the error
/// of the context if a kernel failed. It works on any executor: the library calls the waker on a
/// thread of its own, and no thread waits. Dropping it at any time ends the waiting and nothing
/// else: the work goes on.
#[derive(Debug)]
#[must_use = "a future does nothing unless it is awaited"]
pub struct Finished(End);

#[derive(Debug)]
enum End {
    /// The work was done when it was asked for; none once the result is given.
    Known(Option<Result<()>>),
    /// A callback in the stream fills this in.
    Awaited(Arc<Mutex<State>>),
}

#[derive(Debug)]
enum State {
    /// The work goes on; the waker is that of the last poll.
    Running(Option<Waker>),
    Done(Result<()>),
    /// The future has given its result, or is gone.
    Over,
}

impl Finished {
    /// Calls back once what the stream has been given so far is done.
    fn of(stream: &Stream) -> Result<Self> {
        if stream.is_done()? {
            return Ok(Self(End::Known(Some(Ok(())))));
        }
        let context = stream.context()?;
        let (future, finish) = waiting();
        stream.add_callback(move |result| {
            finish(result.map_err(|error| full_error(&context, error)));
        })?;
        Ok(future)
    }

    fn from_result(made: Result<Self>) -> Self {
        made.unwrap_or_else(|error| Self(End::Known(Some(Err(error)))))
    }
}

/// The context's error has the text that a callback's status lacks.
fn full_error(context: &Context, error: Error) -> Error {
    let known = context.error().ok().flatten();
    known.filter(|known| known.status() == error.status()).unwrap_or(error)
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A future, and what ends it.
pub(crate) fn waiting() -> (Finished, impl FnOnce(Result<()>) + Send + 'static) {
    let state = Arc::new(Mutex::new(State::Running(None)));
    let called = Arc::clone(&state);
    (Finished(End::Awaited(state)), move |result| finish(&called, result))
}

/// Wakes the task without the lock: the waker may poll at once. A future that is gone has taken its
/// waker along.
fn finish(state: &Mutex<State>, result: Result<()>) {
    let before = std::mem::replace(&mut *lock(state), State::Done(result));
    if let State::Running(Some(waker)) = before {
        waker.wake();
    }
}

impl Future for Finished {
    type Output = Result<()>;

    /// Polled again after it was ready, it stays pending.
    fn poll(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let state = match &mut self.0 {
            End::Known(result) => return result.take().map_or(Poll::Pending, Poll::Ready),
            End::Awaited(state) => state,
        };
        let mut state = lock(state);
        if let State::Running(waker) = &mut *state {
            let is_known = waker.as_ref().is_some_and(|waker| waker.will_wake(task.waker()));
            let old = if is_known { None } else { waker.replace(task.waker().clone()) };
            drop(state); // the waker's code runs without the lock
            drop(old);
            return Poll::Pending;
        }
        match std::mem::replace(&mut *state, State::Over) {
            State::Done(result) => Poll::Ready(result),
            _ => Poll::Pending,
        }
    }
}

impl Drop for Finished {
    fn drop(&mut self) {
        if let End::Awaited(state) = &self.0 {
            // The state before is dropped without the lock: a waker runs code of the executor.
            let before = std::mem::replace(&mut *lock(state), State::Over);
            drop(before);
        }
    }
}

impl Stream {
    /// A future of the end of all work queued in the stream so far. Never blocks. C:
    /// `km_stream_add_callback`.
    ///
    /// The library's thread for callbacks wakes the task. It calls one after the other for all
    /// streams, so a callback that takes long ([`add_callback`](Self::add_callback), host functions
    /// of graphs) delays the waking of every task, though not the work. The C ABI has no other
    /// sign of an end that needs no waiting thread.
    ///
    /// ```
    /// # use std::task::{Context, Poll, Waker};
    /// # fn block_on<F: Future>(future: F) -> F::Output {
    /// #     let mut future = std::pin::pin!(future);
    /// #     loop {
    /// #         let mut task = Context::from_waker(Waker::noop());
    /// #         if let Poll::Ready(value) = future.as_mut().poll(&mut task) { return value; }
    /// #     }
    /// # }
    /// # fn main() -> kernelmill::Result<()> {
    /// # block_on(async {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// let stream = context.new_stream()?;
    /// let mut slice = stream.alloc_zeros::<f32>(1 << 20)?;
    /// stream.fill(&mut slice, 1.5)?;
    /// let host = stream.clone_dtoh_async(&slice)?.await?; // on any executor
    /// assert_eq!(host[1 << 19], 1.5);
    /// stream.fill(&mut slice, 2.5)?;
    /// stream.finished().await?;
    /// # Ok(())
    /// # })
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The future gives [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset,
    /// the sticky error of the context when a kernel failed.
    pub fn finished(&self) -> Finished {
        Finished::from_result(Finished::of(self))
    }

    /// Copies all elements to new page-locked memory, later, in stream order; awaiting the copy
    /// gives the memory. Never blocks. C: `km_slice_download`.
    ///
    /// # Errors
    ///
    /// Those of [`Context::alloc_pinned`] and of [`memcpy_dtoh_async`](Self::memcpy_dtoh_async).
    pub fn clone_dtoh_async<T: Pod>(&self, source: &impl DeviceSlice<T>) -> Result<Pending<T>> {
        self.memcpy_dtoh_async(source, self.context()?.alloc_pinned(source.len())?)
    }
}

impl Event {
    /// A future of the end of the work that the event marks now; recording it again changes nothing
    /// for this future. Never blocks. C: `km_stream_add_callback`, in a stream of its own that
    /// waits for the event.
    ///
    /// # Errors
    ///
    /// Those of [`Stream::finished`].
    pub fn wait(&self) -> Finished {
        Finished::from_result(self.end())
    }

    fn end(&self) -> Result<Finished> {
        if self.is_done()? {
            return Ok(Finished(End::Known(Some(Ok(())))));
        }
        // So that the callback waits for nothing else.
        let stream = self.context()?.new_stream()?;
        stream.wait(self)?;
        Finished::of(&stream)
    }
}

impl LaunchBuilder<'_> {
    /// Queues the kernel, as [`launch`](Self::launch) does, and gives a future of its end. Dropping
    /// the future does not stop the kernel. Never blocks, but the first launch of a kernel may
    /// compile it.
    ///
    /// # Safety
    ///
    /// That of [`launch`](Self::launch).
    ///
    /// # Errors
    ///
    /// Those of [`launch`](Self::launch) at once, those of the kernel by the future.
    pub unsafe fn launch_async(&mut self, config: LaunchConfig) -> Result<Finished> {
        // SAFETY: what the kernel does is the caller's promise.
        unsafe { self.launch(config) }?;
        Finished::of(&self.stream())
    }
}

impl GraphExec {
    /// Queues one run of the graph, as [`launch`](Self::launch) does, and gives a future of its
    /// end. Dropping the future does not stop the graph. Never blocks.
    ///
    /// # Errors
    ///
    /// Those of [`launch`](Self::launch) at once, those of kernels by the future.
    pub fn launch_async(&self, stream: &Stream) -> Result<Finished> {
        self.launch(stream)?;
        Finished::of(stream)
    }
}

/// A copy under way that is awaited: a [`Pending`] as a future. Dropping it frees the memory when
/// the copy is done.
#[derive(Debug)]
#[must_use = "a future does nothing unless it is awaited"]
pub struct PendingFuture<T: Pod> {
    memory: Option<PinnedMemory<T>>,
    done: Finished,
}

impl<T: Pod> Unpin for PendingFuture<T> {}

impl<T: Pod> Future for PendingFuture<T> {
    type Output = Result<PinnedMemory<T>>;

    /// Polled again after it was ready, it stays pending.
    fn poll(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        match (Pin::new(&mut self.done).poll(task), self.memory.take()) {
            (Poll::Ready(Ok(())), Some(memory)) => Poll::Ready(Ok(memory)),
            (Poll::Ready(Err(error)), _) => Poll::Ready(Err(error)),
            (_, memory) => {
                self.memory = memory;
                Poll::Pending
            }
        }
    }
}

impl<T: Pod> IntoFuture for Pending<T> {
    type Output = Result<PinnedMemory<T>>;
    type IntoFuture = PendingFuture<T>;

    fn into_future(self) -> PendingFuture<T> {
        let (memory, end) = self.into_parts();
        PendingFuture { memory: Some(memory), done: end.wait() }
    }
}
