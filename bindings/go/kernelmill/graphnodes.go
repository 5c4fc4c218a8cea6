package kernelmill

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/internal/callback"
	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// nodeWork is what a node does, in the two forms that the library takes it: to add a node after
// others, and to give a node that is there other parameters.
type nodeWork struct {
	add       func(graph uint64, after unsafe.Pointer, count uint64, out unsafe.Pointer) *raw.Failure
	set       func(graph, node uint64) *raw.Failure
	functions []*hostFunction
	objects   []*object // used until the call is made
}

// addNode adds a node that runs after others.
func (g *Graph) addNode(op string, after []Node, work *nodeWork, err error) (Node, error) {
	if _, closed := g.base().use(op); closed != nil {
		return 0, closed
	}
	if err != nil {
		return 0, err
	}
	node, err := get[Node](g.base(), op, func(id uint64, out unsafe.Pointer) *raw.Failure {
		return work.add(id, unsafe.Pointer(unsafe.SliceData(after)), uint64(len(after)), out)
	})
	runtime.KeepAlive(work)
	if err == nil {
		g.put(node, work.functions)
	}
	return node, err
}

// setNode gives a node other parameters.
func (g *Graph) setNode(op string, node Node, work *nodeWork, err error) error {
	if _, closed := g.base().use(op); closed != nil {
		return closed
	}
	if err != nil {
		return err
	}
	err = g.base().call(op, func(id uint64) *raw.Failure { return work.set(id, uint64(node)) })
	runtime.KeepAlive(work)
	if err == nil {
		g.put(node, work.functions)
	}
	return err
}

// AddKernel adds the kernel of a launch that was put together but not submitted: its function,
// shape and arguments. Its stream does not count. The graph keeps function and memory.
func (g *Graph) AddKernel(launch *LaunchBuilder, after ...Node) (Node, error) {
	const op = "Graph.AddKernel"
	work, err := launch.nodeWork(op)
	return g.addNode(op, after, work, err)
}

// SetKernel gives a node that is a kernel the function, shape and arguments of a launch. What is
// instantiated stays as it was: see [GraphExec.UpdateNode].
func (g *Graph) SetKernel(node Node, launch *LaunchBuilder) error {
	const op = "Graph.SetKernel"
	work, err := launch.nodeWork(op)
	return g.setNode(op, node, work, err)
}

// nodeWork is the launch as a node.
func (l *LaunchBuilder) nodeWork(op string) (*nodeWork, error) {
	if l == nil {
		return nil, nilError(op, "the launch")
	}
	if err := l.complete(op); err != nil {
		return nil, err
	}
	if l.isSpecial() {
		return nil, fail(op, ErrNotSupported, "nodes have no clusters and are not cooperative: "+
			"capture the launch")
	}
	function, err := l.function.base().useArgument(op, "the function")
	if err != nil {
		return nil, err
	}
	slices := make([]raw.LaunchSlice, len(l.operands))
	for i, operand := range l.operands {
		slices[i] = raw.LaunchSlice{Parameter: operand.Parameter, Slice: operand.Slice,
			OffsetBytes: operand.OffsetBytes}
	}
	config, arguments := unsafe.Pointer(l.config), unsafe.Pointer(unsafe.SliceData(l.arguments))
	size, first := uint64(len(l.arguments)), unsafe.Pointer(unsafe.SliceData(slices))
	count := uint64(len(slices))
	return &nodeWork{
		add: func(id uint64, after unsafe.Pointer, n uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_graph_add_kernel(id, after, n, function, config, arguments, size, first,
				count, out)
		},
		set: func(id, node uint64) *raw.Failure {
			return raw.Km_graph_set_kernel(id, node, function, config, arguments, size, first, count)
		},
		objects: append([]*object{l.function.base()}, l.kept...),
	}, nil
}

// AddCopy adds a copy of all elements of a slice to the beginning of another one.
func (g *Graph) AddCopy(destination, source Memory, after ...Node) (Node, error) {
	const op = "Graph.AddCopy"
	work, err := copyWork(op, destination, source, raw.Km_graph_add_copy, raw.Km_graph_set_copy)
	return g.addNode(op, after, work, err)
}

// SetCopy gives a node that is a copy another source and destination.
func (g *Graph) SetCopy(node Node, destination, source Memory) error {
	const op = "Graph.SetCopy"
	work, err := copyWork(op, destination, source, raw.Km_graph_add_copy, raw.Km_graph_set_copy)
	return g.setNode(op, node, work, err)
}

// AddCopyPeer adds a copy between contexts and devices of one backend.
func (g *Graph) AddCopyPeer(destination, source Memory, after ...Node) (Node, error) {
	const op = "Graph.AddCopyPeer"
	work, err := copyWork(op, destination, source, raw.Km_graph_add_copy_peer,
		raw.Km_graph_set_copy_peer)
	return g.addNode(op, after, work, err)
}

// SetCopyPeer gives a node that is a copy between contexts another source and destination.
func (g *Graph) SetCopyPeer(node Node, destination, source Memory) error {
	const op = "Graph.SetCopyPeer"
	work, err := copyWork(op, destination, source, raw.Km_graph_add_copy_peer,
		raw.Km_graph_set_copy_peer)
	return g.setNode(op, node, work, err)
}

// pairOf gives the handles of two slices.
func pairOf(op string, destination, source Memory) (to, from uint64, err error) {
	if to, err = baseOf(destination).useArgument(op, "the destination"); err != nil {
		return 0, 0, err
	}
	from, err = baseOf(source).useArgument(op, "the source")
	return to, from, err
}

func copyWork(op string, destination, source Memory,
	add func(id uint64, after unsafe.Pointer, count, to, toOffset, from, fromOffset, size uint64,
		out unsafe.Pointer) *raw.Failure,
	set func(id, node, to, toOffset, from, fromOffset, size uint64) *raw.Failure,
) (*nodeWork, error) {
	to, from, err := pairOf(op, destination, source)
	if err != nil {
		return nil, err
	}
	size := source.sizeBytes()
	return &nodeWork{
		add: func(id uint64, after unsafe.Pointer, n uint64, out unsafe.Pointer) *raw.Failure {
			return add(id, after, n, to, 0, from, 0, size, out)
		},
		set: func(id, node uint64) *raw.Failure {
			return set(id, node, to, 0, from, 0, size)
		},
		objects: []*object{destination.base(), source.base()},
	}, nil
}

// PinnedMemory is page-locked memory of any element type: every *[HostMemory].
type PinnedMemory interface {
	base() *object
	Len() int
	place(op string) (unsafe.Pointer, uint64, error)
}

// place is where memory lies that a graph can keep, and its size.
func (m *HostMemory[T]) place(op string) (unsafe.Pointer, uint64, error) {
	if _, err := m.base().useArgument(op, "the host memory"); err != nil {
		return nil, 0, err
	}
	if m.pinner != nil {
		return nil, 0, fail(op, ErrNotSupported, "the host memory is registered, and graphs keep "+
			"only memory of the library: NewHostMemory")
	}
	pointer, err := get[unsafe.Pointer](m.base(), op, raw.Km_host_memory_pointer)
	return pointer, uint64(m.length) * sizeOf[T](), err
}

func placeOf(op string, memory PinnedMemory) (unsafe.Pointer, uint64, error) {
	if memory == nil {
		return nil, 0, nilError(op, "the host memory")
	}
	return memory.place(op)
}

// AddUpload adds a copy of all page-locked memory to the beginning of a slice, which reads it each
// time that the graph runs. The graph keeps the memory, also when it is closed.
func (g *Graph) AddUpload(destination Memory, source PinnedMemory, after ...Node) (Node, error) {
	const op = "Graph.AddUpload"
	work, err := hostCopyWork(op, destination, source, raw.Km_graph_add_upload,
		raw.Km_graph_set_upload)
	return g.addNode(op, after, work, err)
}

// SetUpload gives a node that is an upload another source and destination.
func (g *Graph) SetUpload(node Node, destination Memory, source PinnedMemory) error {
	const op = "Graph.SetUpload"
	work, err := hostCopyWork(op, destination, source, raw.Km_graph_add_upload,
		raw.Km_graph_set_upload)
	return g.setNode(op, node, work, err)
}

// AddDownload adds a copy of a slice's first elements to page-locked memory, which writes it each
// time that the graph runs.
func (g *Graph) AddDownload(destination PinnedMemory, source Memory, after ...Node) (Node, error) {
	const op = "Graph.AddDownload"
	work, err := hostCopyWork(op, source, destination, raw.Km_graph_add_download,
		raw.Km_graph_set_download)
	return g.addNode(op, after, work, err)
}

// SetDownload gives a node that is a download another source and destination.
func (g *Graph) SetDownload(node Node, destination PinnedMemory, source Memory) error {
	const op = "Graph.SetDownload"
	work, err := hostCopyWork(op, source, destination, raw.Km_graph_add_download,
		raw.Km_graph_set_download)
	return g.setNode(op, node, work, err)
}

func hostCopyWork(op string, slice Memory, memory PinnedMemory,
	add func(id uint64, after unsafe.Pointer, count, slice, offset uint64, host unsafe.Pointer,
		size uint64, out unsafe.Pointer) *raw.Failure,
	set func(id, node, slice, offset uint64, host unsafe.Pointer, size uint64) *raw.Failure,
) (*nodeWork, error) {
	sliceID, err := baseOf(slice).useArgument(op, "the slice")
	if err != nil {
		return nil, err
	}
	pointer, size, err := placeOf(op, memory)
	if err != nil {
		return nil, err
	}
	return &nodeWork{
		add: func(id uint64, after unsafe.Pointer, n uint64, out unsafe.Pointer) *raw.Failure {
			return add(id, after, n, sliceID, 0, pointer, size, out)
		},
		set: func(id, node uint64) *raw.Failure {
			return set(id, node, sliceID, 0, pointer, size)
		},
		objects: []*object{slice.base(), memory.base()},
	}, nil
}

// AddFill adds a fill of a slice with a number of 1, 2 or 4 bytes, as often as it fits.
func (g *Graph) AddFill(slice Memory, value uint32, valueBytes int, after ...Node) (Node, error) {
	const op = "Graph.AddFill"
	work, err := fillWork(op, slice, value, valueBytes)
	return g.addNode(op, after, work, err)
}

// SetFill gives a node that is a fill another slice and number.
func (g *Graph) SetFill(node Node, slice Memory, value uint32, valueBytes int) error {
	const op = "Graph.SetFill"
	work, err := fillWork(op, slice, value, valueBytes)
	return g.setNode(op, node, work, err)
}

func fillWork(op string, slice Memory, value uint32, valueBytes int) (*nodeWork, error) {
	sliceID, err := baseOf(slice).useArgument(op, "the slice")
	if err != nil {
		return nil, err
	}
	if valueBytes != 1 && valueBytes != 2 && valueBytes != 4 {
		return nil, fail(op, ErrInvalidArgument, fmt.Sprintf(
			"values of %d bytes: there are those of 1, 2 and 4", valueBytes))
	}
	size, count := uint32(valueBytes), slice.sizeBytes()/uint64(valueBytes)
	return &nodeWork{
		add: func(id uint64, after unsafe.Pointer, n uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_graph_add_fill(id, after, n, sliceID, 0, value, size, count, out)
		},
		set: func(id, node uint64) *raw.Failure {
			return raw.Km_graph_set_fill(id, node, sliceID, 0, value, size, count)
		},
		objects: []*object{slice.base()},
	}, nil
}

// AddHost adds a call of a function, which is made each time that the graph runs, under the rules of
// [Stream.AddCallback].
func (g *Graph) AddHost(call func(error), after ...Node) (Node, error) {
	const op = "Graph.AddHost"
	work, err := hostWork(op, call)
	return g.addNode(op, after, work, err)
}

// SetHost gives a node that calls a function another one.
func (g *Graph) SetHost(node Node, call func(error)) error {
	const op = "Graph.SetHost"
	work, err := hostWork(op, call)
	return g.setNode(op, node, work, err)
}

func hostWork(op string, call func(error)) (*nodeWork, error) {
	if call == nil {
		return nil, nilError(op, "the function")
	}
	function := newHostFunction(op, call)
	return &nodeWork{
		add: func(id uint64, after unsafe.Pointer, n uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_graph_add_host(id, after, n, callback.Host, function.userData, out)
		},
		set: func(id, node uint64) *raw.Failure {
			return raw.Km_graph_set_host(id, node, callback.Host, function.userData)
		},
		functions: []*hostFunction{function},
	}, nil
}

// AddEmpty adds a node that does nothing but join and fork.
func (g *Graph) AddEmpty(after ...Node) (Node, error) {
	return g.addNode("Graph.AddEmpty", after, &nodeWork{add: raw.Km_graph_add_empty}, nil)
}

// AddChild adds a whole graph as it is now: later changes of it are not seen.
func (g *Graph) AddChild(child *Graph, after ...Node) (Node, error) {
	const op = "Graph.AddChild"
	work, err := childWork(op, child)
	return g.addNode(op, after, work, err)
}

// SetChild gives a node that is a child graph another one.
func (g *Graph) SetChild(node Node, child *Graph) error {
	const op = "Graph.SetChild"
	work, err := childWork(op, child)
	return g.setNode(op, node, work, err)
}

func childWork(op string, child *Graph) (*nodeWork, error) {
	childID, err := child.base().useArgument(op, "the child")
	if err != nil {
		return nil, err
	}
	return &nodeWork{
		add: func(id uint64, after unsafe.Pointer, n uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_graph_add_child(id, after, n, childID, out)
		},
		set: func(id, node uint64) *raw.Failure {
			return raw.Km_graph_set_child(id, node, childID)
		},
		functions: flatten(child.kept()),
		objects:   []*object{child.base()},
	}, nil
}
