package kernelmill_test

import (
	_ "embed"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

//go:embed testdata/kernels.cu
var kernels string

// fixture is what most tests need, closed at their end.
type fixture struct {
	*testing.T
	context *kernelmill.Context
	stream  *kernelmill.Stream
	module  *kernelmill.Module
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t}
	f.context = keep(f, must(kernelmill.Open("cpu"))(t))
	f.stream = keep(f, must(f.context.NewStream())(t))
	f.module = keep(f, must(f.context.LoadSource(kernels, "kernels.cu"))(t))
	return f
}

func (f *fixture) function(name string) *kernelmill.Function {
	f.Helper()
	return keep(f, must(f.module.Function(name))(f))
}

// keep has an object closed at the end of the test.
func keep[T io.Closer](f *fixture, object T) T {
	f.Helper()
	f.Cleanup(func() {
		if err := object.Close(); err != nil && !errors.Is(err, kernelmill.ErrClosed) {
			f.Errorf("Close: %v", err)
		}
	})
	return object
}

// must unwraps a result, or ends the test.
func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// expect checks that an error has the status, and that it says something.
func expect(t testing.TB, status kernelmill.Status, err error) *kernelmill.Error {
	t.Helper()
	var failure *kernelmill.Error
	if !errors.Is(err, status) || !errors.As(err, &failure) {
		t.Fatalf("%v: expected %v", err, status)
	}
	if failure.Op == "" || failure.Message == "" {
		t.Errorf("an error that says nothing: %#v", failure)
	}
	return failure
}

// parallel runs a function on so many goroutines, and waits.
func parallel(count int, work func(worker int)) {
	var group sync.WaitGroup
	for worker := range count {
		group.Add(1)
		go func() {
			defer group.Done()
			work(worker)
		}()
	}
	group.Wait()
}

func equal[T comparable](t testing.TB, got, wanted T) {
	t.Helper()
	if got != wanted {
		t.Errorf("%v; expected %v", got, wanted)
	}
}
