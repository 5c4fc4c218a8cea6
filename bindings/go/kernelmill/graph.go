package kernelmill

import (
	"maps"
	"slices"
	"sync"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Graph is work that is put together once and launched many times: of nodes, or captured
// ([Stream.BeginCapture]). Nodes run after those that they depend on. A graph keeps the functions
// and the memory that its nodes use.
type Graph struct {
	object
	mutex sync.Mutex
	keep  map[Node][]*hostFunction // by the node that calls them
}

// Node is the number of a node, the same in a graph, its clones and what is instantiated.
type Node uint64

// capturedNodes stands for nodes whose numbers are not known, because they were captured.
const capturedNodes Node = 0

// NewGraph makes a graph without nodes.
func (c *Context) NewGraph() (*Graph, error) {
	id, err := get[uint64](c.base(), "Context.NewGraph", raw.Km_graph_create)
	if err != nil {
		return nil, err
	}
	return newGraph(id), nil
}

func newGraph(id uint64) *Graph {
	graph := &Graph{keep: map[Node][]*hostFunction{}}
	graph.open(id, raw.Km_graph_destroy)
	return graph
}

func (g *Graph) base() *object {
	if g == nil {
		return nil
	}
	return &g.object
}

// Close lets the graph go. What was instantiated from it stays.
func (g *Graph) Close() error { return g.base().close("Graph.Close") }

// kept is a copy of what the graph keeps.
func (g *Graph) kept() map[Node][]*hostFunction {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return maps.Clone(g.keep)
}

// Clone copies the graph, with the same numbers of nodes.
func (g *Graph) Clone() (*Graph, error) {
	id, err := get[uint64](g.base(), "Graph.Clone", raw.Km_graph_clone)
	if err != nil {
		return nil, err
	}
	clone := newGraph(id)
	clone.keep = g.kept()
	if clone.keep == nil {
		clone.keep = map[Node][]*hostFunction{}
	}
	return clone, nil
}

// RemoveNode removes a node with all its dependencies. What is instantiated stays as it was.
func (g *Graph) RemoveNode(node Node) error {
	err := g.base().call("Graph.RemoveNode", func(id uint64) *raw.Failure {
		return raw.Km_graph_remove_node(id, uint64(node))
	})
	if err == nil {
		g.put(node, nil)
	}
	return err
}

// put has the graph keep the functions of a node, in place of those it had.
func (g *Graph) put(node Node, functions []*hostFunction) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.keep == nil || len(functions) == 0 {
		delete(g.keep, node)
		return
	}
	g.keep[node] = functions
}

// AddDependency makes node to run after node from.
func (g *Graph) AddDependency(from, to Node) error {
	return g.base().call("Graph.AddDependency", func(id uint64) *raw.Failure {
		return raw.Km_graph_add_dependency(id, uint64(from), uint64(to))
	})
}

// RemoveDependency takes back that node to runs after node from.
func (g *Graph) RemoveDependency(from, to Node) error {
	return g.base().call("Graph.RemoveDependency", func(id uint64) *raw.Failure {
		return raw.Km_graph_remove_dependency(id, uint64(from), uint64(to))
	})
}

// Nodes lists the nodes in the order of their making.
func (g *Graph) Nodes() ([]Node, error) {
	return list(g.base(), "Graph.Nodes", Node(0),
		func(id, capacity uint64, out, outCount unsafe.Pointer) *raw.Failure {
			return raw.Km_graph_nodes(id, out, capacity, outCount)
		})
}

// Dependencies lists the nodes that a node runs after.
func (g *Graph) Dependencies(node Node) ([]Node, error) {
	return list(g.base(), "Graph.Dependencies", Node(0),
		func(id, capacity uint64, out, outCount unsafe.Pointer) *raw.Failure {
			return raw.Km_graph_node_dependencies(id, uint64(node), out, capacity, outCount)
		})
}

// Dependents lists the nodes that run after a node.
func (g *Graph) Dependents(node Node) ([]Node, error) {
	return list(g.base(), "Graph.Dependents", Node(0),
		func(id, capacity uint64, out, outCount unsafe.Pointer) *raw.Failure {
			return raw.Km_graph_node_dependents(id, uint64(node), out, capacity, outCount)
		})
}

// DOT is the graph in the DOT language of Graphviz, child graphs as clusters.
func (g *Graph) DOT() (string, error) { return textOf(g.base(), "Graph.DOT", raw.Km_graph_dot) }

// GraphExec is a graph that is ready to run. It keeps what it uses until it is closed and its last
// launch is done.
type GraphExec struct {
	object
	mutex sync.Mutex
	keep  map[Node][]*hostFunction
}

// Instantiate makes the graph ready to run as it is now: its kernels are compiled.
func (g *Graph) Instantiate() (*GraphExec, error) {
	id, err := get[uint64](g.base(), "Graph.Instantiate", raw.Km_graph_exec_create)
	if err != nil {
		return nil, err
	}
	exec := &GraphExec{keep: g.kept()}
	exec.open(id, raw.Km_graph_exec_destroy)
	return exec, nil
}

func (e *GraphExec) base() *object {
	if e == nil {
		return nil
	}
	return &e.object
}

// Close lets the graph go. Launches under way go on.
func (e *GraphExec) Close() error { return e.base().close("GraphExec.Close") }

// Launch queues one run of the graph in a stream. Launches of one GraphExec run one after the
// other, also in different streams. In a stream that is being captured it becomes a child node.
func (e *GraphExec) Launch(stream *Stream) error {
	const op = "GraphExec.Launch"
	if _, err := e.base().use(op); err != nil {
		return err
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	err := e.base().callWith(op, stream.base(), "the stream", raw.Km_graph_exec_launch)
	if err != nil || len(e.keep) == 0 {
		return err
	}
	functions := flatten(e.keep)
	if isCaptured, err := stream.isCaptured(op); err != nil || isCaptured {
		keepForCapture(functions...)
		return err
	}
	// Those who replace or close the graph meanwhile do not take its functions away.
	if err := stream.AddCallback(func(error) { clear(functions) }); err != nil {
		abandon(functions) // whether the launch is over cannot be known
	}
	return nil
}

// flatten lists what a graph keeps.
func flatten(keep map[Node][]*hostFunction) []*hostFunction {
	var all []*hostFunction
	for functions := range maps.Values(keep) {
		all = append(all, functions...)
	}
	return all
}

// abandoned are functions of launches in contexts that failed right after; they stay.
var abandoned struct {
	mutex     sync.Mutex
	functions []*hostFunction
}

func abandon(functions []*hostFunction) {
	abandoned.mutex.Lock()
	defer abandoned.mutex.Unlock()
	for _, function := range functions {
		if !slices.Contains(abandoned.functions, function) {
			abandoned.functions = append(abandoned.functions, function)
		}
	}
}

// UpdateNode takes over the parameters that a node has now in a graph: the one that was
// instantiated, or a clone. Launches from now on use them.
func (e *GraphExec) UpdateNode(graph *Graph, node Node) error {
	err := e.base().callWith("GraphExec.UpdateNode", graph.base(), "the graph",
		func(id, graph uint64) *raw.Failure {
			return raw.Km_graph_exec_update_node(id, graph, uint64(node))
		})
	if err != nil {
		return err
	}
	theirs := graph.kept()
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.keep == nil {
		e.keep = map[Node][]*hostFunction{}
	}
	e.keep[node] = theirs[node]
	for _, function := range theirs[capturedNodes] { // one of these may be the node's
		if !slices.Contains(e.keep[capturedNodes], function) {
			e.keep[capturedNodes] = append(slices.Clip(e.keep[capturedNodes]), function)
		}
	}
	return nil
}

// Update takes over the parameters of all nodes of a graph of the same topology. Nothing is changed
// when it fails.
func (e *GraphExec) Update(graph *Graph) error {
	err := e.base().callWith("GraphExec.Update", graph.base(), "the graph",
		raw.Km_graph_exec_update)
	if err != nil {
		return err
	}
	keep := graph.kept()
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.keep = keep
	return nil
}

// GraphDifference says why an update cannot take a graph over.
type GraphDifference int32

// The differences.
const (
	GraphSame         GraphDifference = raw.GRAPH_DIFFERENCE_NONE // parameters at most
	GraphNodeCount    GraphDifference = raw.GRAPH_DIFFERENCE_NODE_COUNT
	GraphNodeKind     GraphDifference = raw.GRAPH_DIFFERENCE_NODE_KIND
	GraphDependencies GraphDifference = raw.GRAPH_DIFFERENCE_DEPENDENCIES
	GraphChild        GraphDifference = raw.GRAPH_DIFFERENCE_CHILD // inside a child graph
)

// Compare says whether Update can take a graph over, and the first node that speaks against it, or
// 0.
func (e *GraphExec) Compare(graph *Graph) (GraphDifference, Node, error) {
	var difference int32
	var node Node
	err := e.base().callWith("GraphExec.Compare", graph.base(), "the graph",
		func(id, graph uint64) *raw.Failure {
			return raw.Km_graph_exec_compare(id, graph, unsafe.Pointer(&difference),
				unsafe.Pointer(&node))
		})
	return GraphDifference(difference), node, err
}
