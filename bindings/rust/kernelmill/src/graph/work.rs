//! The work of nodes, in the form that the library takes.

use std::ffi::c_void;

use super::keep::{Resource, put};
use super::{Graph, Node};
use crate::error::check;
use crate::{Result, Status, sys};

/// The parameters of a node of one kind.
pub(super) trait Work {
    /// # Safety
    ///
    /// All pointers of the work and of the call are valid; those that the graph uses later stay so
    /// while it can run.
    unsafe fn add(&self, graph: sys::km_graph, dependencies: &[Node], out_node: &mut u64)
    -> Status;

    /// # Safety
    ///
    /// That of [`add`](Self::add).
    unsafe fn set(&self, graph: sys::km_graph, node: Node) -> Status;
}

/// A kind of node whose calls take these fields in this order.
macro_rules! work {
    ($name:ident { $($field:ident: $type:ty),* }, $add:ident, $set:ident) => {
        pub(super) struct $name {
            $(pub $field: $type),*
        }

        impl Work for $name {
            unsafe fn add(
                &self,
                graph: sys::km_graph,
                dependencies: &[Node],
                out_node: &mut u64,
            ) -> Status {
                let (first, count) = (dependencies.as_ptr().cast(), dependencies.len() as u64);
                // SAFETY: the caller promises it. A Node is a number.
                unsafe { sys::$add(graph, first, count, $(self.$field,)* out_node) }
            }

            unsafe fn set(&self, graph: sys::km_graph, node: Node) -> Status {
                // SAFETY: the caller promises it.
                unsafe { sys::$set(graph, node.0, $(self.$field),*) }
            }
        }
    };
}

work! {
    KernelWork {
        function: sys::km_function,
        config: *const sys::km_launch_config,
        arguments: *const c_void,
        arguments_size_bytes: u64,
        slices: *const sys::km_launch_slice,
        slice_count: u64
    },
    km_graph_add_kernel, km_graph_set_kernel
}
work! {
    CopyWork {
        destination: sys::km_slice,
        destination_offset_bytes: u64,
        source: sys::km_slice,
        source_offset_bytes: u64,
        size_bytes: u64
    },
    km_graph_add_copy, km_graph_set_copy
}
work! {
    PeerWork {
        destination: sys::km_slice,
        destination_offset_bytes: u64,
        source: sys::km_slice,
        source_offset_bytes: u64,
        size_bytes: u64
    },
    km_graph_add_copy_peer, km_graph_set_copy_peer
}
work! {
    UploadWork {
        destination: sys::km_slice,
        offset_bytes: u64,
        source: *const c_void,
        size_bytes: u64
    },
    km_graph_add_upload, km_graph_set_upload
}
work! {
    DownloadWork {
        source: sys::km_slice,
        offset_bytes: u64,
        destination: *mut c_void,
        size_bytes: u64
    },
    km_graph_add_download, km_graph_set_download
}
work! {
    FillWork {
        slice: sys::km_slice,
        offset_bytes: u64,
        value: u32,
        value_size_bytes: u32,
        count: u64
    },
    km_graph_add_fill, km_graph_set_fill
}
work! {
    HostWork { callback: sys::km_host_callback, data: *mut c_void },
    km_graph_add_host, km_graph_set_host
}
work! {
    ChildWork { child: sys::km_graph },
    km_graph_add_child, km_graph_set_child
}
work! {
    Copy3dWork {
        destination: sys::km_slice,
        source: sys::km_slice,
        shape: *const sys::km_copy_3d
    },
    km_graph_add_copy_3d, km_graph_set_copy_3d
}
work! {
    Upload3dWork {
        destination: sys::km_slice,
        source: *const c_void,
        shape: *const sys::km_copy_3d
    },
    km_graph_add_upload_3d, km_graph_set_upload_3d
}
work! {
    Download3dWork {
        source: sys::km_slice,
        destination: *mut c_void,
        shape: *const sys::km_copy_3d
    },
    km_graph_add_download_3d, km_graph_set_download_3d
}
work! {
    Fill2dWork {
        slice: sys::km_slice,
        offset_bytes: u64,
        pitch_bytes: u64,
        value: u32,
        value_size_bytes: u32,
        width: u64,
        height: u64
    },
    km_graph_add_fill_2d, km_graph_set_fill_2d
}

impl Graph {
    /// Adds a node that uses these resources.
    ///
    /// # Safety
    ///
    /// All pointers of the work are valid; those that the graph uses later are kept by the
    /// resources.
    pub(super) unsafe fn add(
        &self,
        dependencies: &[Node],
        work: &impl Work,
        resources: Vec<Resource>,
    ) -> Result<Node> {
        let mut keep = self.lock();
        let mut node = 0;
        // SAFETY: the caller promises it, and the graph keeps the resources from here on.
        check(unsafe { work.add(self.as_raw(), dependencies, &mut node) })?;
        let none = put(&mut keep, node, resources); // numbers are not used again
        drop(keep);
        drop(none);
        Ok(Node(node))
    }

    /// Gives a node other parameters and resources.
    ///
    /// # Safety
    ///
    /// That of [`add`](Self::add).
    pub(super) unsafe fn set(
        &self,
        node: Node,
        work: &impl Work,
        resources: Vec<Resource>,
    ) -> Result<()> {
        let mut keep = self.lock();
        // SAFETY: the caller promises it, and the graph keeps the resources from here on.
        check(unsafe { work.set(self.as_raw(), node) })?;
        let old = put(&mut keep, node.0, resources);
        drop(keep);
        drop(old);
        Ok(())
    }
}
