//! Nodes: kernels, copies, fills, host functions and whole graphs.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::keep::{Resource, flatten};
use super::work::{
    ChildWork, CopyWork, DownloadWork, FillWork, HostWork, KernelWork, PeerWork, UploadWork,
};
use super::{Graph, GraphBuffer, Node};
use crate::copy::same_len;
use crate::error::check;
use crate::launch::{Argument, NodeArguments};
use crate::{
    DeviceSlice, DeviceSliceMut, Error, Fill, Function, LaunchBuilder, LaunchConfig, Pod, Result,
    Status, sys,
};

/// A kernel for a graph: [`Graph::kernel_node`], an [`arg`](Self::arg) for each parameter in order,
/// [`add`](Self::add).
///
/// ```
/// # fn main() -> kernelmill::Result<()> {
/// # let context = kernelmill::Context::open("cpu")?;
/// # let config = kernelmill::LaunchConfig::for_num_elems(4);
/// # let source = "extern \"C\" __global__ void scale(int* data, int factor, int n) {
/// #     if (threadIdx.x < n) data[threadIdx.x] *= factor; }";
/// let scale = context.load_source(source)?.load_function("scale")?;
/// let mut data = context.alloc_zeros::<i32>(4)?;
/// let graph = context.new_graph()?;
/// let fill = graph.add_fill(&[], &mut data, 2)?;
/// let mut kernel = graph.kernel_node(&scale);
/// kernel.arg(&mut data).arg(&10i32).arg(&4i32);
/// // SAFETY: the kernel stays within the four elements, which only this graph uses.
/// unsafe { kernel.add(&[fill], config) }?;
/// let stream = context.default_stream()?;
/// graph.instantiate()?.launch(&stream)?;
/// assert_eq!(stream.clone_dtoh(&data)?, [20; 4]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct KernelNode<'a> {
    graph: &'a Graph,
    function: &'a Function,
    arguments: LaunchBuilder<'a>,
}

impl<'a> KernelNode<'a> {
    /// The next argument, as for [`LaunchBuilder::arg`].
    pub fn arg<A: Argument<'a>>(&mut self, argument: A) -> &mut Self {
        self.arguments.arg(argument);
        self
    }

    /// Adds the kernel to the graph, to run after other nodes. The graph keeps the function and the
    /// memory of the arguments. Never blocks. C: `km_graph_add_kernel`.
    ///
    /// # Safety
    ///
    /// It is a promise for each launch of what is made from the graph: the kernel stays within the
    /// memory of its arguments, which is not borrowed by others to be written while it runs, and
    /// does not race with other work on it.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_LAUNCH`] when shape or arguments do not fit the kernel or the
    /// device, [`Status::ERROR_INVALID_ARGUMENT`] when a dependency is no node of the graph or is
    /// named twice, [`Status::ERROR_CONTEXT_MISMATCH`] when something is of another context,
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub unsafe fn add(&mut self, dependencies: &[Node], config: LaunchConfig) -> Result<Node> {
        let config = config.native();
        let arguments = self.arguments.node_arguments()?;
        let work = self.work(&config, &arguments);
        // SAFETY: the arguments live through the call; what the kernel does is the caller's
        // promise.
        unsafe { self.graph.add(dependencies, &work, Vec::new()) }
    }

    /// Gives a node of the graph that is a kernel this function, shape and these arguments. What is
    /// instantiated stays as it was: see [`GraphExec::update_node`](crate::GraphExec::update_node).
    /// Never blocks. C: `km_graph_set_kernel`.
    ///
    /// # Safety
    ///
    /// That of [`add`](Self::add).
    ///
    /// # Errors
    ///
    /// Those of [`add`](Self::add), and [`Status::ERROR_INVALID_ARGUMENT`] when the node is of
    /// another kind.
    pub unsafe fn set(&mut self, node: Node, config: LaunchConfig) -> Result<()> {
        let config = config.native();
        let arguments = self.arguments.node_arguments()?;
        let work = self.work(&config, &arguments);
        // SAFETY: the arguments live through the call; what the kernel does is the caller's
        // promise.
        unsafe { self.graph.set(node, &work, Vec::new()) }
    }

    fn work(&self, config: &sys::km_launch_config, arguments: &NodeArguments) -> KernelWork {
        KernelWork {
            function: self.function.as_raw(),
            config,
            arguments: arguments.words.cast(),
            arguments_size_bytes: arguments.size_bytes,
            slices: arguments.slices.as_ptr(),
            slice_count: arguments.slices.len() as u64,
        }
    }
}

impl Graph {
    /// Begins a node that is a kernel.
    pub fn kernel_node<'a>(&'a self, function: &'a Function) -> KernelNode<'a> {
        KernelNode { graph: self, function, arguments: LaunchBuilder::without_stream(function) }
    }

    /// Adds a copy between as many elements of one context, to run after other nodes. The graph
    /// keeps the memory. Never blocks. C: `km_graph_add_copy`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`] when the lengths differ, or a dependency is no node of
    /// the graph or is named twice; [`Status::ERROR_CONTEXT_MISMATCH`] when something is of another
    /// context, [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub fn add_copy<T: Pod>(
        &self,
        dependencies: &[Node],
        source: &impl DeviceSlice<T>,
        destination: &mut impl DeviceSliceMut<T>,
    ) -> Result<Node> {
        let work = copy_work("add_copy", source, destination)?;
        // SAFETY: the work has no pointers.
        unsafe { self.add(dependencies, &work, Vec::new()) }
    }

    /// Gives a node that is a copy another source and destination. What is instantiated stays as it
    /// was: see [`GraphExec::update_node`](crate::GraphExec::update_node). Never blocks. C:
    /// `km_graph_set_copy`.
    ///
    /// # Errors
    ///
    /// Those of [`add_copy`](Self::add_copy), and [`Status::ERROR_INVALID_ARGUMENT`] when the node
    /// is of another kind.
    pub fn set_copy<T: Pod>(
        &self,
        node: Node,
        source: &impl DeviceSlice<T>,
        destination: &mut impl DeviceSliceMut<T>,
    ) -> Result<()> {
        let work = copy_work("set_copy", source, destination)?;
        // SAFETY: the work has no pointers.
        unsafe { self.set(node, &work, Vec::new()) }
    }

    /// Adds a copy between as many elements of contexts and devices of one backend. Never blocks.
    /// C: `km_graph_add_copy_peer`.
    ///
    /// # Errors
    ///
    /// Those of [`add_copy`](Self::add_copy), and [`Status::ERROR_NOT_SUPPORTED`] when the contexts
    /// are of different backends.
    pub fn add_copy_peer<T: Pod>(
        &self,
        dependencies: &[Node],
        source: &impl DeviceSlice<T>,
        destination: &mut impl DeviceSliceMut<T>,
    ) -> Result<Node> {
        let work = peer_work("add_copy_peer", source, destination)?;
        // SAFETY: the work has no pointers.
        unsafe { self.add(dependencies, &work, Vec::new()) }
    }

    /// Gives a node that is a copy between contexts another source and destination, as
    /// [`set_copy`](Self::set_copy) does. Never blocks. C: `km_graph_set_copy_peer`.
    ///
    /// # Errors
    ///
    /// Those of [`add_copy_peer`](Self::add_copy_peer), and [`Status::ERROR_INVALID_ARGUMENT`] when
    /// the node is of another kind.
    pub fn set_copy_peer<T: Pod>(
        &self,
        node: Node,
        source: &impl DeviceSlice<T>,
        destination: &mut impl DeviceSliceMut<T>,
    ) -> Result<()> {
        let work = peer_work("set_copy_peer", source, destination)?;
        // SAFETY: the work has no pointers.
        unsafe { self.set(node, &work, Vec::new()) }
    }

    /// Adds a copy from all of a buffer to as many elements on the device, which reads the buffer
    /// each time that it runs. The graph keeps both. Never blocks. C: `km_graph_add_upload`.
    ///
    /// # Errors
    ///
    /// Those of [`add_copy`](Self::add_copy).
    pub fn add_upload<T: Pod>(
        &self,
        dependencies: &[Node],
        source: &GraphBuffer<T>,
        destination: &mut impl DeviceSliceMut<T>,
    ) -> Result<Node> {
        let work = upload_work("add_upload", source, destination)?;
        // SAFETY: the buffer is kept, and nobody writes it while a launch reads it.
        unsafe { self.add(dependencies, &work, vec![Resource::Buffer(source.tracked())]) }
    }

    /// Gives a node that is an upload another source and destination, as
    /// [`set_copy`](Self::set_copy) does. Never blocks. C: `km_graph_set_upload`.
    ///
    /// # Errors
    ///
    /// Those of [`set_copy`](Self::set_copy).
    pub fn set_upload<T: Pod>(
        &self,
        node: Node,
        source: &GraphBuffer<T>,
        destination: &mut impl DeviceSliceMut<T>,
    ) -> Result<()> {
        let work = upload_work("set_upload", source, destination)?;
        // SAFETY: the buffer is kept, and nobody writes it while a launch reads it.
        unsafe { self.set(node, &work, vec![Resource::Buffer(source.tracked())]) }
    }

    /// Adds a copy from the device to all of a buffer of as many elements, which writes the buffer
    /// each time that it runs. The graph keeps both. Never blocks. C: `km_graph_add_download`.
    ///
    /// # Errors
    ///
    /// Those of [`add_copy`](Self::add_copy).
    pub fn add_download<T: Pod>(
        &self,
        dependencies: &[Node],
        source: &impl DeviceSlice<T>,
        destination: &GraphBuffer<T>,
    ) -> Result<Node> {
        let work = download_work("add_download", source, destination)?;
        // SAFETY: the buffer is kept, and nobody touches it while a launch writes it.
        unsafe { self.add(dependencies, &work, vec![Resource::Buffer(destination.tracked())]) }
    }

    /// Gives a node that is a download another source and destination, as
    /// [`set_copy`](Self::set_copy) does. Never blocks. C: `km_graph_set_download`.
    ///
    /// # Errors
    ///
    /// Those of [`set_copy`](Self::set_copy).
    pub fn set_download<T: Pod>(
        &self,
        node: Node,
        source: &impl DeviceSlice<T>,
        destination: &GraphBuffer<T>,
    ) -> Result<()> {
        let work = download_work("set_download", source, destination)?;
        // SAFETY: the buffer is kept, and nobody touches it while a launch writes it.
        unsafe { self.set(node, &work, vec![Resource::Buffer(destination.tracked())]) }
    }

    /// Adds a fill of all elements with a value. The graph keeps the memory. Never blocks. C:
    /// `km_graph_add_fill`.
    ///
    /// # Errors
    ///
    /// Those of [`add_copy`](Self::add_copy).
    pub fn add_fill<T: Fill>(
        &self,
        dependencies: &[Node],
        destination: &mut impl DeviceSliceMut<T>,
        value: T,
    ) -> Result<Node> {
        // SAFETY: the work has no pointers.
        unsafe { self.add(dependencies, &fill_work(destination, value), Vec::new()) }
    }

    /// Gives a node that is a fill another destination and value, as [`set_copy`](Self::set_copy)
    /// does. Never blocks. C: `km_graph_set_fill`.
    ///
    /// # Errors
    ///
    /// Those of [`set_copy`](Self::set_copy).
    pub fn set_fill<T: Fill>(
        &self,
        node: Node,
        destination: &mut impl DeviceSliceMut<T>,
        value: T,
    ) -> Result<()> {
        // SAFETY: the work has no pointers.
        unsafe { self.set(node, &fill_work(destination, value), Vec::new()) }
    }

    /// Adds a call of a host function, once for each time that the node runs, after errors too: on
    /// a thread of the library, with the error of the context if there is one. It may not make
    /// calls that wait; a panic in it ends there. The function is dropped when neither graphs nor
    /// launches use it any more, perhaps on a thread of the library. Never blocks. C:
    /// `km_graph_add_host`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`] when a dependency is no node of the graph or is named
    /// twice, [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub fn add_host<F>(&self, dependencies: &[Node], callback: F) -> Result<Node>
    where
        F: Fn(Result<()>) + Send + Sync + 'static,
    {
        let (work, callback) = host_work(callback);
        // SAFETY: the function is kept, and is what run_host_node::<F> takes.
        unsafe { self.add(dependencies, &work, vec![callback]) }
    }

    /// Gives a node that is a call of a host function another function, as
    /// [`set_copy`](Self::set_copy) does. Never blocks. C: `km_graph_set_host`.
    ///
    /// # Errors
    ///
    /// Those of [`add_host`](Self::add_host), and [`Status::ERROR_INVALID_ARGUMENT`] when the node
    /// is of another kind.
    pub fn set_host<F>(&self, node: Node, callback: F) -> Result<()>
    where
        F: Fn(Result<()>) + Send + Sync + 'static,
    {
        let (work, callback) = host_work(callback);
        // SAFETY: the function is kept, and is what run_host_node::<F> takes.
        unsafe { self.set(node, &work, vec![callback]) }
    }

    /// Adds a node that does nothing but join and fork. Never blocks. C: `km_graph_add_empty`.
    ///
    /// # Errors
    ///
    /// Those of [`add_host`](Self::add_host).
    pub fn add_empty(&self, dependencies: &[Node]) -> Result<Node> {
        let (first, count) = (dependencies.as_ptr().cast(), dependencies.len() as u64);
        let mut node = 0;
        // SAFETY: a Node is a number, there are `count` of them, and the out-parameter lives
        // through the call.
        check(unsafe { sys::km_graph_add_empty(self.as_raw(), first, count, &mut node) })?;
        Ok(Node(node))
    }

    /// Adds a whole graph as it is now: later changes of it are not seen. Never blocks. C:
    /// `km_graph_add_child`.
    ///
    /// # Errors
    ///
    /// Those of [`add_copy`](Self::add_copy), and [`Status::ERROR_INVALID_ARGUMENT`] when the child
    /// is the graph itself.
    pub fn add_child(&self, dependencies: &[Node], child: &Graph) -> Result<Node> {
        let (work, resources, _copy) = self.child_work(child)?;
        // SAFETY: the work has no pointers, and what the child uses is kept.
        unsafe { self.add(dependencies, &work, resources) }
    }

    /// Gives a node that is a graph another one, as [`set_copy`](Self::set_copy) does. Never
    /// blocks. C: `km_graph_set_child`.
    ///
    /// # Errors
    ///
    /// Those of [`add_child`](Self::add_child), and [`Status::ERROR_INVALID_ARGUMENT`] when the
    /// node is of another kind.
    pub fn set_child(&self, node: Node, child: &Graph) -> Result<()> {
        let (work, resources, _copy) = self.child_work(child)?;
        // SAFETY: the work has no pointers, and what the child uses is kept.
        unsafe { self.set(node, &work, resources) }
    }

    /// The work of a child and what it uses, and the copy of it that is added: nobody changes that
    /// one meanwhile. The graph itself is left to the library, which refuses it.
    fn child_work(&self, child: &Graph) -> Result<(ChildWork, Vec<Resource>, Option<Graph>)> {
        if child.as_raw() == self.as_raw() {
            return Ok((ChildWork { child: child.as_raw() }, Vec::new(), None));
        }
        let copy = child.try_clone()?;
        let resources = flatten(&copy.lock());
        Ok((ChildWork { child: copy.as_raw() }, resources, Some(copy)))
    }
}

fn copy_work<T: Pod>(
    call: &str,
    source: &impl DeviceSlice<T>,
    destination: &mut impl DeviceSliceMut<T>,
) -> Result<CopyWork> {
    let (from, to) = (source.place(), destination.place());
    same_len(call, from.len, to.len)?;
    Ok(CopyWork {
        destination: to.slice,
        destination_offset_bytes: to.offset_bytes,
        source: from.slice,
        source_offset_bytes: from.offset_bytes,
        size_bytes: source.size_bytes() as u64,
    })
}

fn peer_work<T: Pod>(
    call: &str,
    source: &impl DeviceSlice<T>,
    destination: &mut impl DeviceSliceMut<T>,
) -> Result<PeerWork> {
    let (from, to) = (source.place(), destination.place());
    same_len(call, from.len, to.len)?;
    Ok(PeerWork {
        destination: to.slice,
        destination_offset_bytes: to.offset_bytes,
        source: from.slice,
        source_offset_bytes: from.offset_bytes,
        size_bytes: source.size_bytes() as u64,
    })
}

fn upload_work<T: Pod>(
    call: &str,
    source: &GraphBuffer<T>,
    destination: &mut impl DeviceSliceMut<T>,
) -> Result<UploadWork> {
    let to = destination.place();
    same_len(call, source.len(), to.len)?;
    Ok(UploadWork {
        destination: to.slice,
        offset_bytes: to.offset_bytes,
        source: source.pointer().cast_const().cast(),
        size_bytes: destination.size_bytes() as u64,
    })
}

fn download_work<T: Pod>(
    call: &str,
    source: &impl DeviceSlice<T>,
    destination: &GraphBuffer<T>,
) -> Result<DownloadWork> {
    let from = source.place();
    same_len(call, from.len, destination.len())?;
    Ok(DownloadWork {
        source: from.slice,
        offset_bytes: from.offset_bytes,
        destination: destination.pointer().cast(),
        size_bytes: source.size_bytes() as u64,
    })
}

fn fill_work<T: Fill>(destination: &mut impl DeviceSliceMut<T>, value: T) -> FillWork {
    let place = destination.place();
    let (value, value_size_bytes) = value.bits();
    FillWork {
        slice: place.slice,
        offset_bytes: place.offset_bytes,
        value,
        value_size_bytes,
        count: place.len as u64,
    }
}

/// A host function for a node, and what keeps it.
pub(super) fn host_work<F>(callback: F) -> (HostWork, Resource)
where
    F: Fn(Result<()>) + Send + Sync + 'static,
{
    let callback = Arc::new(callback);
    let data = Arc::as_ptr(&callback).cast_mut().cast();
    (HostWork { callback: Some(run_host_node::<F>), data }, Resource::Callback(callback))
}

unsafe extern "C" fn run_host_node<F: Fn(Result<()>)>(data: *mut c_void, status: Status) {
    // SAFETY: host_work() gave it, and graphs keep it while the node may run.
    let callback = unsafe { &*data.cast_const().cast::<F>() };
    let result = match status {
        Status::SUCCESS => Ok(()),
        failed => Err(Error::from_status(failed)),
    };
    // A panic has been reported by its hook, and must not unwind into the library.
    let _ = catch_unwind(AssertUnwindSafe(|| callback(result)));
}
