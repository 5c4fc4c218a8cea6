// The ten-line program: y += a x on a GPU where there is one, else on the CPU. saxpy KERNEL.cu
package main

import (
	"fmt"
	"log"
	"os"
	"slices"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// check ends the program at the first failure, which says what is wrong.
func check[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: saxpy KERNEL.cu")
	}
	kernelFile := os.Args[1]
	ones := slices.Repeat([]float32{1}, 1000)

	// docs/bindings.md shows what follows.
	context := check(kernelmill.Open("auto"))
	stream := check(context.NewStream())
	module := check(context.LoadFile(kernelFile))
	saxpy := check(module.Function("saxpy"))
	x := check(kernelmill.SliceOf(stream, ones))
	y := check(kernelmill.NewZeroedSlice[float32](context, 1000))
	launch := stream.Launch(saxpy).Grid(4).Block(256)
	check(launch, launch.Args(x, y, float32(2), int32(1000)).Submit())
	result := check(y.ToHost(stream))
	fmt.Printf("y[999] = %g\n", result[999])
	// docs/bindings.md shows no more.
}
