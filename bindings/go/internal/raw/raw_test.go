// Package raw_test gives every function of the raw layer handles that are none.
package raw_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

const handles = 100_000

// room is what all pointers point to: enough for any structure, which all begin with their size.
type room struct {
	size uint32
	rest [1024]byte
}

// callWith calls a function with the handle in one of its places, null in the others, and zeros.
func callWith(function reflect.Value, place int, handle uint64) *raw.Failure {
	buffer := unsafe.Pointer(&room{size: 16})
	arguments := make([]reflect.Value, function.Type().NumIn())
	for i := range arguments {
		kind := function.Type().In(i)
		switch {
		case i == place:
			arguments[i] = reflect.ValueOf(handle)
		case kind.Kind() == reflect.UnsafePointer:
			arguments[i] = reflect.ValueOf(buffer)
		default:
			arguments[i] = reflect.Zero(kind)
		}
	}
	failure, _ := function.Call(arguments)[0].Interface().(*raw.Failure)
	return failure
}

// expectInvalid expects KM_ERROR_INVALID_HANDLE, with a text.
func expectInvalid(t *testing.T, name string, handle uint64, failure *raw.Failure) {
	t.Helper()
	if failure == nil || failure.Status != raw.ERROR_INVALID_HANDLE || failure.Text == "" {
		t.Fatalf("%s(%#x): %+v", name, handle, failure)
	}
}

func ok(t *testing.T, failure *raw.Failure) {
	t.Helper()
	if failure != nil {
		t.Fatalf("%+v", failure)
	}
}

func openContext(t *testing.T) (device, context uint64) {
	t.Helper()
	uri := []byte("cpu\x00")
	ok(t, raw.Km_device_open(unsafe.Pointer(&uri[0]), unsafe.Pointer(&device)))
	ok(t, raw.Km_context_create(device, unsafe.Pointer(&context)))
	return device, context
}

func TestRandomHandles(t *testing.T) {
	_, context := openContext(t)
	random := rand.New(rand.NewPCG(4, 2026))
	for i := range handles {
		call := raw.Calls[i%len(raw.Calls)]
		place := call.Handles[random.IntN(len(call.Handles))]
		handle := random.Uint64()
		if i%4 == 0 { // all but a live one: its tag and slot with another generation
			handle = context ^ 1<<(8+random.IntN(24))
		}
		if handle != context {
			failure := callWith(reflect.ValueOf(call.Function), place, handle)
			expectInvalid(t, call.Name, handle, failure)
		}
	}
	ok(t, raw.Km_context_synchronize(context))
}

func TestHandlesOfOtherTypesAndStaleOnes(t *testing.T) {
	device, context := openContext(t)
	var event uint64
	ok(t, raw.Km_event_create(context, 0, unsafe.Pointer(&event)))
	stale := event
	ok(t, raw.Km_event_destroy(event))
	ok(t, raw.Km_event_create(context, 0, unsafe.Pointer(&event)))
	for _, call := range raw.Calls {
		for _, place := range call.Handles {
			failure := callWith(reflect.ValueOf(call.Function), place, stale)
			expectInvalid(t, call.Name, stale, failure)
		}
	}
	for _, call := range raw.Calls {
		prefix := call.Name[:len("km_sli")]
		if prefix == "km_dev" || prefix == "km_con" || call.Name == "km_tune_create" {
			continue
		}
		expectInvalid(t, call.Name, device, callWith(reflect.ValueOf(call.Function), 0, device))
	}
	ok(t, raw.Km_event_query(event))
	ok(t, raw.Km_context_synchronize(context))
}

func TestFailuresAreTakenOnAnyThread(t *testing.T) {
	done := make(chan bool)
	for worker := range 8 {
		go func() {
			defer func() { done <- true }()
			for i := range 2000 {
				failure := raw.Km_stream_query(uint64(worker+1)<<40 | uint64(i))
				if failure == nil || failure.Text == "" {
					t.Errorf("%+v", failure)
				}
			}
		}()
	}
	for range 8 {
		<-done
	}
}
