// Launches kernels by their wrapper and checks what they computed.
package main

//go:generate kernelmill wrap kernels.cu --lang go --name typed -o typed/typed.go --instantiate scale<float> --instantiate scale<double> --nvrtc=--device-int128

import (
	"fmt"
	"log"
	"slices"

	"wrapped/typed"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// check ends the program at the first failure.
func check[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	context := check(kernelmill.Open("cpu"))
	stream := check(context.NewStream())
	kernels := check(typed.Load(context))
	x := check(kernelmill.SliceOf(stream, []float32{1, 2, 3}))
	y := check(kernelmill.NewZeroedSlice[float32](context, 3))
	out := check(kernelmill.NewZeroedSlice[float64](context, 1))
	one, block := [3]int{1, 1, 1}, [3]int{32, 1, 1}
	check(0, kernels.Saxpy(stream, one, block, 0, 3, 2, x, y))
	check(0, kernels.ScaleFloat(stream, one, block, 0, y, 10, 3))
	padded := typed.Padded{Tag: 1, Value: 2, List: [3]int16{0, 3, 0}}
	padded.Points[1].Y = 4
	padded.Grid[1][2] = 5
	check(0, kernels.Padded(stream, one, one, 0, padded, out))
	lines := check(typed.NewGeoLineSlice(context, 2))
	check(0, kernels.Lines(stream, one, one, 0, lines, lines))
	if !slices.Equal(check(y.ToHost(stream)), []float32{20, 40, 60}) ||
		check(out.ToHost(stream))[0] != 15 {
		log.Fatal("wrong")
	}
	fmt.Println("right")
}
