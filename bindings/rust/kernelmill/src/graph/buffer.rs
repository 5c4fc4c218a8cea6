//! Host memory that graphs read and write.

use std::mem::take;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard};

use super::keep::lock;
use crate::{Context, Error, Event, PinnedMemory, Pod, Result, Status, Stream};

/// Page-locked host memory that nodes of graphs read ([`Graph::add_upload`](crate::Graph)) or write
/// ([`Graph::add_download`](crate::Graph)) each time that they run. Graphs own it together with the
/// program, which gets at the elements by [`lock`](Self::lock) while no launch uses them. A clone
/// is the same memory.
///
/// ```
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// let (input, output) = (context.alloc_graph_buffer::<u32>(2)?, context.alloc_graph_buffer(2)?);
/// let mut slice = context.alloc_zeros::<u32>(2)?;
/// let graph = context.new_graph()?;
/// let upload = graph.add_upload(&[], &input, &mut slice)?;
/// graph.add_download(&[upload], &slice, &output)?;
/// let exec = graph.instantiate()?;
/// let stream = context.new_stream()?;
/// for number in 0..3 {
///     input.lock()?.fill(number);
///     exec.launch(&stream)?;
///     assert_eq!(output.lock()?[..], [number; 2]); // waits for the launch
/// }
/// # Ok(())
/// # }
/// ```
///
/// While the program has the elements, no graph that uses them can be launched:
///
/// ```
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// # let input = context.alloc_graph_buffer::<u32>(2)?;
/// # let mut slice = context.alloc_zeros::<u32>(2)?;
/// # let graph = context.new_graph()?;
/// # graph.add_upload(&[], &input, &mut slice)?;
/// # let (exec, stream) = (graph.instantiate()?, context.new_stream()?);
/// use kernelmill::Status;
/// let elements = input.lock()?;
/// assert_eq!(exec.launch(&stream).unwrap_err().status(), Status::ERROR_NOT_PERMITTED);
/// drop(elements);
/// exec.launch(&stream)?;
/// # Ok(())
/// # }
/// ```
pub struct GraphBuffer<T: Pod>(Arc<Inner<T>>);

struct Inner<T: Pod> {
    memory: PinnedMemory<T>,
    use_state: Mutex<BufferUse>,
}

/// Who uses a buffer.
#[derive(Default)]
pub(super) struct BufferUse {
    is_locked: bool,            // the program has the elements, or waits for them
    launches: Vec<Arc<Event>>,  // the ends of those that may not be done
    lost_launch: Option<Error>, // one whose end cannot be known
}

/// A buffer whatever its type of elements.
pub(super) trait Tracked: Send + Sync {
    fn use_state(&self) -> &Mutex<BufferUse>;
}

impl<T: Pod> Tracked for Inner<T> {
    fn use_state(&self) -> &Mutex<BufferUse> {
        &self.use_state
    }
}

impl Context {
    /// Page-locked host memory for `len` elements, zeroed, that graphs read and write. Never
    /// blocks. C: `km_host_memory_create`.
    ///
    /// # Errors
    ///
    /// Those of [`alloc_pinned`](Self::alloc_pinned).
    pub fn alloc_graph_buffer<T: Pod>(&self, len: usize) -> Result<GraphBuffer<T>> {
        GraphBuffer::new(self.alloc_pinned(len)?)
    }
}

impl<T: Pod> GraphBuffer<T> {
    /// Gives page-locked memory to graphs.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_SUPPORTED`] when the memory is that of a vector
    /// ([`PinnedMemory::from_vec`]), which the library cannot keep for what runs later.
    pub fn new(memory: PinnedMemory<T>) -> Result<Self> {
        if memory.is_registered() {
            let message = "the memory is that of a vector, which graphs cannot keep; use memory of \
                           Context::alloc_pinned";
            return Err(Error::new(Status::ERROR_NOT_SUPPORTED, message));
        }
        Ok(Self(Arc::new(Inner { memory, use_state: Mutex::default() })))
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.0.memory.parts().1
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements, to be read and written until the guard is dropped: waits until all launches
    /// that use the buffer are done. Blocks.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_NOT_PERMITTED`] when another guard is alive, or inside a callback while
    /// launches are under way; the sticky error of the context when a kernel failed, and
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset while a launch was under way.
    pub fn lock(&self) -> Result<GraphBufferGuard<'_, T>> {
        let launches = {
            let mut state = lock(&self.0.use_state);
            if state.is_locked {
                return Err(in_use("lock"));
            }
            if let Some(error) = &state.lost_launch {
                return Err(error.clone());
            }
            state.is_locked = true;
            take(&mut state.launches)
        };
        let waited = launches.iter().try_for_each(|done| done.synchronize());
        if let Err(error) = waited {
            let mut state = lock(&self.0.use_state);
            state.launches = launches;
            state.is_locked = false;
            return Err(error);
        }
        Ok(GraphBufferGuard(self))
    }

    pub(super) fn tracked(&self) -> Arc<dyn Tracked> {
        Arc::<Inner<T>>::clone(&self.0)
    }

    /// The first element, for the library.
    pub(super) fn pointer(&self) -> *mut T {
        self.0.memory.parts().0.as_ptr()
    }
}

impl<T: Pod> Clone for GraphBuffer<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Pod> std::fmt::Debug for GraphBuffer<T> {
    /// Without the elements, which a launch may be writing.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("GraphBuffer").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// The elements of a [`GraphBuffer`], which no launch uses meanwhile.
pub struct GraphBufferGuard<'a, T: Pod>(&'a GraphBuffer<T>);

impl<T: Pod> Deref for GraphBufferGuard<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: no launch uses the elements while `is_locked`, and no other guard is there.
        unsafe { std::slice::from_raw_parts(self.0.pointer(), self.0.len()) }
    }
}

impl<T: Pod> DerefMut for GraphBufferGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and this is the only guard.
        unsafe { std::slice::from_raw_parts_mut(self.0.pointer(), self.0.len()) }
    }
}

impl<T: Pod> Drop for GraphBufferGuard<'_, T> {
    fn drop(&mut self) {
        lock(&self.0.0.use_state).is_locked = false;
    }
}

impl<T: Pod + std::fmt::Debug> std::fmt::Debug for GraphBufferGuard<'_, T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.deref().fmt(formatter)
    }
}

fn in_use(call: &str) -> Error {
    let message =
        format!("{call}: a buffer of a graph is locked; drop its guard, which lock() gave, first");
    Error::new(Status::ERROR_NOT_PERMITTED, message)
}

/// Queues a launch of a graph that uses the buffers, and notes its end with each of them.
pub(super) fn launch_with(
    buffers: &[Arc<dyn Tracked>], // in the order of their addresses, so that no two threads cross
    stream: &Stream,
    launch: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let done = Arc::new(stream.context()?.new_event_without_timing()?);
    let mut states: Vec<MutexGuard<'_, BufferUse>> =
        buffers.iter().map(|buffer| lock(buffer.use_state())).collect();
    if states.iter().any(|state| state.is_locked) {
        return Err(in_use("launch"));
    }
    launch()?;
    let recorded = done.record(stream);
    for state in &mut states {
        state.launches.retain(|earlier| !matches!(earlier.is_done(), Ok(true)));
        state.launches.push(Arc::clone(&done));
    }
    let Err(error) = recorded else { return Ok(()) };
    if stream.synchronize().is_err() {
        states.iter_mut().for_each(|state| state.lost_launch = Some(error.clone()));
    }
    Err(error)
}
