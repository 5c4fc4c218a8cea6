package kernelmill

import (
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// NodeKind is what a node does.
type NodeKind int32

// The kinds of nodes.
const (
	NodeKernel     NodeKind = raw.GRAPH_NODE_KERNEL
	NodeCopy       NodeKind = raw.GRAPH_NODE_COPY
	NodeUpload     NodeKind = raw.GRAPH_NODE_UPLOAD
	NodeDownload   NodeKind = raw.GRAPH_NODE_DOWNLOAD
	NodeFill       NodeKind = raw.GRAPH_NODE_FILL
	NodeHost       NodeKind = raw.GRAPH_NODE_HOST
	NodeEmpty      NodeKind = raw.GRAPH_NODE_EMPTY
	NodeChild      NodeKind = raw.GRAPH_NODE_CHILD
	NodeCopy3D     NodeKind = raw.GRAPH_NODE_COPY_3D
	NodeUpload3D   NodeKind = raw.GRAPH_NODE_UPLOAD_3D
	NodeDownload3D NodeKind = raw.GRAPH_NODE_DOWNLOAD_3D
	NodeFill2D     NodeKind = raw.GRAPH_NODE_FILL_2D
	NodeCopyPeer   NodeKind = raw.GRAPH_NODE_COPY_PEER
	NodeBLAS       NodeKind = raw.GRAPH_NODE_BLAS
	NodeLibrary    NodeKind = raw.GRAPH_NODE_LIBRARY    // of transforms, sparse matrices or solvers
	NodeMemoryOps  NodeKind = raw.GRAPH_NODE_MEMORY_OPS // a number that is written or waited for
)

// NodeInfo has the parameters of a node; those that its kind has not are 0.
type NodeInfo struct {
	Kind               NodeKind
	DependencyCount    uint64
	DependentCount     uint64
	Grid               [3]uint32
	Block              [3]uint32
	SharedBytes        uint64
	ArgumentsSizeBytes uint64
	Destination        uint64 // a device address, or one of the host
	Source             uint64
	SizeBytes          uint64
	Value              uint32 // of a fill
	ValueSizeBytes     uint32
}

// NodeInfo gives kind and parameters of a node.
func (g *Graph) NodeInfo(node Node) (NodeInfo, error) {
	info := raw.GraphNodeInfo{StructSize: uint32(unsafe.Sizeof(raw.GraphNodeInfo{}))}
	err := g.base().call("Graph.NodeInfo", func(id uint64) *raw.Failure {
		return raw.Km_graph_node_info_get(id, uint64(node), unsafe.Pointer(&info))
	})
	return NodeInfo{NodeKind(info.Kind), info.DependencyCount, info.DependentCount, info.Grid,
		info.Block, info.SharedBytes, info.ArgumentsSizeBytes, info.Destination, info.Source,
		info.SizeBytes, info.Value, info.ValueSizeBytes}, err
}

// NodeArguments gives the arguments of a kernel's node, laid out as [Function.Parameters] says, with
// the addresses of slices in place.
func (g *Graph) NodeArguments(node Node) ([]byte, error) {
	return list(g.base(), "Graph.NodeArguments", byte(0),
		func(id, capacity uint64, out, outSize unsafe.Pointer) *raw.Failure {
			return raw.Km_graph_node_arguments(id, uint64(node), out, capacity, outSize)
		})
}

// NodeFunction gives the function of a kernel's node, to be closed on its own.
func (g *Graph) NodeFunction(node Node) (*Function, error) {
	id, err := get[uint64](g.base(), "Graph.NodeFunction",
		func(id uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_graph_node_function(id, uint64(node), out)
		})
	if err != nil {
		return nil, err
	}
	return openFunction(id, "")
}

// NodeChild gives a copy of a child node's graph.
func (g *Graph) NodeChild(node Node) (*Graph, error) {
	id, err := get[uint64](g.base(), "Graph.NodeChild",
		func(id uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_graph_node_child(id, uint64(node), out)
		})
	if err != nil {
		return nil, err
	}
	child := newGraph(id)
	keep := g.kept()
	child.keep[capturedNodes] = append(keep[node], keep[capturedNodes]...)
	return child, nil
}

// NodeRows gives the rows of a node that is a copy or fill of rows. Its offsets are 0: destination
// and source of [Graph.NodeInfo] are those of the first row.
func (g *Graph) NodeRows(node Node) (Rows, error) {
	rows, err := get[raw.Copy3d](g.base(), "Graph.NodeRows",
		func(id uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_graph_node_rows(id, uint64(node), out)
		})
	return Rows(rows), err
}
