// Package callback lets the library call Go functions.
package callback

/*
#include <stdint.h>

extern void kmgo_call_host(void *user_data, int32_t status);
extern void kmgo_call_release(void *user_data);
extern void kmgo_call_output(void *user_data, char *text, uint64_t size_bytes);
extern uint64_t kmgo_call_shared(void *user_data, uint32_t block_threads);
extern void kmgo_call_tune(void *user_data, uint32_t done, uint32_t count);
extern void kmgo_call_finding(void *user_data, void *finding);
*/
import "C"

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// The C functions that call what a token stands for.
var (
	Host    = unsafe.Pointer(C.kmgo_call_host)    // func(int32)
	Release = unsafe.Pointer(C.kmgo_call_release) // func()
	Output  = unsafe.Pointer(C.kmgo_call_output)  // func([]byte)
	Shared  = unsafe.Pointer(C.kmgo_call_shared)  // func(uint32) uint64
	Tune    = unsafe.Pointer(C.kmgo_call_tune)    // func(done, count uint32)
	Finding = unsafe.Pointer(C.kmgo_call_finding) // func(km_finding unsafe.Pointer)
)

// entry is a function that the library may call.
type entry struct {
	function any
	once     bool
}

var (
	functions sync.Map // of entry, by number
	last      atomic.Uint64
)

// tag makes tokens that are addresses of nothing, neither in C nor in Go.
const tag = 1 << 63

// token is a number as the user_data of a callback. It is read as a pointer, not converted to one,
// because it is none.
func token(number uint64) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&number)) }

// New gives the user_data that stands for a function until Drop.
func New(function any) unsafe.Pointer { return add(entry{function: function}) }

// NewOnce gives the user_data that stands for a function until its first call, or until Drop.
func NewOnce(function any) unsafe.Pointer { return add(entry{function: function, once: true}) }

func add(e entry) unsafe.Pointer {
	number := tag | last.Add(1)
	functions.Store(number, e)
	return token(number)
}

// Drop forgets a function. Calls of it do nothing from then on.
func Drop(userData unsafe.Pointer) { functions.Delete(uint64(uintptr(userData))) }

// Count is how many functions are known, for tests of leaks.
func Count() int {
	count := 0
	functions.Range(func(any, any) bool { count++; return true })
	return count
}

// find gives the function of a token, or nothing when it is forgotten or of another kind.
func find[F any](userData unsafe.Pointer) (F, bool) {
	var none F
	found, known := functions.Load(uint64(uintptr(userData)))
	if !known {
		return none, false
	}
	if found.(entry).once {
		if _, known = functions.LoadAndDelete(uint64(uintptr(userData))); !known {
			return none, false
		}
	}
	function, fits := found.(entry).function.(F)
	return function, fits
}

//export kmgo_call_host
func kmgo_call_host(userData unsafe.Pointer, status C.int32_t) {
	if call, known := find[func(int32)](userData); known {
		call(int32(status))
	}
}

//export kmgo_call_release
func kmgo_call_release(userData unsafe.Pointer) {
	if call, known := find[func()](userData); known {
		call()
	}
}

//export kmgo_call_output
func kmgo_call_output(userData unsafe.Pointer, text *C.char, size C.uint64_t) {
	if call, known := find[func([]byte)](userData); known {
		call(unsafe.Slice((*byte)(unsafe.Pointer(text)), int(size)))
	}
}

//export kmgo_call_shared
func kmgo_call_shared(userData unsafe.Pointer, threads C.uint32_t) C.uint64_t {
	if call, known := find[func(uint32) uint64](userData); known {
		return C.uint64_t(call(uint32(threads)))
	}
	return 0
}

//export kmgo_call_tune
func kmgo_call_tune(userData unsafe.Pointer, done, count C.uint32_t) {
	if call, known := find[func(uint32, uint32)](userData); known {
		call(uint32(done), uint32(count))
	}
}

//export kmgo_call_finding
func kmgo_call_finding(userData, finding unsafe.Pointer) {
	if call, known := find[func(unsafe.Pointer)](userData); known {
		call(finding)
	}
}
