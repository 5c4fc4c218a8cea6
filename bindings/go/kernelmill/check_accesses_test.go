package kernelmill_test

import (
	"strings"
	"testing"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

func TestWrongAccessesAreFound(t *testing.T) {
	f := newFixture(t)
	equal(t, kernelmill.CheckAccesses, true) // tests are no release builds
	equal(t, must(f.context.IsChecked())(f), true)
	scale := f.function("scale")
	var slices [3]*kernelmill.Slice[float32] // side by side
	for i := range slices {
		slices[i] = keep(f, must(kernelmill.NewZeroedSlice[float32](f.context, 1024))(f))
	}
	ok(t, f.stream.Launch(scale).Grid(5).Block(256).Args(slices[1], float32(2), int32(1034)).Submit())
	failure := expect(t, kernelmill.ErrIllegalAddress, f.stream.Synchronize())
	for _, part := range []string{"past the end of the 4096-byte allocation", "(parameter 0 'data')"} {
		if !strings.Contains(failure.Message, part) {
			t.Errorf("no %q in %s", part, failure.Message)
		}
	}
	if !strings.HasSuffix(failure.Suggestion(), "then call Context.Reset.") {
		t.Error(failure.Suggestion())
	}
	ok(t, f.context.Reset())
}

func TestChecksCanBeLeftOut(t *testing.T) {
	kernelmill.CheckAccesses = false
	defer func() { kernelmill.CheckAccesses = true }()
	context := must(kernelmill.Open("cpu"))(t)
	equal(t, must(context.IsChecked())(t), false)
	ok(t, context.Close())
}

func TestArgumentsOfAnotherKindAreRefused(t *testing.T) {
	f := newFixture(t)
	scale := f.function("scale")
	data := keep(f, must(kernelmill.NewZeroedSlice[float32](f.context, 4))(f))
	for _, wrong := range []struct {
		arguments []any
		message   string
	}{
		{[]any{data, int32(2), int32(4)}, "parameter 1 'factor' of kernel 'scale' is 'float'; 'int' was given: give a float of 4 bytes"},
		{[]any{data, 2.0, int32(4)}, "is 'float'; 'double' was given: give a float of 4 bytes"},
		{[]any{data, float32(2), float32(4)}, "is 'int'; 'float' was given: give an integer of 4 bytes"},
		{[]any{float64(1), float32(2), int32(4)}, "is 'float*'; 'double' was given: give a slice"},
		{[]any{data, data, int32(4)}, "is 'float'; a slice was given: give a float of 4 bytes"},
	} {
		err := f.stream.Launch(scale).Grid(1).Block(4).Args(wrong.arguments...).Submit()
		failure := expect(t, kernelmill.ErrInvalidLaunch, err)
		if !strings.HasSuffix(failure.Message, wrong.message) {
			t.Errorf("%s; expected %s", failure.Message, wrong.message)
		}
	}
}
