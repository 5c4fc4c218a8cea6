// Package thread keeps a number by thread of the operating system.
package thread

/*
#include <stdint.h>

static __thread int64_t number;

static int64_t kmgo_thread_number(void) { return number; }
static void kmgo_thread_set_number(int64_t value) { number = value; }
*/
import "C"

// Number is the number of the thread that the goroutine runs on; 0 at first.
func Number() int64 { return int64(C.kmgo_thread_number()) }

// SetNumber sets the number of the thread that the goroutine runs on.
func SetNumber(number int64) { C.kmgo_thread_set_number(C.int64_t(number)) }
