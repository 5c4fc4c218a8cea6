package guda

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Dim3 is a size or a place along x, y and z. As a size, 0 along y and z means 1.
type Dim3 struct{ X, Y, Z int }

// sizes is the size with 1 for what is not said.
func (d Dim3) sizes() Dim3 {
	if d.Y == 0 {
		d.Y = 1
	}
	if d.Z == 0 {
		d.Z = 1
	}
	return d
}

// Size is how many blocks or threads there are.
func (d Dim3) Size() int {
	d = d.sizes()
	return d.X * d.Y * d.Z
}

// Shape is the size of a launch.
type Shape struct {
	GridDim  Dim3 // blocks
	BlockDim Dim3 // threads of a block
}

// Thread is a place in a launch, and the size of that.
type Thread struct {
	BlockIdx  Dim3
	ThreadIdx Dim3
	Shape
}

// ThreadID says which thread of a launch a host kernel is called for: tid.ThreadIdx.X, tid.Global().
// It holds for the call; what outlives that copies the *Thread.
type ThreadID struct{ *Thread }

// Global is the number of the thread along x.
func (t ThreadID) Global() int { return t.BlockIdx.X*t.BlockDim.X + t.ThreadIdx.X }

// GlobalX is Global.
func (t ThreadID) GlobalX() int { return t.Global() }

// GlobalY is the number of the thread along y.
func (t ThreadID) GlobalY() int { return t.BlockIdx.Y*t.BlockDim.Y + t.ThreadIdx.Y }

// GlobalZ is the number of the thread along z.
func (t ThreadID) GlobalZ() int { return t.BlockIdx.Z*t.BlockDim.Z + t.ThreadIdx.Z }

// Kernel is what can be launched: a [*Function], which was compiled, or Go code: a [KernelFunc] or a
// [BlockFunc], or a type of the program that has this method. Go code runs on the host, in stream
// order, once for each thread; threads of a block run one after the other, so that there are no
// barriers.
type Kernel interface {
	Execute(tid ThreadID, args ...any)
}

// KernelFunc is a host kernel: a function that is called once for each thread, with the arguments of
// the launch. One without arguments, which has what it needs around it, is the fastest.
type KernelFunc func(tid ThreadID, args ...any)

// Execute calls the function.
func (f KernelFunc) Execute(tid ThreadID, args ...any) { f(tid, args...) }

// ThreadFunc is a host kernel without arguments.
type ThreadFunc func(tid ThreadID)

// Execute calls the function.
func (f ThreadFunc) Execute(tid ThreadID, _ ...any) { f(tid) }

// BlockFunc is a host kernel that is called once for each block, whose threads it goes through
// itself: first gives the first of them, and [Shape] their number. Loops over slices of Go are at
// their fastest there.
type BlockFunc func(first ThreadID)

// Execute calls the function for the first thread of a block.
func (f BlockFunc) Execute(tid ThreadID, _ ...any) {
	if tid.ThreadIdx == (Dim3{}) {
		f(tid)
	}
}

// PanicError is the panic of a host kernel: what a stream's error comes from (errors.As).
type PanicError struct {
	Value any
	Stack []byte // of the goroutine
}

// Error is the panic's value with the stack.
func (p *PanicError) Error() string {
	return fmt.Sprintf("a host kernel panicked: %v\n%s", p.Value, p.Stack)
}

// Unwrap gives the panic's value when that is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// hostLaunch is a host kernel under way.
type hostLaunch struct {
	kernel Kernel
	args   []any
	shape  Shape
	blocks int
	chunk  int          // blocks that a goroutine takes at a time
	next   atomic.Int64 // block
	failed atomic.Pointer[PanicError]
}

// chunksPerWorker is into how many parts a worker's share is cut, so that all end together.
const chunksPerWorker = 8

// run calls the kernel for all threads, on all cores. It has waited for the other goroutines also if
// the kernel ends this one.
func (l *hostLaunch) run() {
	workers := min(runtime.GOMAXPROCS(0), l.blocks)
	l.chunk = max(1, l.blocks/(workers*chunksPerWorker))
	var others sync.WaitGroup
	defer others.Wait()
	for range workers - 1 {
		others.Add(1)
		go func() {
			defer others.Done()
			l.work()
		}()
	}
	l.work()
}

// errGoexit stands for the panic of a kernel that ended its goroutine, as the Fatal of tests does.
var errGoexit = errors.New("it ended its goroutine by runtime.Goexit")

// work runs blocks until there are none left, or one has panicked.
func (l *hostLaunch) work() {
	isWhole := false
	defer func() {
		value := recover()
		if value == nil && !isWhole {
			value = errGoexit
		}
		if value != nil {
			l.failed.CompareAndSwap(nil, &PanicError{value, debug.Stack()})
		}
	}()
	for l.failed.Load() == nil {
		first := int(l.next.Add(int64(l.chunk))) - l.chunk
		if first >= l.blocks {
			break
		}
		l.runBlocks(first, min(first+l.chunk, l.blocks))
	}
	isWhole = true
}

// runBlocks runs blocks by their numbers, x first.
func (l *hostLaunch) runBlocks(first, end int) {
	grid := l.shape.GridDim
	tid := ThreadID{&Thread{Shape: l.shape}}
	for number := first; number < end; number++ {
		tid.BlockIdx = Dim3{number % grid.X, number / grid.X % grid.Y, number / grid.X / grid.Y}
		tid.ThreadIdx = Dim3{}
		switch kernel := l.kernel.(type) {
		case BlockFunc:
			kernel(tid)
		case ThreadFunc:
			runThreads(tid, kernel)
		case KernelFunc:
			args := l.args
			runThreads(tid, func(tid ThreadID) { kernel(tid, args...) })
		default:
			args := l.args
			runThreads(tid, func(tid ThreadID) { kernel.Execute(tid, args...) })
		}
	}
}

// runThreads calls a function for all threads of a block.
func runThreads(tid ThreadID, call func(ThreadID)) {
	block, thread := tid.BlockDim, tid.Thread
	for z := range block.Z {
		for y := range block.Y {
			thread.ThreadIdx = Dim3{0, y, z}
			for x := range block.X {
				thread.ThreadIdx.X = x
				call(tid)
			}
		}
	}
}
