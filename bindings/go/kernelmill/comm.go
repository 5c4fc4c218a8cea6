package kernelmill

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// BFloat16 is the upper 16 bits of a float32.
type BFloat16 uint16

// Float8E4M3 is a number of 8 bits with 3 bits of mantissa (OCP e4m3).
type Float8E4M3 uint8

// Float8E5M2 is a number of 8 bits with 2 bits of mantissa (OCP e5m2).
type Float8E5M2 uint8

// CommElement is what ranks exchange. [Half] is IEEE's.
type CommElement interface {
	int8 | uint8 | int32 | uint32 | int64 | uint64 | float32 | float64 |
		Half | BFloat16 | Float8E4M3 | Float8E5M2
}

// CommReduction says how elements of ranks are combined.
type CommReduction int32

// Reductions combine elements of ranks, rank by rank.
const (
	CommSum     CommReduction = raw.COMM_REDUCTION_SUM
	CommProduct CommReduction = raw.COMM_REDUCTION_PRODUCT
	CommMax     CommReduction = raw.COMM_REDUCTION_MAX
	CommMin     CommReduction = raw.COMM_REDUCTION_MIN
	CommAverage CommReduction = raw.COMM_REDUCTION_AVERAGE
)

// CommEngine is what carries out the operations of a communicator.
type CommEngine int32

// Engines of operations: threads of one process, memory that processes share, NCCL, or MPI.
const (
	CommEngineThreads      CommEngine = raw.COMM_ENGINE_THREADS
	CommEngineSharedMemory CommEngine = raw.COMM_ENGINE_SHARED_MEMORY
	CommEngineNCCL         CommEngine = raw.COMM_ENGINE_NCCL
	CommEngineMPI          CommEngine = raw.COMM_ENGINE_MPI
)

// CommID is the name of a communicator: bytes that one rank passes to the others.
type CommID [128]byte

// NewCommID makes the name of a communicator for devices like the context's. The process has to run
// until all ranks have joined.
func NewCommID(context *Context) (CommID, error) {
	id, err := getFrom[raw.CommId](context.base(), "NewCommID", "the context", raw.Km_comm_id_create)
	return CommID(id.Bytes), err
}

// CommInfo describes a rank of a communicator.
type CommInfo struct {
	Rank, RankCount int
	Engine          CommEngine
	Reason          string // why it is this engine
}

// Comm is a rank of a communicator. All ranks call the same operations in the same order. An
// operation joins its stream and returns at once; count is the elements of a block: of the whole
// array, or of one rank's part. A rank that is gone, late or calls something else ends the
// communicator: [Comm.Status] and later calls give [ErrIO], with a text that names the ranks.
type Comm struct{ object }

// NewComm joins as a rank, and waits for the others.
func NewComm(context *Context, id CommID, rankCount, rank int) (*Comm, error) {
	const op = "NewComm"
	for _, each := range []int{rankCount, rank} {
		if !isRank(each) {
			return nil, fail(op, ErrInvalidArgument, noRank("the rank or their number", each))
		}
	}
	name := raw.CommId{Bytes: id}
	handle, err := getFrom[uint64](context.base(), op, "the context",
		func(context uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_comm_create(context, unsafe.Pointer(&name), uint32(rankCount),
				uint32(rank), out)
		})
	if err != nil {
		return nil, err
	}
	return openComm(handle), nil
}

// isRank says if the C ABI's numbers of ranks have the value.
func isRank(value int) bool { return value >= 0 && int64(value) <= math.MaxUint32 }

func noRank(name string, value int) string {
	return fmt.Sprintf("%s is %d: there is no such rank", name, value)
}

// NewComms makes a communicator whose ranks are all in this process; rank i has the device of
// contexts[i].
func NewComms(contexts []*Context) ([]*Comm, error) {
	const op = "NewComms"
	if len(contexts) == 0 {
		return nil, fail(op, ErrInvalidArgument, "there are no contexts: a communicator has ranks")
	}
	ids, made := make([]uint64, len(contexts)), make([]uint64, len(contexts))
	for i, each := range contexts {
		id, err := each.base().useArgument(op, "a context")
		if err != nil {
			return nil, err
		}
		ids[i] = id
	}
	failure := raw.Km_comm_create_all(unsafe.Pointer(&ids[0]), uint64(len(ids)),
		unsafe.Pointer(&made[0]))
	runtime.KeepAlive(contexts)
	if err := check(op, failure); err != nil {
		return nil, err
	}
	comms := make([]*Comm, len(made))
	for i, each := range made {
		comms[i] = openComm(each)
	}
	return comms, nil
}

func openComm(handle uint64) *Comm {
	comm := &Comm{}
	comm.open(handle, raw.Km_comm_destroy)
	return comm
}

func (c *Comm) base() *object {
	if c == nil {
		return nil
	}
	return &c.object
}

// Close lets the rank go. Operations that are queued go on, and the rank leaves after them.
func (c *Comm) Close() error { return c.base().close("Comm.Close") }

// Split joins the communicator of the ranks that give the same color, in the order of their keys;
// nil for a negative color. All ranks call it, and it waits for them.
func (c *Comm) Split(color, key int32) (*Comm, error) {
	handle, err := get[uint64](c.base(), "Comm.Split",
		func(id uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_comm_split(id, color, key, out)
		})
	if err != nil || handle == 0 {
		return nil, err
	}
	return openComm(handle), nil
}

// Info says which rank this is, how many there are, and what carries the operations out.
func (c *Comm) Info() (CommInfo, error) {
	info := raw.CommInfo{StructSize: uint32(unsafe.Sizeof(raw.CommInfo{}))}
	err := c.base().call("Comm.Info", func(id uint64) *raw.Failure {
		return raw.Km_comm_info_get(id, unsafe.Pointer(&info))
	})
	return CommInfo{int(info.Rank), int(info.RankCount), CommEngine(info.Engine),
		fixedText(info.Reason[:])}, err
}

// Status gives [ErrIO], with the reason, if the communicator has failed.
func (c *Comm) Status() error { return c.base().call("Comm.Status", raw.Km_comm_status) }

// Abort ends the operations of all ranks, which fail.
func (c *Comm) Abort() error { return c.base().call("Comm.Abort", raw.Km_comm_abort) }

// CommGroup calls body, whose operations go on together once it returns: messages that ranks
// exchange, and operations of several ranks on one goroutine, need that. The operations are called
// on body's own goroutine. If body gives an error or panics, nothing is queued.
func CommGroup(body func() error) error {
	const op = "CommGroup"
	runtime.LockOSThread() // the library's group is one of a thread
	defer runtime.UnlockOSThread()
	if err := check(op, raw.Km_comm_group_begin()); err != nil {
		return err
	}
	isOpen := true
	defer func() {
		if isOpen { // a call that fails drops the whole group
			raw.Km_comm_send(0, 0, nil, 0, raw.ELEMENT_TYPE_UNKNOWN, 0)
			raw.Km_comm_group_end()
		}
	}()
	if err := body(); err != nil {
		return err
	}
	isOpen = false
	return check(op, raw.Km_comm_group_end())
}

// commCall is an operation on its way to the library.
type commCall struct {
	*blasCall
	stream uint64
	count  uint64
}

func beginOperation(comm *Comm, op string, stream *Stream, count int) commCall {
	c := beginCall(comm.base(), op, "the communicator")
	call := commCall{blasCall: c, count: c.size("count", count)}
	if c.failed == nil {
		call.stream, c.failed = stream.base().useArgument(op, "the stream")
		c.kept = append(c.kept, stream.base())
	}
	return call
}

// rank takes the number of a rank.
func (c commCall) rank(name string, value int) uint32 {
	if c.failed == nil && !isRank(value) {
		c.failed = fail(c.op, ErrInvalidArgument, noRank(name, value))
	}
	return uint32(value)
}

func commTypeOf[T CommElement]() int32 {
	switch any(*new(T)).(type) {
	case int8:
		return raw.ELEMENT_TYPE_I8
	case uint8:
		return raw.ELEMENT_TYPE_U8
	case int32:
		return raw.ELEMENT_TYPE_I32
	case uint32:
		return raw.ELEMENT_TYPE_U32
	case int64:
		return raw.ELEMENT_TYPE_I64
	case uint64:
		return raw.ELEMENT_TYPE_U64
	case Half:
		return raw.ELEMENT_TYPE_F16
	case BFloat16:
		return raw.ELEMENT_TYPE_BF16
	case float32:
		return raw.ELEMENT_TYPE_F32
	case float64:
		return raw.ELEMENT_TYPE_F64
	case Float8E4M3:
		return raw.ELEMENT_TYPE_F8_E4M3
	}
	return raw.ELEMENT_TYPE_F8_E5M2
}

// AllReduce puts the reduction of all ranks' send into receive, on all ranks. Both may be the same
// place.
func AllReduce[T CommElement](comm *Comm, stream *Stream, send, receive Array[T], count int,
	reduction CommReduction) error {
	c := beginOperation(comm, "AllReduce", stream, count)
	from, to := arrayIn(c.blasCall, "send", send), arrayIn(c.blasCall, "receive", receive)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_comm_all_reduce(id, c.stream, from, to, c.count, commTypeOf[T](),
			int32(reduction), nil)
	})
}

// AllReduceScaled puts the sum of all ranks' send, each multiplied by its rank's scale, into
// receive.
func AllReduceScaled[T CommElement](comm *Comm, stream *Stream, send, receive Array[T], count int,
	scale T) error {
	c := beginOperation(comm, "AllReduceScaled", stream, count)
	from, to := arrayIn(c.blasCall, "send", send), arrayIn(c.blasCall, "receive", receive)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_comm_all_reduce(id, c.stream, from, to, c.count, commTypeOf[T](),
			raw.COMM_REDUCTION_SCALED_SUM, unsafe.Pointer(&scale))
	})
}

// Reduce puts the reduction of all ranks' send into receive of rank root.
func Reduce[T CommElement](comm *Comm, stream *Stream, send, receive Array[T], count int,
	reduction CommReduction, root int) error {
	c := beginOperation(comm, "Reduce", stream, count)
	from, to := arrayIn(c.blasCall, "send", send), arrayIn(c.blasCall, "receive", receive)
	rootRank := c.rank("root", root)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_comm_reduce(id, c.stream, from, to, c.count, commTypeOf[T](),
			int32(reduction), nil, rootRank)
	})
}

// ReduceScatter puts the rank's block of the reduction of all ranks' send into receive.
func ReduceScatter[T CommElement](comm *Comm, stream *Stream, send, receive Array[T], count int,
	reduction CommReduction) error {
	c := beginOperation(comm, "ReduceScatter", stream, count)
	from, to := arrayIn(c.blasCall, "send", send), arrayIn(c.blasCall, "receive", receive)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_comm_reduce_scatter(id, c.stream, from, to, c.count, commTypeOf[T](),
			int32(reduction), nil)
	})
}

// Broadcast puts send of rank root into receive, on all ranks.
func Broadcast[T CommElement](comm *Comm, stream *Stream, send, receive Array[T], count,
	root int) error {
	c := beginOperation(comm, "Broadcast", stream, count)
	from, to := arrayIn(c.blasCall, "send", send), arrayIn(c.blasCall, "receive", receive)
	rootRank := c.rank("root", root)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_comm_broadcast(id, c.stream, from, to, c.count, commTypeOf[T](), rootRank)
	})
}

// AllGather puts the blocks send of all ranks into receive, on all ranks.
func AllGather[T CommElement](comm *Comm, stream *Stream, send, receive Array[T], count int) error {
	c := beginOperation(comm, "AllGather", stream, count)
	from, to := arrayIn(c.blasCall, "send", send), arrayIn(c.blasCall, "receive", receive)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_comm_all_gather(id, c.stream, from, to, c.count, commTypeOf[T]())
	})
}

// AllToAll puts block j of send of rank i into block i of receive of rank j.
func AllToAll[T CommElement](comm *Comm, stream *Stream, send, receive Array[T], count int) error {
	c := beginOperation(comm, "AllToAll", stream, count)
	from, to := arrayIn(c.blasCall, "send", send), arrayIn(c.blasCall, "receive", receive)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_comm_all_to_all(id, c.stream, from, to, c.count, commTypeOf[T]())
	})
}

// Gather puts the blocks send of all ranks into receive of rank root.
func Gather[T CommElement](comm *Comm, stream *Stream, send, receive Array[T], count,
	root int) error {
	c := beginOperation(comm, "Gather", stream, count)
	from, to := arrayIn(c.blasCall, "send", send), arrayIn(c.blasCall, "receive", receive)
	rootRank := c.rank("root", root)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_comm_gather(id, c.stream, from, to, c.count, commTypeOf[T](), rootRank)
	})
}

// Scatter puts the rank's block of send of rank root into receive.
func Scatter[T CommElement](comm *Comm, stream *Stream, send, receive Array[T], count,
	root int) error {
	c := beginOperation(comm, "Scatter", stream, count)
	from, to := arrayIn(c.blasCall, "send", send), arrayIn(c.blasCall, "receive", receive)
	rootRank := c.rank("root", root)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_comm_scatter(id, c.stream, from, to, c.count, commTypeOf[T](), rootRank)
	})
}

// Send sends a message to rank peer, which receives as many elements.
func Send[T CommElement](comm *Comm, stream *Stream, send Array[T], count, peer int) error {
	c := beginOperation(comm, "Send", stream, count)
	from := arrayIn(c.blasCall, "send", send)
	peerRank := c.rank("peer", peer)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_comm_send(id, c.stream, from, c.count, commTypeOf[T](), peerRank)
	})
}

// Receive receives a message of rank peer.
func Receive[T CommElement](comm *Comm, stream *Stream, receive Array[T], count, peer int) error {
	c := beginOperation(comm, "Receive", stream, count)
	to := arrayIn(c.blasCall, "receive", receive)
	peerRank := c.rank("peer", peer)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_comm_receive(id, c.stream, to, c.count, commTypeOf[T](), peerRank)
	})
}
