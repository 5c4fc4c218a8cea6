package kernelmill_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/kernelmill/kernelmill/bindings/go/internal/callback"
	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// gate keeps the fixture's stream until it is opened.
type gate struct {
	*fixture
	number *kernelmill.Slice[uint32]
	opener *kernelmill.Stream
}

func (f *fixture) gate() *gate {
	g := &gate{fixture: f}
	g.number = keep(f, must(kernelmill.NewZeroedSlice[uint32](f.context, 1))(f))
	g.opener = keep(f, must(f.context.NewStream())(f))
	ok(f, kernelmill.WaitValue(f.stream, g.number, 0, kernelmill.WaitEqual, 1))
	return g
}

func (g *gate) open() { ok(g, kernelmill.WriteValue(g.opener, g.number, 0, 1)) }

func TestWaitsEndWithTheirContext(t *testing.T) {
	f := newFixture(t)
	gate := f.gate()
	event := keep(f, must(f.context.NewEvent())(f))
	ok(t, event.Record(f.stream))
	waits := map[string]func(context.Context) error{"Stream.Wait": f.stream.Wait, "Event.Wait": event.Wait}
	for name, wait := range waits {
		short, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		err := wait(short)
		equal(t, expect(t, kernelmill.ErrTimeout, err).Op, name)
		equal(t, errors.Is(err, context.DeadlineExceeded), true)
		cancel()
		over, cancel := context.WithCancel(context.Background())
		go cancel()
		err = wait(over)
		equal(t, expect(t, kernelmill.ErrNotReady, err).Op, name)
		equal(t, errors.Is(err, context.Canceled), true)
		var none context.Context
		expect(t, kernelmill.ErrInvalidArgument, wait(none))
	}
	gate.open()
	for _, wait := range waits {
		ok(t, wait(context.Background()))
		ok(t, wait(context.Background()))
	}
	ok(t, f.stream.Synchronize())
}

func TestWaitsGiveTheErrorOfTheWork(t *testing.T) {
	f := newFixture(t)
	gate := f.gate()
	ok(t, f.stream.Launch(f.function("crash")).AddressArg(16).Submit())
	event := keep(f, must(f.context.NewEvent())(f))
	ok(t, event.Record(f.stream))
	results := make(chan error, 2)
	go func() { results <- f.stream.Wait(context.Background()) }()
	go func() { results <- event.Wait(context.Background()) }()
	time.Sleep(5 * time.Millisecond)
	gate.open()
	for range 2 {
		if failure := expect(t, kernelmill.ErrIllegalAddress, <-results); failure.Message == "" {
			t.Error("an error without its text")
		}
	}
	ok(t, f.context.Reset())
	expect(t, kernelmill.ErrContextLost, f.stream.Wait(context.Background()))
}

// threads is how many threads the process has.
func threads(t *testing.T) int { return len(must(os.ReadDir("/proc/self/task"))(t)) }

// noMoreGoroutines waits for goroutines that are about to end, the runtime's own too.
func noMoreGoroutines(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines more", runtime.NumGoroutine()-before)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestCancelledWaitsLeaveNothing(t *testing.T) {
	before := callback.Count()
	f := newFixture(t)
	gate := f.gate()
	event := keep(f, must(f.context.NewEvent())(f))
	ok(t, event.Record(f.stream))
	cancelled := func(count int) {
		for i := range count {
			short, cancel := context.WithTimeout(context.Background(), time.Duration(i%3)*time.Microsecond)
			expect(t, kernelmill.ErrTimeout, f.stream.Wait(short))
			if i%10 == 0 {
				expect(t, kernelmill.ErrTimeout, event.Wait(short))
			}
			cancel()
		}
	}
	cancelled(100)
	goroutines, tasks, files := runtime.NumGoroutine(), threads(t), openFiles(t)
	cancelled(cancelledWaits)
	if more := threads(t) - tasks; more > 8 {
		t.Errorf("%d threads more", more)
	}
	noMoreGoroutines(t, goroutines)
	equal(t, openFiles(t), files)
	gate.open()
	ok(t, f.stream.Wait(context.Background()))
	ok(t, f.context.Synchronize())
	deadline := time.Now().Add(time.Minute)
	for callback.Count() > before && time.Now().Before(deadline) {
		runtime.GC()
	}
	equal(t, callback.Count(), before)
}
