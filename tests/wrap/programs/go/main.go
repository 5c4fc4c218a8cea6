// Launches kernels by their wrapper and checks what they computed.
package main

//go:generate kernelmill wrap kernels.cu --lang go --name typed -o typed/typed.go --instantiate scale<float> --instantiate scale<double> --object --block 32 -DPROGRAM_ONLY

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
	halves := check(kernelmill.SliceOf(stream, []typed.Half{0x3c00, 0x4000})) // 1, 2
	pairs := check(typed.NewHalf2Slice(context, 1))
	sum := check(kernelmill.NewZeroedSlice[float32](context, 1))
	check(0, kernels.HalfSum(stream, one, one, 0, halves, pairs, 0x4200, sum)) // 3
	last := check(kernelmill.NewZeroedSlice[float32](context, 1))
	check(0, kernels.VectorValue(stream, one, one, 0, [4]float32{1, 2, 3, 5}, last))
	modes := check(typed.NewGeoModeSlice(context, 1))
	check(0, kernels.Modes(stream, one, one, 0, modes, 1))
	lines := check(typed.NewGeoLineSlice(context, 2))
	check(0, kernels.Lines(stream, one, one, 0, lines, lines))
	if !slices.Equal(check(y.ToHost(stream)), []float32{20, 40, 60}) ||
		check(out.ToHost(stream))[0] != 15 || check(sum.ToHost(stream))[0] != 4 ||
		check(last.ToHost(stream))[0] != 5 {
		log.Fatal("wrong")
	}
	fmt.Println("right")
}
