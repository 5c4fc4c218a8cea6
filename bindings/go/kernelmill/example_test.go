package kernelmill_test

import (
	"fmt"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

const saxpySource = `
extern "C" __global__ void saxpy(const float* x, float* y, float a, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] += a * x[i];
}`

func saxpy(a float32, x, y []float32) ([]float32, error) {
	context, err := kernelmill.Open("auto")
	if err != nil {
		return nil, err
	}
	defer context.Close()
	stream, err := context.NewStream()
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	module, err := context.LoadSource(saxpySource, "saxpy.cu")
	if err != nil {
		return nil, err
	}
	defer module.Close()
	function, err := module.Function("saxpy")
	if err != nil {
		return nil, err
	}
	defer function.Close()
	deviceX, err := kernelmill.SliceOf(stream, x)
	if err != nil {
		return nil, err
	}
	defer deviceX.Close()
	deviceY, err := kernelmill.SliceOf(stream, y)
	if err != nil {
		return nil, err
	}
	defer deviceY.Close()
	launch := stream.Launch(function).Grid((len(x) + 255) / 256).Block(256)
	if err := launch.Args(deviceX, deviceY, a, int32(len(x))).Submit(); err != nil {
		return nil, err
	}
	return deviceY.ToHost(stream)
}

func Example() {
	fmt.Println(saxpy(2, []float32{1, 2, 3}, []float32{10, 20, 30}))
	// Output: [12 24 36] <nil>
}
