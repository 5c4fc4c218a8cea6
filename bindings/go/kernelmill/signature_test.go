package kernelmill_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// typedPTX has kernels of one parameter each, whose type is in the name.
const typedPTX = `
.version 7.0
.target sm_70
.address_size 64
.visible .entry _Z1kPf(.param .u64 x) { ret; }
.visible .entry _Z1kPd(.param .u64 x) { ret; }
.visible .entry _Z1kPj(.param .u64 x) { ret; }
.visible .entry _Z1kP6float4(.param .u64 x) { ret; }
.visible .entry _Z1kP6__half(.param .u64 x) { ret; }
.visible .entry _Z1kPN2ns5PointE(.param .u64 x) { ret; }
.visible .entry plain(.param .u64 x) { ret; }
`

type bits uint16

type half uint16

func (half) DeviceElement() kernelmill.ElementType { return kernelmill.ElementF16 }

// taken has an x for each kernel that takes the slice, else a -.
func taken[T kernelmill.Element](f *fixture, kernels []*kernelmill.Function) string {
	f.Helper()
	slice := keep(f, must(kernelmill.NewZeroedSlice[T](f.context, 8))(f))
	view := keep(f, must(slice.View(1, 2))(f))
	var text strings.Builder
	for _, kernel := range kernels {
		err := f.stream.Launch(kernel).Args(slice).Submit()
		ofView := f.stream.Launch(kernel).Args(view).Submit()
		if errors.Is(err, kernelmill.ErrInvalidLaunch) != errors.Is(ofView, kernelmill.ErrInvalidLaunch) {
			f.Errorf("%v, of a view %v", err, ofView)
		}
		switch {
		case err == nil:
			text.WriteByte('x')
		case errors.Is(err, kernelmill.ErrInvalidLaunch):
			text.WriteByte('-')
		default:
			f.Fatal(err)
		}
	}
	return text.String()
}

func TestKernelsTakeTheTypesThatTheyHave(t *testing.T) {
	f := newFixture(t)
	module := keep(f, must(f.context.LoadPTX(typedPTX, "typed"))(t))
	var kernels []*kernelmill.Function
	for _, name := range []string{
		"_Z1kPf", "_Z1kPd", "_Z1kPj", "_Z1kP6float4", "_Z1kP6__half", "_Z1kPN2ns5PointE", "plain",
	} {
		kernels = append(kernels, keep(f, must(module.Function(name))(t)))
	}
	for _, each := range []struct{ name, got, want string }{
		{"float32", taken[float32](f, kernels), "x--x--x"},
		{"meters", taken[meters](f, kernels), "x--x--x"},
		{"float64", taken[float64](f, kernels), "-x----x"},
		{"uint32", taken[uint32](f, kernels), "--x---x"},
		{"int32", taken[int32](f, kernels), "--x---x"},
		{"int64", taken[int64](f, kernels), "------x"},
		{"uint8", taken[uint8](f, kernels), "xxxxxxx"},
		{"int8", taken[int8](f, kernels), "xxxxxxx"},
		{"uint16", taken[uint16](f, kernels), "------x"},
		{"bits", taken[bits](f, kernels), "xxxxxxx"},
		{"half", taken[half](f, kernels), "----x-x"},
		{"complex64", taken[complex64](f, kernels), "xxxxxxx"},
	} {
		if each.got != each.want {
			t.Errorf("%s: kernels take %s, not %s", each.name, each.got, each.want)
		}
	}
}

func TestElementTypesCanBeChanged(t *testing.T) {
	f := newFixture(t)
	module := keep(f, must(f.context.LoadPTX(typedPTX, "typed"))(t))
	kernel := keep(f, must(module.Function("_Z1kPf"))(t))
	slice := keep(f, must(kernelmill.NewZeroedSlice[float64](f.context, 1))(t))
	err := f.stream.Launch(kernel).Args(slice).Submit()
	if err == nil || !strings.Contains(err.Error(),
		"parameter 0 'x' of kernel 'k' is 'float*'; the slice given for it has elements of 'double'") {
		t.Errorf("%v", err)
	}
	must(0, slice.SetElementType(kernelmill.ElementUnknown, 0, ""))(t)
	must(0, f.stream.Launch(kernel).Args(slice).Submit())(t)
}
