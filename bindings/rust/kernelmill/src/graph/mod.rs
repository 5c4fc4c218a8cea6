//! Graphs: work that is put together once and launched many times.

mod buffer;
mod capture;
mod exec;
mod info;
mod keep;
mod nodes;
mod rows;
mod work;

use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard};

use crate::error::{check, read_text};
use crate::{Context, Function, Result, Status, sys};
use keep::{CAPTURED, Keep, flatten};

pub use buffer::{GraphBuffer, GraphBufferGuard};
pub use capture::{Capture, CaptureEvent, CaptureStatus};
pub use exec::{GraphDifference, GraphExec};
pub use info::{NodeInfo, NodeKind, NodeRows};
pub use nodes::KernelNode;

/// A node of a graph: its number, which is the same in clones of the graph and in what is
/// instantiated from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Node(u64);

impl Node {
    /// The number, from 1 on.
    pub fn id(self) -> u64 {
        self.0
    }

    /// The node of a number; calls with one that the graph lacks are errors.
    pub fn from_id(id: u64) -> Self {
        Self(id)
    }
}

/// Work that is put together once and launched many times: kernels, copies, fills, calls of host
/// functions and whole graphs, with what runs after what. It is made by [`Context::new_graph`], or
/// by [`Context::begin_capture`] from what is queued in a stream. It keeps kernels, memory and host
/// functions that its nodes use. C: `km_graph`.
///
/// ```
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// let mut a = context.alloc_zeros::<u32>(4)?;
/// let mut b = context.alloc_zeros::<u32>(4)?;
/// let graph = context.new_graph()?;
/// let fill = graph.add_fill(&[], &mut a, 7)?;
/// graph.add_copy(&[fill], &a, &mut b)?; // after the fill
/// let exec = graph.instantiate()?;
/// let stream = context.default_stream()?;
/// exec.launch(&stream)?;
/// assert_eq!(stream.clone_dtoh(&b)?, [7; 4]);
/// # Ok(())
/// # }
/// ```
pub struct Graph {
    raw: sys::km_graph,
    keep: Mutex<Keep>, // changed together with the library's graph
}

// SAFETY: base.h says "Threads: any" of every km_graph_... function: any number of threads
// may call them at once, also on the same object. What the graph keeps is Send and Sync.
unsafe impl Send for Graph {}
// SAFETY: the same.
unsafe impl Sync for Graph {}

impl Context {
    /// A new graph without nodes. Never blocks. C: `km_graph_create`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_HANDLE`] when the context's handle was destroyed.
    pub fn new_graph(&self) -> Result<Graph> {
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_graph_create(self.as_raw(), &mut raw) })?;
        Ok(Graph::new(raw, Keep::new()))
    }
}

impl Graph {
    fn new(raw: sys::km_graph, keep: Keep) -> Self {
        Self { raw, keep: Mutex::new(keep) }
    }

    fn lock(&self) -> MutexGuard<'_, Keep> {
        keep::lock(&self.keep)
    }

    /// Takes over a graph of the C ABI.
    ///
    /// # Safety
    ///
    /// Nobody else may destroy the handle. Host functions and memory of the host that its nodes use
    /// live as long as the graph and all that is made from it.
    pub unsafe fn from_raw(raw: sys::km_graph) -> Self {
        Self::new(raw, Keep::new())
    }

    /// The handle, for calls of [`sys`]; it stays this object's, which does not see what is changed
    /// by them.
    pub fn as_raw(&self) -> sys::km_graph {
        self.raw
    }

    /// A copy with the same numbers of nodes. Never blocks. C: `km_graph_clone`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub fn try_clone(&self) -> Result<Graph> {
        let keep = self.lock();
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_graph_clone(self.raw, &mut raw) })?;
        Ok(Self::new(raw, keep.clone()))
    }

    /// Removes a node with all its dependencies. What is instantiated stays as it was. Never
    /// blocks. C: `km_graph_remove_node`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`] when the graph has no such node,
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub fn remove_node(&self, node: Node) -> Result<()> {
        let mut keep = self.lock();
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_graph_remove_node(self.raw, node.0) })?;
        let old = keep.remove(&node.0);
        drop(keep);
        drop(old);
        Ok(())
    }

    /// Makes node `to` run after node `from`. Never blocks. C: `km_graph_add_dependency`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`] when the graph has no such node, there is this dependency
    /// already, or it would close a circle; [`Status::ERROR_CONTEXT_LOST`] when the context was
    /// reset.
    pub fn add_dependency(&self, from: Node, to: Node) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_graph_add_dependency(self.raw, from.0, to.0) })
    }

    /// Takes back that node `to` runs after node `from`. Never blocks. C:
    /// `km_graph_remove_dependency`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`] when the graph has no such node,
    /// [`Status::ERROR_NOT_FOUND`] when there is no such dependency,
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub fn remove_dependency(&self, from: Node, to: Node) -> Result<()> {
        // SAFETY: handles are checked ids.
        check(unsafe { sys::km_graph_remove_dependency(self.raw, from.0, to.0) })
    }

    /// All nodes, in the order of their making. Never blocks. C: `km_graph_nodes`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub fn nodes(&self) -> Result<Vec<Node>> {
        read_nodes(|nodes, capacity, count| {
            // SAFETY: `read_nodes` gives room for `capacity` numbers.
            unsafe { sys::km_graph_nodes(self.raw, nodes, capacity, count) }
        })
    }

    /// The nodes that a node runs after. Never blocks. C: `km_graph_node_dependencies`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`] when the graph has no such node,
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub fn dependencies(&self, node: Node) -> Result<Vec<Node>> {
        read_nodes(|nodes, capacity, count| {
            // SAFETY: `read_nodes` gives room for `capacity` numbers.
            unsafe { sys::km_graph_node_dependencies(self.raw, node.0, nodes, capacity, count) }
        })
    }

    /// The nodes that run after a node. Never blocks. C: `km_graph_node_dependents`.
    ///
    /// # Errors
    ///
    /// Those of [`dependencies`](Self::dependencies).
    pub fn dependents(&self, node: Node) -> Result<Vec<Node>> {
        read_nodes(|nodes, capacity, count| {
            // SAFETY: `read_nodes` gives room for `capacity` numbers.
            unsafe { sys::km_graph_node_dependents(self.raw, node.0, nodes, capacity, count) }
        })
    }

    /// The kernel of a kernel's node. Never blocks. C: `km_graph_node_function`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`] when the graph has no such node that is a kernel,
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub fn node_function(&self, node: Node) -> Result<Function> {
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_graph_node_function(self.raw, node.0, &mut raw) })?;
        Function::new(raw)
    }

    /// A copy of a child node's graph. Never blocks. C: `km_graph_node_child`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`] when the graph has no such node that is a graph,
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub fn node_child(&self, node: Node) -> Result<Graph> {
        let keep = self.lock();
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_graph_node_child(self.raw, node.0, &mut raw) })?;
        // Perhaps more than the child needs: which node of it uses what is no longer known.
        Ok(Self::new(raw, Keep::from([(CAPTURED, flatten(&keep))])))
    }

    /// The graph in the DOT language of Graphviz, child graphs as clusters. Never blocks. C:
    /// `km_graph_dot`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub fn dot(&self) -> Result<String> {
        read_text(|buffer, capacity, size| {
            // SAFETY: `read_text` gives room for `capacity` bytes.
            unsafe { sys::km_graph_dot(self.raw, buffer, capacity, size) }
        })
    }

    /// Makes the graph ready to run as it is now; later changes of it are not seen. Blocks while
    /// kernels are compiled. C: `km_graph_exec_create`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_LAUNCH`] when a kernel cannot be launched as its node says,
    /// [`Status::ERROR_UNSUPPORTED_PTX`] when the device cannot run a kernel in its shape,
    /// [`Status::ERROR_COMPILER`] when the code generator failed, [`Status::ERROR_NOT_SUPPORTED`]
    /// when the backend has no graphs, the sticky error of the context when a kernel failed.
    pub fn instantiate(&self) -> Result<GraphExec> {
        let keep = self.lock();
        let mut raw = null_mut();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_graph_exec_create(self.raw, &mut raw) })?;
        Ok(GraphExec::new(raw, keep.clone()))
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: the handle is this object's own, and destroying it twice is no danger.
        unsafe { sys::km_graph_destroy(self.raw) };
    }
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Graph").field("raw", &self.raw).finish_non_exhaustive()
    }
}

/// Copies numbers of nodes out of the library: `get` is a call with buffer, capacity and count.
fn read_nodes(mut get: impl FnMut(*mut u64, u64, *mut u64) -> Status) -> Result<Vec<Node>> {
    loop {
        let mut count = 0;
        check(get(null_mut(), 0, &mut count))?;
        let mut nodes = vec![0; count as usize];
        match get(nodes.as_mut_ptr(), count, &mut count) {
            Status::ERROR_BUFFER_TOO_SMALL => continue, // another thread added some
            status => check(status)?,
        }
        nodes.truncate(count as usize);
        return Ok(nodes.into_iter().map(Node).collect());
    }
}
