package guda

// numbersPerBlock is how many numbers a block of the host kernels here goes through.
const numbersPerBlock = 4096

// onHost queues a function of Go that is called for parts of 0 to n, on all cores.
func onHost(s *streamState, n int, call func(begin, end int)) error {
	kernel := BlockFunc(func(first ThreadID) {
		begin := first.BlockIdx.X * numbersPerBlock
		call(begin, min(begin+numbersPerBlock, n))
	})
	blocks := Dim3{X: (n-1)/numbersPerBlock + 1}
	return launchHost(s, kernel, blocks.sizes(), Dim3{X: 1}.sizes(), 0, nil)
}

// ForEach queues a call of a function for each of n numbers, with its number and its place, on all
// cores, in the default stream. It needs a device whose memory the host sees, as CPU devices.
func ForEach(data DevicePtr, n int, call func(index int, value *float32)) error {
	if call == nil {
		return noteInvalid("the function is nil")
	}
	return vectorCall(n, func(s *streamState) error {
		numbers, err := data.numbers()
		if err != nil {
			return err
		}
		return onHost(s, n, func(begin, end int) {
			for i := begin; i < end; i++ {
				call(i, &numbers[i])
			}
		})
	}, data)
}

// numbers is [DevicePtr.Float32], or why there is none.
func (p DevicePtr) numbers() ([]float32, error) {
	if _, err := p.bytesFrom(); err != nil {
		return nil, err
	}
	return p.Float32(), nil
}

// Map queues out = f(in) of n numbers on all cores in the default stream. It needs a device whose
// memory the host sees, as CPU devices.
func Map(in, out DevicePtr, n int, call func(float32) float32) error {
	return vectorCall(n, func(s *streamState) error { return mapNumbers(s, in, out, n, call) }, in, out)
}

func mapNumbers(s *streamState, in, out DevicePtr, n int, call func(float32) float32) error {
	if call == nil {
		return invalid("the function is nil")
	}
	from, err := in.numbers()
	if err != nil {
		return err
	}
	to, err := out.numbers()
	if err != nil {
		return err
	}
	return onHost(s, n, func(begin, end int) {
		for i := begin; i < end; i++ {
			to[i] = call(from[i])
		}
	})
}

// Reduce waits for n numbers, one or more, put together by a function, from the first to the last.
func Reduce(data DevicePtr, n int, call func(a, b float32) float32) (float32, error) {
	var result float32
	if n < 1 || call == nil {
		return 0, noteInvalid("%d numbers and a function (nil: %t): give 1 or more", n, call == nil)
	}
	err := vectorCall(n, func(s *streamState) error {
		numbers, err := s.numbers(data, n)
		if err != nil {
			return err
		}
		result = numbers[0]
		for _, number := range numbers[1:] {
			result = call(result, number)
		}
		return nil
	}, data)
	return result, err
}
