// Package callback lets the library call Go functions.
package callback

/*
#include <stdint.h>
#include <stdlib.h>

extern void kmgo_call_host(void *user_data, int32_t status);
*/
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

// Host is the km_host_callback that goes with what NewHost gives.
var Host = unsafe.Pointer(C.kmgo_call_host)

// NewHost makes the user_data that has Host call a function, once. It lies in C's memory, for the
// library keeps it.
func NewHost(call func(status int32)) unsafe.Pointer {
	userData := C.malloc(C.size_t(unsafe.Sizeof(cgo.Handle(0))))
	*(*cgo.Handle)(userData) = cgo.NewHandle(call)
	return userData
}

// take gives the function back and frees what NewHost made.
func take(userData unsafe.Pointer) func(int32) {
	handle := *(*cgo.Handle)(userData)
	call := handle.Value().(func(int32))
	handle.Delete()
	C.free(userData)
	return call
}

// DropHost frees what NewHost made, if the library did not take it.
func DropHost(userData unsafe.Pointer) { take(userData) }

//export kmgo_call_host
func kmgo_call_host(userData unsafe.Pointer, status C.int32_t) { take(userData)(int32(status)) }
