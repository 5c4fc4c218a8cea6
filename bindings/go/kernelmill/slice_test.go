package kernelmill_test

import (
	"slices"
	"testing"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// roundTrip takes elements of one type through every way of copying and filling.
func roundTrip[T kernelmill.Element](f *fixture, values []T) {
	f.Helper()
	slice := keep(f, must(kernelmill.SliceOf(f.stream, values))(f))
	other := keep(f, must(kernelmill.NewZeroedSlice[T](f.context, len(values)+1))(f))
	ok(f, other.CopyFrom(f.stream, slice))
	got := must(other.ToHost(f.stream))(f)
	if !slices.Equal(got[:len(values)], values) || got[len(values)] != 0 {
		f.Errorf("%T: %v after %v", values, got, values)
	}
	view := keep(f, must(other.View(1, len(values)-1))(f))
	ok(f, view.Fill(f.stream, values[0]))
	got = must(other.ToHost(f.stream))(f)
	for i, value := range got[:len(values)] {
		if value != values[0] {
			f.Errorf("%T: element %d is %v after Fill", values, i, value)
		}
	}
	if got[len(values)] != 0 {
		f.Errorf("%T: Fill of a view wrote beyond it", values)
	}
	var zero T
	ok(f, other.Fill(f.stream, zero))
	for _, value := range must(other.ToHost(f.stream))(f) {
		if value != zero {
			f.Errorf("%T: %v after Fill with 0", values, value)
		}
	}
}

type meters float32

func TestElementsOfAllTypes(t *testing.T) {
	f := newFixture(t)
	roundTrip(f, []int8{-1, 2, 3})
	roundTrip(f, []uint8{255, 2, 3})
	roundTrip(f, []int16{-300, 2, 3})
	roundTrip(f, []uint16{60000, 2, 3})
	roundTrip(f, []int32{-70000, 2, 3})
	roundTrip(f, []uint32{1 << 31, 2, 3})
	roundTrip(f, []int64{-1 << 40, 2, 3})
	roundTrip(f, []uint64{1 << 63, 2, 3})
	roundTrip(f, []float32{0.5, 2, 3})
	roundTrip(f, []float64{0.1, 2, 3})
	roundTrip(f, []complex64{1 + 2i, 2, 3})
	roundTrip(f, []complex128{0.1 + 2i, 2, 3})
	roundTrip(f, []meters{1.5, 2, 3})
}

func TestSlicesShareMemoryWithViews(t *testing.T) {
	f := newFixture(t)
	slice := keep(f, must(kernelmill.NewSliceOn[int32](f.stream, 8))(f))
	ok(f, slice.Fill(f.stream, 1))
	view := keep(f, must(slice.View(2, 3))(f))
	equal(t, view.IsView(), true)
	equal(t, slice.IsView(), false)
	equal(t, view.Len(), 3)
	equal(t, must(view.Address())(f), must(slice.Address())(f)+8)
	ok(f, slice.Close())
	ok(f, view.Upload(f.stream, []int32{5}))
	if got := must(view.ToHost(f.stream))(f); !slices.Equal(got, []int32{5, 1, 1}) {
		t.Errorf("%v", got)
	}
	ok(f, view.CloseOn(f.stream))
	expect(t, kernelmill.ErrInvalidHandle, view.CloseOn(f.stream))
}

func TestEmptySlices(t *testing.T) {
	f := newFixture(t)
	empty := keep(f, must(kernelmill.SliceOf(f.stream, []float32{}))(f))
	equal(t, empty.Len(), 0)
	equal(t, must(empty.Address())(f), 0)
	ok(f, empty.Upload(f.stream, nil))
	ok(f, empty.Fill(f.stream, 1))
	equal(t, len(must(empty.ToHost(f.stream))(f)), 0)
}

func TestSlicesHaveEnds(t *testing.T) {
	f := newFixture(t)
	slice := keep(f, must(kernelmill.NewSlice[int16](f.context, 4))(f))
	expect(t, kernelmill.ErrOutOfBounds, slice.Upload(f.stream, make([]int16, 5)))
	expect(t, kernelmill.ErrOutOfBounds, slice.Download(f.stream, make([]int16, 5)))
	for _, part := range [][2]int{{0, 5}, {4, 1}, {5, 0}, {-1, 1}, {1, -1}, {1 << 62, 1 << 62}} {
		expect(t, kernelmill.ErrOutOfBounds, errorOf(slice.View(part[0], part[1])))
	}
	expect(t, kernelmill.ErrInvalidArgument, errorOf(kernelmill.NewSlice[int16](f.context, -1)))
	expect(t, kernelmill.ErrOutOfDeviceMemory, errorOf(kernelmill.NewSlice[int64](f.context, 1<<52)))
	small := keep(f, must(kernelmill.NewSlice[int16](f.context, 2))(f))
	expect(t, kernelmill.ErrOutOfBounds, small.CopyFrom(f.stream, slice))
	if err := small.CopyFrom(f.stream, small); err != nil {
		t.Errorf("a copy onto itself: %v", err)
	}
	whole := keep(f, must(kernelmill.NewSlice[int16](f.context, 8))(f))
	first := keep(f, must(whole.View(0, 4))(f))
	second := keep(f, must(whole.View(2, 4))(f))
	expect(t, kernelmill.ErrInvalidArgument, first.CopyFrom(f.stream, second))
}
