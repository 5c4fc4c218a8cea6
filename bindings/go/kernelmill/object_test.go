package kernelmill

import (
	"runtime"
	"testing"
	"time"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// forget opens objects, lets them become garbage, and gives their handles.
func forget(t *testing.T, context *Context, count int) []uint64 {
	t.Helper()
	ids := make([]uint64, count)
	for i := range ids {
		stream, err := context.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = stream.id.Load()
	}
	return ids
}

func isLive(id uint64) bool {
	failure := raw.Km_stream_query(id)
	return failure == nil || Status(failure.Status) != ErrInvalidHandle
}

func TestForgottenObjectsAreClosed(t *testing.T) {
	context, err := Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := context.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	ids := forget(t, context, 100)
	deadline := time.Now().Add(time.Minute)
	for len(ids) > 0 && time.Now().Before(deadline) {
		runtime.GC()
		for len(ids) > 0 && !isLive(ids[0]) {
			ids = ids[1:]
		}
	}
	if len(ids) > 0 {
		t.Errorf("%d forgotten streams are still there", len(ids))
	}
	if !isLive(kept.id.Load()) {
		t.Error("a stream that is in use was closed")
	}
	runtime.KeepAlive(kept)
	if err := context.Close(); err != nil {
		t.Error(err)
	}
}
