package core

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// span is where an array lies.
type span struct{ first, end uintptr }

// arrays are those of the calls under way. The library takes memory of the host for device memory
// once at a time, so that a call waits for others that share an element with it.
type arrays struct {
	mutex sync.Mutex
	ended *sync.Cond
	busy  []span
}

func newArrays() *arrays {
	made := &arrays{}
	made.ended = sync.NewCond(&made.mutex)
	return made
}

// inUse has the arrays of all engines.
var inUse = newArrays()

// enter waits until no other call has memory of these arrays.
func (a *arrays) enter(mine []span) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for slices.ContainsFunc(a.busy, func(other span) bool { return overlap(mine, other) }) {
		a.ended.Wait()
	}
	a.busy = append(a.busy, mine...)
}

// leave lets the calls go on that wait for these arrays.
func (a *arrays) leave(mine []span) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for _, one := range mine {
		at := slices.Index(a.busy, one)
		a.busy = slices.Delete(a.busy, at, at+1)
	}
	a.ended.Broadcast()
}

func overlap(mine []span, other span) bool {
	return slices.ContainsFunc(mine, func(one span) bool {
		return one.first < other.end && other.first < one.end
	})
}

// spansOf is where the operands of a call lie.
func spansOf[T kernelmill.Number](operands []*operand[T]) []span {
	var found []span
	for _, o := range operands {
		if len(o.data) == 0 {
			continue
		}
		first := uintptr(unsafe.Pointer(unsafe.SliceData(o.data)))
		found = append(found, span{first, first + uintptr(len(o.data))*unsafe.Sizeof(o.data[0])})
	}
	return found
}
