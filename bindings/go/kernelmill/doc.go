// Package kernelmill runs CUDA-style kernels, written in CUDA C++ or PTX, on GPUs and on any CPU, by the
// Kernelmill library.
//
//	context, err := kernelmill.Open("auto")
//	...
//	defer context.Close()
//	module, err := context.LoadFile("saxpy.cu")
//	function, err := module.Function("saxpy")
//	stream, err := context.NewStream()
//	x, err := kernelmill.SliceOf(stream, []float32{1, 2, 3})
//	err = stream.Launch(function).Grid(1).Block(3).Args(x, float32(2)).Submit()
//	err = x.Download(stream, result)
//
// # Errors
//
// Nothing here panics: every failure is an error, nearly always an *[Error], which keeps the
// library's status, text and category. errors.Is compares with a [Status] ([ErrNotFound] ...), or
// with [ErrClosed]. A nil or closed object gives an error too. A kernel that fails makes every
// later call that allocates, queues or waits return its error, until [Context.Reset].
//
// # Lifetimes
//
// Device memory is invisible to the garbage collector: call Close. The order does not matter, for
// children keep their parents, and queued work keeps what it uses. What is forgotten is closed
// once it is garbage, which may be late or never.
//
// # Order
//
// Work on one stream runs in order. Work on different streams runs side by side, except that each
// use of a slice waits for the earlier uses on other streams that it conflicts with, because one of
// them writes and they share an element. The stream waits, not the call. Uses are copies, fills and
// arguments of launches, which count as written unless [ReadOnly] says otherwise; addresses given by
// [LaunchBuilder.AddressArg] are not ordered. docs/guide/ordering.md of Kernelmill has the rules and the
// cost.
//
// # Goroutines
//
// All types may be used by any number of goroutines at once, closing included, except
// [LaunchBuilder].
package kernelmill
