//! Graphs that are ready to run.

use std::sync::{Arc, Mutex, MutexGuard};

use super::buffer::launch_with;
use super::keep::{CAPTURED, Keep, Kept, Resource, lock};
use super::{Graph, Node};
use crate::error::check;
use crate::{Result, Stream, sys};

/// The reason for which an update cannot take a graph over,
/// [`km_graph_difference`](sys::km_graph_difference): `GraphDifference::NONE`.
pub use sys::km_graph_difference as GraphDifference;

/// A graph that is ready to run, made by [`Graph::instantiate`]. It keeps all kernels, memory and
/// host functions that it uses until it is dropped and its last launch is done; dropping it does
/// not wait. C: `km_graph_exec`.
pub struct GraphExec {
    raw: sys::km_graph_exec,
    kept: Mutex<Arc<Kept>>, // changed together with the library's object; launches share it
}

// SAFETY: base.h says "Threads: any" of every km_graph_exec_... function: any number of
// threads may call them at once, also on the same object. What it keeps is Send and Sync.
unsafe impl Send for GraphExec {}
// SAFETY: the same.
unsafe impl Sync for GraphExec {}

impl GraphExec {
    pub(super) fn new(raw: sys::km_graph_exec, keep: Keep) -> Self {
        Self { raw, kept: Mutex::new(Arc::new(Kept::new(keep))) }
    }

    /// The handle, for calls of [`sys`]; it stays this object's, which does not see what is changed
    /// or launched by them.
    pub fn as_raw(&self) -> sys::km_graph_exec {
        self.raw
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Arc<Kept>> {
        lock(&self.kept)
    }

    /// Queues one run of the graph in a stream. Launches of one graph run one after the other, also
    /// in different streams. Never blocks. C: `km_graph_exec_launch`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_MISMATCH`](crate::Status) when the stream is of another context,
    /// [`Status::ERROR_NOT_PERMITTED`](crate::Status) when a [`GraphBuffer`](crate::GraphBuffer) of
    /// the graph is locked, [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was
    /// reset, the sticky error of the context when a kernel failed, perhaps one of this launch.
    pub fn launch(&self, stream: &Stream) -> Result<()> {
        let kept = self.lock();
        let mut is_launched = false;
        let mut launch = || {
            // SAFETY: handles are checked ids; what the graph uses is kept until the launch is
            // done.
            check(unsafe { sys::km_graph_exec_launch(self.raw, stream.as_raw()) })?;
            is_launched = true;
            Ok(())
        };
        let result = if kept.buffers.is_empty() {
            launch()
        } else {
            launch_with(&kept.buffers, stream, launch)
        };
        if is_launched && kept.has_callbacks {
            let kept_by_launch = Arc::clone(&kept);
            drop(kept);
            keep_until_done(kept_by_launch, stream);
        }
        result
    }

    /// Takes over the parameters that a node has now in `graph`: the one that was instantiated, or
    /// a clone. Launches from now on use them; those before do not. Blocks while a kernel is
    /// compiled. C: `km_graph_exec_update_node`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// let mut slice = context.alloc_zeros::<u32>(2)?;
    /// let graph = context.new_graph()?;
    /// let fill = graph.add_fill(&[], &mut slice, 1)?;
    /// let exec = graph.instantiate()?;
    /// graph.set_fill(fill, &mut slice, 2)?;
    /// exec.update_node(&graph, fill)?;
    /// let stream = context.default_stream()?;
    /// exec.launch(&stream)?;
    /// assert_eq!(stream.clone_dtoh(&slice)?, [2, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_GRAPH_MISMATCH`](crate::Status) when the node is of another kind here, has
    /// other dependencies, or is not there; [`Status::ERROR_INVALID_ARGUMENT`](crate::Status) when
    /// it is no node of `graph`, [`Status::ERROR_CONTEXT_MISMATCH`](crate::Status) when that is of
    /// another context, [`Status::ERROR_INVALID_LAUNCH`](crate::Status) when a kernel cannot be
    /// launched like that, [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was
    /// reset, the sticky error of the context when a kernel failed.
    pub fn update_node(&self, graph: &Graph, node: Node) -> Result<()> {
        let theirs = graph.lock();
        let kept = self.lock();
        // SAFETY: handles are checked ids; what the node uses is kept from here on.
        check(unsafe { sys::km_graph_exec_update_node(self.raw, graph.as_raw(), node.id()) })?;
        let mut keep = kept.keep.clone();
        match theirs.get(&node.id()) {
            Some(resources) => keep.insert(node.id(), resources.clone()),
            None => keep.remove(&node.id()),
        };
        // One of these may be the node's.
        add_missing(&mut keep, theirs.get(&CAPTURED));
        drop(theirs);
        self.replace(kept, keep);
        Ok(())
    }

    /// Takes over the parameters of all nodes of a graph of the same topology: the first node's go
    /// to the first node, and so on. Nothing is changed when it fails. Blocks while kernels are
    /// compiled. C: `km_graph_exec_update`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_GRAPH_MISMATCH`](crate::Status) when the topology differs, with the node,
    /// else those of [`update_node`](Self::update_node).
    pub fn update(&self, graph: &Graph) -> Result<()> {
        let theirs = graph.lock();
        let kept = self.lock();
        // SAFETY: handles are checked ids; what the nodes use is kept from here on.
        check(unsafe { sys::km_graph_exec_update(self.raw, graph.as_raw()) })?;
        // Nodes have the numbers of that graph from now on.
        let keep = theirs.clone();
        drop(theirs);
        self.replace(kept, keep);
        Ok(())
    }

    /// Tells why [`update`](Self::update) cannot take a graph over, and the first node of it that
    /// speaks against that; `GraphDifference::NONE` when it can. Never blocks. C:
    /// `km_graph_exec_compare`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`](crate::Status) when the context was reset.
    pub fn compare(&self, graph: &Graph) -> Result<(GraphDifference, Option<Node>)> {
        let (mut difference, mut node) = (GraphDifference::INVALID, 0);
        let graph = graph.as_raw();
        // SAFETY: handles are checked ids, and the out-parameters live through the call.
        check(unsafe { sys::km_graph_exec_compare(self.raw, graph, &mut difference, &mut node) })?;
        Ok((difference, (node != 0).then_some(Node(node))))
    }

    /// The old resources are dropped without a lock: that runs code of the program.
    fn replace(&self, mut kept: MutexGuard<'_, Arc<Kept>>, keep: Keep) {
        let old = std::mem::replace(&mut *kept, Arc::new(Kept::new(keep)));
        drop(kept);
        drop(old);
    }
}

impl Drop for GraphExec {
    fn drop(&mut self) {
        // SAFETY: the handle is this object's own, and destroying it twice is no danger.
        unsafe { sys::km_graph_exec_destroy(self.raw) };
    }
}

impl std::fmt::Debug for GraphExec {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("GraphExec").field("raw", &self.raw).finish_non_exhaustive()
    }
}

/// Keeps host functions until what is queued in the stream is done, for ever when that cannot be
/// known, as after a kernel that failed.
fn keep_until_done(kept: Arc<Kept>, stream: &Stream) {
    let second = Arc::clone(&kept);
    match stream.add_callback(move |_| drop(kept)) {
        Ok(()) => drop(second),
        Err(_) => std::mem::forget(second),
    }
}

/// Resources of captured nodes in addition to those that are there.
fn add_missing(keep: &mut Keep, captured: Option<&Vec<Resource>>) {
    let Some(captured) = captured else { return };
    let own = keep.entry(CAPTURED).or_default();
    for resource in captured {
        if !own.iter().any(|one| one.is(resource)) {
            own.push(resource.clone());
        }
    }
}
