package kernelmill_test

import (
	"slices"
	"testing"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

const orderTries = 199

// expectAll fails the test unless all elements are the value.
func expectAll(t *testing.T, elements []uint32, value uint32, try int) {
	t.Helper()
	isOther := func(element uint32) bool { return element != value }
	if i := slices.IndexFunc(elements, isOther); i >= 0 {
		t.Fatalf("try %d: element %d is %d, expected %d", try, i, elements[i], value)
	}
}

func TestContextsAreOrdered(t *testing.T) {
	f := newFixture(t)
	equal(t, must(f.context.IsOrdered())(f), true)
	device := keep(f, must(kernelmill.OpenDevice("cpu"))(f))
	ordered := keep(f, must(device.NewContext())(f))
	equal(t, must(ordered.IsOrdered())(f), true)
	unordered := keep(f, must(device.NewUnorderedContext())(f))
	equal(t, must(unordered.IsOrdered())(f), false)
	var none *kernelmill.Context
	expect(t, kernelmill.ErrInvalidHandle, errorOf(none.IsOrdered()))
}

func TestAFillIsSeenOnAnotherStream(t *testing.T) {
	f := newFixture(t)
	other := keep(f, must(f.context.NewStream())(f))
	data := keep(f, must(kernelmill.NewZeroedSlice[uint32](f.context, 1<<20))(f))
	for try := range orderTries {
		value := uint32(try + 1)
		ok(f, data.Fill(f.stream, value))
		expectAll(t, must(data.ToHost(other))(f), value, try)
	}
}

func TestAWriteWaitsForReads(t *testing.T) {
	f := newFixture(t)
	other := keep(f, must(f.context.NewStream())(f))
	source := keep(f, must(kernelmill.NewZeroedSlice[uint32](f.context, 1<<20))(f))
	copied := keep(f, must(kernelmill.NewZeroedSlice[uint32](f.context, 1<<20))(f))
	for try := range orderTries {
		value := uint32(try + 1)
		ok(f, source.Fill(f.stream, value))
		ok(f, copied.CopyFrom(f.stream, source))
		ok(f, source.Fill(other, 0))
		expectAll(t, must(copied.ToHost(other))(f), value, try)
	}
}

func TestKernelsWaitForTheirArguments(t *testing.T) {
	f := newFixture(t)
	const length = 1 << 18
	other := keep(f, must(f.context.NewStream())(f))
	scale := f.function("scale")
	data := keep(f, must(kernelmill.SliceOf(f.stream, slices.Repeat([]float32{1}, length)))(f))
	streams := []*kernelmill.Stream{f.stream, other}
	for round := range 64 {
		stream := streams[round%2]
		factor := float32(2)
		if round%4 >= 2 {
			factor = 0.5
		}
		launch := stream.Launch(scale).Grid(length / 256).Block(256)
		ok(f, launch.Args(data, factor, int32(length)).Submit())
	}
	got := must(data.ToHost(other))(f)
	if i := slices.IndexFunc(got, func(x float32) bool { return x != 1 }); i >= 0 {
		t.Errorf("element %d is %v", i, got[i])
	}
	// The kernel gets a slice that it is said to read, wherever that is.
	in := keep(f, must(kernelmill.SliceOf(f.stream, []int32{1, 2}))(f))
	out := keep(f, must(kernelmill.NewZeroedSlice[float64](f.context, 2))(f))
	apply := other.Launch(f.function("apply")).Block(2)
	ok(f, apply.Args(kernelmill.ReadOnly(in), out, pair{Scale: 0.5, Offset: 10}, true).Submit())
	if seen := must(out.ToHost(f.stream))(f); !slices.Equal(seen, []float64{-10.5, -11}) {
		t.Errorf("%v", seen)
	}
	var none *kernelmill.Slice[int32]
	expect(t, kernelmill.ErrInvalidHandle, apply.Args(kernelmill.ReadOnly(none)).Submit())
	var empty kernelmill.ReadOnlySlice
	expect(t, kernelmill.ErrInvalidHandle, other.Launch(f.function("apply")).Args(empty).Submit())
}
