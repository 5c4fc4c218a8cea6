package guda

import (
	"math"
	"slices"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// The terms of the kernel reduce.
const (
	termValue int32 = iota
	termSquare
	termExponential
	termProduct
)

// total waits for the sum, or the product, of terms of n numbers, each less a shift, in f64.
func (s *streamState) total(x DevicePtr, n int, term int32, shift float64) (float64, error) {
	parts, err := partial(s, "reduce", n, func(out *kernelmill.Slice[float64]) []any {
		return []any{x, int64(n), term, shift, out}
	})
	result := 0.0
	if term == termProduct {
		result = 1
	}
	for _, part := range parts {
		if term == termProduct {
			result *= part
		} else {
			result += part
		}
	}
	return result, err
}

// place waits for the place of the largest of n numbers, or of the smallest for a sign of -1, and its
// value.
func (s *streamState) place(x DevicePtr, n int, sign float32) (int, float32, error) {
	places, err := partial(s, "extreme", n, func(out *kernelmill.Slice[int64]) []any {
		return []any{x, int64(n), sign, out}
	})
	best, value := -1, float32(0)
	for _, place := range places {
		if place < 0 {
			continue
		}
		number, failed := s.number(x, int(place))
		if failed != nil {
			return 0, 0, failed
		}
		isFirst := number == value && int(place) < best
		if best < 0 || sign*number > sign*value || isFirst {
			best, value = int(place), number
		}
	}
	return best, value, err
}

// number reads one of the numbers.
func (s *streamState) number(x DevicePtr, place int) (float32, error) {
	numbers, err := s.numbers(x+DevicePtr(4*place), 1)
	if err != nil {
		return 0, err
	}
	return numbers[0], nil
}

// numbers reads n numbers.
func (s *streamState) numbers(x DevicePtr, n int) ([]float32, error) {
	host := make([]float32, n)
	err := s.stream.DownloadPointer(pointerTo(host), uint64(x), uint64(4*n))
	if err == nil {
		err = s.stream.Synchronize()
	}
	return host, err
}

// reduced runs a reduction of n numbers that gives a number; none for an n of 0.
func reduced(
	x DevicePtr, n int, none float32, call func(*streamState) (float64, error),
) (float32, error) {
	result := float64(none)
	err := vectorCall(n, func(s *streamState) (err error) {
		result, err = call(s)
		return err
	}, x)
	if err != nil {
		return float32(math.NaN()), err
	}
	return float32(result), nil
}

// Sum waits for the sum of n numbers, which is computed in f64.
func Sum(x DevicePtr, n int) (float32, error) {
	return reduced(x, n, 0, func(s *streamState) (float64, error) {
		return s.total(x, n, termValue, 0)
	})
}

// Max waits for the largest of n numbers; 0 for none.
func Max(x DevicePtr, n int) (float32, error) {
	return reduced(x, n, 0, func(s *streamState) (float64, error) {
		_, value, err := s.place(x, n, 1)
		return float64(value), err
	})
}

// Min waits for the smallest of n numbers; 0 for none.
func Min(x DevicePtr, n int) (float32, error) {
	return reduced(x, n, 0, func(s *streamState) (float64, error) {
		_, value, err := s.place(x, n, -1)
		return float64(value), err
	})
}

// first is the result of a call whose error is that of [GetLastError].
func first[T any](result T, _ error) T { return result }

// Sum is [Sum]; NaN when it fails, and [GetLastError] says why: so for all reductions that give a
// number.
func (p DevicePtr) Sum(n int) float32 { return first(Sum(p, n)) }

// Max is the largest of n numbers; -Inf for none.
func (p DevicePtr) Max(n int) float32 {
	if n == 0 {
		return float32(math.Inf(-1))
	}
	return first(Max(p, n))
}

// Min is the smallest of n numbers; +Inf for none.
func (p DevicePtr) Min(n int) float32 {
	if n == 0 {
		return float32(math.Inf(1))
	}
	return first(Min(p, n))
}

// ArgMax is the place of the largest of n numbers, the first of equal ones; -1 for none, and when it
// fails.
func (p DevicePtr) ArgMax(n int) int { return p.extreme(n, 1) }

// ArgMin is the place of the smallest of n numbers, the first of equal ones; -1 for none, and when it
// fails.
func (p DevicePtr) ArgMin(n int) int { return p.extreme(n, -1) }

func (p DevicePtr) extreme(n int, sign float32) int {
	best := -1
	err := vectorCall(n, func(s *streamState) (err error) {
		best, _, err = s.place(p, n, sign)
		return err
	}, p)
	if err != nil {
		return -1
	}
	return best
}

// SumSquares is the sum of the squares of n numbers.
func (p DevicePtr) SumSquares(n int) float32 {
	return first(reduced(p, n, 0, func(s *streamState) (float64, error) {
		return s.total(p, n, termSquare, 0)
	}))
}

// Product is the product of n numbers; 1 for none.
func (p DevicePtr) Product(n int) float32 {
	return first(reduced(p, n, 1, func(s *streamState) (float64, error) {
		return s.total(p, n, termProduct, 0)
	}))
}

// Mean is the mean of n numbers; 0 for none.
func (p DevicePtr) Mean(n int) float32 {
	return first(reduced(p, n, 0, func(s *streamState) (float64, error) { return s.mean(p, n) }))
}

func (s *streamState) mean(x DevicePtr, n int) (float64, error) {
	sum, err := s.total(x, n, termValue, 0)
	return sum / float64(n), err
}

// spread is the mean of n numbers and the sum of the squares of what they are away from it.
func (s *streamState) spread(x DevicePtr, n int) (mean, squares float64, err error) {
	if mean, err = s.mean(x, n); err == nil {
		squares, err = s.total(x, n, termSquare, mean)
	}
	return mean, squares, err
}

// Variance is the variance of n numbers as a sample, by n - 1; 0 for fewer than two.
func (p DevicePtr) Variance(n int) float32 {
	return first(reduced(p, n, 0, func(s *streamState) (float64, error) {
		if n < 2 {
			return 0, nil
		}
		_, squares, err := s.spread(p, n)
		return squares / float64(n-1), err
	}))
}

// exponentials is the largest of n numbers, and the sum of exp(x - largest).
func (s *streamState) exponentials(x DevicePtr, n int) (float32, float64, error) {
	_, largest, err := s.place(x, n, 1)
	if err != nil {
		return 0, 0, err
	}
	sum, err := s.total(x, n, termExponential, float64(largest))
	return largest, sum, err
}

// LogSumExp is the logarithm of the sum of exp(x) of n numbers; -Inf for none, NaN when it fails, and
// [GetLastError] says why.
func LogSumExp(x DevicePtr, n int) float32 {
	none := float32(math.Inf(-1))
	return first(reduced(x, n, none, func(s *streamState) (float64, error) {
		largest, sum, err := s.exponentials(x, n)
		return float64(largest) + math.Log(sum), err
	}))
}

// Softmax makes exp(x) of n numbers, divided by the sum of those, in their place.
func Softmax(x DevicePtr, n int) error {
	return vectorCall(n, func(s *streamState) error {
		largest, sum, err := s.exponentials(x, n)
		if err != nil {
			return err
		}
		return s.run("exponentials", n, x, int64(n), largest, 1/sum)
	}, x)
}

// LayerNorm makes (x - mean) / sqrt(variance + eps) of n numbers in their place, times gamma plus beta,
// which have as many, or are 0 for none.
func LayerNorm(x, gamma, beta DevicePtr, n int, eps float32) error {
	vectors := []DevicePtr{x}
	for _, other := range [...]DevicePtr{gamma, beta} {
		if other != 0 {
			vectors = append(vectors, other)
		}
	}
	return vectorCall(n, func(s *streamState) error {
		mean, squares, err := s.spread(x, n)
		if err != nil {
			return err
		}
		scale := 1 / math.Sqrt(squares/float64(n)+float64(eps))
		return s.run("normalize", n, x, gamma, beta, int64(n), mean, scale)
	}, vectors...)
}

// CumSum queues running sums in the default stream: out[i] is the sum of x up to i.
func CumSum(x, out DevicePtr, n int) error {
	return vectorCall(n, func(s *streamState) error {
		return s.runBlocks("running_sums", 1, x, out, int64(n))
	}, x, out)
}

// ReduceSum queues the sums of the columns (axis 0) or of the rows (axis 1) of a matrix, whose shape
// is rows and columns, in the default stream.
func ReduceSum(x DevicePtr, shape []int, axis int, out DevicePtr) error {
	return reduceAxis(x, shape, axis, out, 0)
}

// ReduceMax is ReduceSum with the largest instead of the sum.
func ReduceMax(x DevicePtr, shape []int, axis int, out DevicePtr) error {
	return reduceAxis(x, shape, axis, out, 1)
}

func reduceAxis(x DevicePtr, shape []int, axis int, out DevicePtr, isMaximum int32) error {
	if len(shape) != 2 || shape[0] < 1 || shape[1] < 1 || shape[0] > math.MaxInt32/shape[1] {
		return noteInvalid("a shape of %v: give rows and columns", shape)
	}
	if axis != 0 && axis != 1 {
		return noteInvalid("the axis %d: give 0 for sums of columns, or 1", axis)
	}
	count := shape[1-axis]
	return vectorCall(shape[0]*shape[1], func(s *streamState) error {
		if err := s.device.holds(out, count); err != nil {
			return err
		}
		return s.run("reduce_axis", count, x, int64(shape[0]), int64(shape[1]), int32(axis),
			isMaximum, out)
	}, x)
}

// SegmentSum makes out[k] the sum of those numbers whose segment is k, of count segments, and waits.
func SegmentSum(data DevicePtr, segments []int, count int, out DevicePtr) error {
	for i, segment := range segments {
		if segment < 0 || segment >= count {
			return noteInvalid("segment %d of number %d: there are %d", segment, i, count)
		}
	}
	return vectorCall(len(segments), func(s *streamState) error {
		if err := s.device.holds(out, count); err != nil {
			return err
		}
		numbers := make([]int64, len(segments))
		for i, segment := range segments {
			numbers[i] = int64(segment)
		}
		places, err := kernelmill.SliceOf(s.stream, numbers)
		if err != nil {
			return err
		}
		defer places.Close()
		function, err := s.device.ownKernel("segment_sums")
		if err != nil {
			return err
		}
		err = function.launch(s, Dim3{X: 1}.sizes(), Dim3{X: 1}.sizes(), 0,
			[]any{data, places, int64(len(segments)), out, int64(count)})
		if err != nil {
			return err
		}
		return s.stream.Synchronize()
	}, data)
}

// TopK waits for the k largest of n numbers and their places, the largest first; all for a larger k.
func TopK(x DevicePtr, n, k int) (values []float32, places []int, err error) {
	if k <= 0 {
		return nil, nil, noteInvalid("the %d largest: give 1 or more", k)
	}
	err = vectorCall(n, func(s *streamState) error {
		numbers, err := s.numbers(x, n)
		if err != nil {
			return err
		}
		places = make([]int, n)
		for i := range places {
			places[i] = i
		}
		slices.SortStableFunc(places, func(a, b int) int {
			switch {
			case numbers[a] > numbers[b]:
				return -1
			case numbers[a] < numbers[b]:
				return 1
			}
			return 0
		})
		places = places[:min(k, n)]
		for _, place := range places {
			values = append(values, numbers[place])
		}
		return nil
	}, x)
	return values, places, err
}
