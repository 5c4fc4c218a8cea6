package guda

// The operations of kernels.cu.
const (
	opAdd int32 = iota
	opMultiply
	opAddScalar
	opMultiplyScalar
	opReLU
	opSigmoid
	opTanh
	opGELU
	opAddCycled
)

// step is one operation of the kernel apply.
type step struct {
	operation int32
	alpha     float32
	place     int32 // of other among the kernel's arguments
	length    int64 // of other, when it is gone through again and again
	other     DevicePtr
}

// What the kernel takes in one launch.
const (
	mostSteps  = 8
	mostOthers = 4
)

// kernelStep and kernelSteps are the kernel's argument.
type kernelStep struct {
	operation int32
	alpha     float32
	place     int32
	_         int32
	length    int64
}

type kernelSteps struct {
	list  [mostSteps]kernelStep
	count int32
	_     int32
}

// apply queues steps on n numbers of in, which go to out, in as few launches as can be.
func (s *streamState) apply(in, out DevicePtr, n int, list ...step) error {
	for len(list) > 0 {
		var taken kernelSteps
		var others [mostOthers]DevicePtr
		used := 0
		for len(list) > 0 && taken.count < mostSteps && used < mostOthers {
			each := list[0]
			list = list[1:]
			if each.other != 0 {
				others[used], each.place = each.other, int32(used)
				used++
			}
			taken.list[taken.count] = kernelStep{operation: each.operation, alpha: each.alpha,
				place: each.place, length: each.length}
			taken.count++
		}
		err := s.run("apply", n, in, out, int64(n), taken, others[0], others[1], others[2], others[3])
		if err != nil {
			return err
		}
		in = out
	}
	return nil
}

// Add queues c = a + b of n numbers each in the default stream.
func Add(a, b, c DevicePtr, n int) error {
	return vectorCall(n, func(s *streamState) error {
		return s.apply(a, c, n, step{operation: opAdd, alpha: 1, other: b})
	}, a, b, c)
}

// Multiply queues c = a * b of n numbers each, element by element, in the default stream.
func Multiply(a, b, c DevicePtr, n int) error {
	return vectorCall(n, func(s *streamState) error {
		return s.apply(a, c, n, step{operation: opMultiply, other: b})
	}, a, b, c)
}

// inPlace queues steps on n numbers.
func inPlace(x DevicePtr, n int, list ...step) error {
	return vectorCall(n, func(s *streamState) error { return s.apply(x, x, n, list...) }, x)
}

// ReLU queues x = max(0, x) of n numbers in the default stream.
func ReLU(x DevicePtr, n int) error { return inPlace(x, n, step{operation: opReLU}) }

// Sigmoid queues x = 1 / (1 + exp(-x)) of n numbers in the default stream.
func Sigmoid(x DevicePtr, n int) error { return inPlace(x, n, step{operation: opSigmoid}) }

// Tanh queues x = tanh(x) of n numbers in the default stream.
func Tanh(x DevicePtr, n int) error { return inPlace(x, n, step{operation: opTanh}) }

// GELU queues the Gaussian error linear unit of n numbers, by its form with tanh, in the default
// stream.
func GELU(x DevicePtr, n int) error { return inPlace(x, n, step{operation: opGELU}) }

// LinearReLU queues x = max(0, alpha x + beta) of n numbers in the default stream, in one pass.
func LinearReLU(x DevicePtr, alpha, beta float32, n int) error {
	return inPlace(x, n, step{operation: opMultiplyScalar, alpha: alpha},
		step{operation: opAddScalar, alpha: beta}, step{operation: opReLU})
}

// AddBiasReLU queues x = max(0, x + bias) of n numbers in the default stream, in one pass. The bias is
// as long as its allocation from there on, and is gone through again and again: it is that of each
// row.
func AddBiasReLU(x, bias DevicePtr, n int) error { return addBias(x, bias, n, opReLU) }

// AddBiasGELU is AddBiasReLU with [GELU].
func AddBiasGELU(x, bias DevicePtr, n int) error { return addBias(x, bias, n, opGELU) }

func addBias(x, bias DevicePtr, n int, activation int32) error {
	return vectorCall(n, func(s *streamState) error {
		length := bias.Size() / 4
		if length == 0 {
			return invalid("the bias at %#x has no number", uintptr(bias))
		}
		return s.apply(x, x, n, step{operation: opAddCycled, other: bias, length: int64(length)},
			step{operation: activation})
	}, x)
}

// FusedKernel puts operations together that [FusedKernel.Execute] does in one pass, with one load and
// one store for each number; up to eight, and more in several passes.
type FusedKernel struct{ list []fusedStep }

// fusedStep is an operation; those of two vectors take the next one that Execute is given.
type fusedStep struct {
	step
	isBinary bool
	call     func(float32) float32
}

// NewFusedKernel makes one that does nothing yet.
func NewFusedKernel() *FusedKernel { return &FusedKernel{} }

func (k *FusedKernel) with(s fusedStep) *FusedKernel {
	if k == nil {
		return nil
	}
	k.list = append(k.list, s)
	return k
}

// Add is x = x + alpha y, of the next vector.
func (k *FusedKernel) Add(alpha float32) *FusedKernel {
	return k.with(fusedStep{step: step{operation: opAdd, alpha: alpha}, isBinary: true})
}

// Multiply is x = x * y, of the next vector.
func (k *FusedKernel) Multiply() *FusedKernel {
	return k.with(fusedStep{step: step{operation: opMultiply}, isBinary: true})
}

// AddScalar is x = x + alpha.
func (k *FusedKernel) AddScalar(alpha float32) *FusedKernel {
	return k.with(fusedStep{step: step{operation: opAddScalar, alpha: alpha}})
}

// MulScalar is x = x * alpha.
func (k *FusedKernel) MulScalar(alpha float32) *FusedKernel {
	return k.with(fusedStep{step: step{operation: opMultiplyScalar, alpha: alpha}})
}

// ReLU is x = max(0, x).
func (k *FusedKernel) ReLU() *FusedKernel {
	return k.with(fusedStep{step: step{operation: opReLU}})
}

// Custom is a function of Go, which makes passes of its own on the host: as [Map].
func (k *FusedKernel) Custom(call func(float32) float32) *FusedKernel {
	return k.with(fusedStep{call: call})
}

// Execute queues the operations on n numbers in the default stream; others has a vector of as many for
// each operation of two.
func (k *FusedKernel) Execute(x DevicePtr, others []DevicePtr, n int) error {
	if k == nil {
		return noteInvalid("the kernel is nil: NewFusedKernel makes one")
	}
	binary := 0
	for _, each := range k.list {
		if each.isBinary {
			binary++
		}
	}
	if binary != len(others) {
		return noteInvalid("%d vectors for %d operations of two", len(others), binary)
	}
	return vectorCall(n, func(s *streamState) error {
		var list []step
		for _, each := range k.list {
			if each.isBinary {
				each.other, others = others[0], others[1:]
			}
			if each.call == nil {
				list = append(list, each.step)
				continue
			}
			if err := s.apply(x, x, n, list...); err != nil {
				return err
			}
			list = nil
			if err := mapNumbers(s, x, x, n, each.call); err != nil {
				return err
			}
		}
		return s.apply(x, x, n, list...)
	}, append([]DevicePtr{x}, others...)...)
}
