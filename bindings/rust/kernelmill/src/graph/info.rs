//! Descriptions of nodes.

use std::mem::size_of;
use std::ptr::null_mut;

use super::{Graph, Node};
use crate::error::check;
use crate::{Result, Status, sys};

/// The kind of a node, [`km_graph_node_kind`](sys::km_graph_node_kind).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NodeKind {
    /// A launch of a kernel.
    Kernel,
    /// A copy within the device.
    Copy,
    /// A copy from the host.
    Upload,
    /// A copy to the host.
    Download,
    /// A fill.
    Fill,
    /// A call of a host function.
    Host,
    /// Nothing but a join and a fork.
    Empty,
    /// A whole graph.
    Child,
    /// A copy of rows within the device.
    Copy3d,
    /// A copy of rows from the host.
    Upload3d,
    /// A copy of rows to the host.
    Download3d,
    /// A fill of rows.
    Fill2d,
    /// A copy between contexts.
    CopyPeer,
    /// A call of linear algebra.
    Blas,
    /// A call of another library: of transforms, sparse matrices or solvers.
    Library,
    /// A number that is written or waited for.
    MemoryOps,
    /// A kind that this version of the crate does not know.
    Unknown,
}

impl From<sys::km_graph_node_kind> for NodeKind {
    fn from(kind: sys::km_graph_node_kind) -> Self {
        use sys::km_graph_node_kind as Kind;
        match kind {
            Kind::GRAPH_NODE_KERNEL => Self::Kernel,
            Kind::GRAPH_NODE_COPY => Self::Copy,
            Kind::GRAPH_NODE_UPLOAD => Self::Upload,
            Kind::GRAPH_NODE_DOWNLOAD => Self::Download,
            Kind::GRAPH_NODE_FILL => Self::Fill,
            Kind::GRAPH_NODE_HOST => Self::Host,
            Kind::GRAPH_NODE_EMPTY => Self::Empty,
            Kind::GRAPH_NODE_CHILD => Self::Child,
            Kind::GRAPH_NODE_COPY_3D => Self::Copy3d,
            Kind::GRAPH_NODE_UPLOAD_3D => Self::Upload3d,
            Kind::GRAPH_NODE_DOWNLOAD_3D => Self::Download3d,
            Kind::GRAPH_NODE_FILL_2D => Self::Fill2d,
            Kind::GRAPH_NODE_COPY_PEER => Self::CopyPeer,
            Kind::GRAPH_NODE_BLAS => Self::Blas,
            Kind::GRAPH_NODE_LIBRARY => Self::Library,
            Kind::GRAPH_NODE_MEMORY_OPS => Self::MemoryOps,
            _ => Self::Unknown,
        }
    }
}

/// Kind and parameters of a node: [`Graph::node_info`]. What its kind does not have is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeInfo {
    /// Its kind.
    pub kind: NodeKind,
    /// How many nodes it runs after.
    pub dependency_count: u64,
    /// How many nodes run after it.
    pub dependent_count: u64,
    /// Blocks of a kernel along x, y, z.
    pub grid_dim: [u32; 3],
    /// Threads of a block along x, y, z.
    pub block_dim: [u32; 3],
    /// Dynamic shared memory of a block.
    pub shared_mem_bytes: u64,
    /// The size of a kernel's arguments.
    pub arguments_size_bytes: u64,
    /// The address that a copy or fill writes, of the device or of the host.
    pub destination: u64,
    /// The address that a copy reads, of the device or of the host.
    pub source: u64,
    /// How much a copy or fill writes.
    pub size_bytes: u64,
    /// The bits of a fill's value.
    pub value: u32,
    /// The size of a fill's value.
    pub value_size_bytes: u32,
}

/// The rows of a node: [`Graph::node_rows`]. The first row lies at
/// [`NodeInfo::destination`] and [`NodeInfo::source`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeRows {
    /// The size of a row.
    pub width_bytes: u64,
    /// Rows of a layer.
    pub height: u64,
    /// Layers.
    pub depth: u64,
    /// From row to row of the destination.
    pub destination_pitch_bytes: u64,
    /// From layer to layer of the destination, in rows.
    pub destination_layer_rows: u64,
    /// From row to row of the source; a fill has none.
    pub source_pitch_bytes: u64,
    /// From layer to layer of the source, in rows.
    pub source_layer_rows: u64,
}

impl Graph {
    /// Kind and parameters of a node. Never blocks. C: `km_graph_node_info_get`.
    ///
    /// ```
    /// # fn main() -> kernelmill::Result<()> {
    /// # let context = kernelmill::Context::open("cpu")?;
    /// use kernelmill::NodeKind;
    /// let graph = context.new_graph()?;
    /// let mut slice = context.alloc::<u16>(10)?;
    /// let fill = graph.add_fill(&[], &mut slice, 7u16)?;
    /// let info = graph.node_info(fill)?;
    /// assert_eq!((info.kind, info.value, info.size_bytes), (NodeKind::Fill, 7, 20));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`] when the graph has no such node,
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub fn node_info(&self, node: Node) -> Result<NodeInfo> {
        let mut info = sys::km_graph_node_info {
            struct_size: size_of::<sys::km_graph_node_info>() as u32,
            ..Default::default()
        };
        // SAFETY: the structure says its size.
        check(unsafe { sys::km_graph_node_info_get(self.as_raw(), node.id(), &mut info) })?;
        Ok(NodeInfo {
            kind: info.kind.into(),
            dependency_count: info.dependency_count,
            dependent_count: info.dependent_count,
            grid_dim: info.grid,
            block_dim: info.block,
            shared_mem_bytes: info.shared_bytes,
            arguments_size_bytes: info.arguments_size_bytes,
            destination: info.destination,
            source: info.source,
            size_bytes: info.size_bytes,
            value: info.value,
            value_size_bytes: info.value_size_bytes,
        })
    }

    /// The arguments of a kernel's node, at the places that [`Function::params`](crate::Function)
    /// says, with the addresses of slices in place. Never blocks. C: `km_graph_node_arguments`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`] when the graph has no such node that is a kernel,
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub fn node_arguments(&self, node: Node) -> Result<Vec<u8>> {
        let get = |buffer: *mut u8, capacity: u64, size: &mut u64| {
            let (graph, buffer) = (self.as_raw(), buffer.cast());
            // SAFETY: there is room for `capacity` bytes.
            unsafe { sys::km_graph_node_arguments(graph, node.id(), buffer, capacity, size) }
        };
        loop {
            let mut size = 0;
            check(get(null_mut(), 0, &mut size))?;
            let mut bytes = vec![0u8; size as usize];
            match get(bytes.as_mut_ptr(), size, &mut size) {
                Status::ERROR_BUFFER_TOO_SMALL => continue, // another thread set a larger kernel
                status => check(status)?,
            }
            bytes.truncate(size as usize);
            return Ok(bytes);
        }
    }

    /// The rows of a node that copies or fills rows. Never blocks. C: `km_graph_node_rows`.
    ///
    /// # Errors
    ///
    /// [`Status::ERROR_INVALID_ARGUMENT`] when the graph has no such node of such a kind,
    /// [`Status::ERROR_CONTEXT_LOST`] when the context was reset.
    pub fn node_rows(&self, node: Node) -> Result<NodeRows> {
        let mut rows = sys::km_copy_3d::default();
        // SAFETY: handles are checked ids, and the out-parameter lives through the call.
        check(unsafe { sys::km_graph_node_rows(self.as_raw(), node.id(), &mut rows) })?;
        Ok(NodeRows {
            width_bytes: rows.width_bytes,
            height: rows.height,
            depth: rows.depth,
            destination_pitch_bytes: rows.destination_pitch_bytes,
            destination_layer_rows: rows.destination_layer_rows,
            source_pitch_bytes: rows.source_pitch_bytes,
            source_layer_rows: rows.source_layer_rows,
        })
    }
}
