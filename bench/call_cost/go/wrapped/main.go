// A launch by package kernelmill against the same by the wrapper of `kernelmill wrap`, batch by batch
// in turn in one process.
package main

import (
	"fmt"
	"log"
	"slices"
	"time"

	wrapper "kernelmill.bench/call_cost/generated/wrapped"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

const (
	batches         = 200
	launches        = 2560
	launchesPerWait = 256
)

func check[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func batchNs(stream *kernelmill.Stream, launch func(n int32) error) float64 {
	start := time.Now()
	for i := int32(1); i <= launches; i++ {
		check(0, launch(i))
		if i%launchesPerWait == 0 {
			check(0, stream.Synchronize())
		}
	}
	return float64(time.Since(start).Nanoseconds()) / launches
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

func main() {
	context := check(kernelmill.Open("cpu:0"))
	stream := check(context.NewStream())
	kernels := check(wrapper.Load(context))
	nothing := check(check(context.LoadPTX(wrapper.PTX, "wrapped")).Function("nothing"))
	x := check(kernelmill.NewZeroedSlice[float32](context, 16))
	y := check(kernelmill.NewZeroedSlice[float32](context, 16))
	one := [3]int{1, 1, 1}
	ways := [2]func(n int32) error{
		func(n int32) error {
			return stream.Launch(nothing).Grid(1, 1, 1).Block(1, 1, 1).
				Args(kernelmill.ReadOnly(x), y, float32(2), n).Submit()
		},
		func(n int32) error { return kernels.Nothing(stream, one, one, 0, x, y, 2, n) },
	}
	var taken [2][]float64
	var over []float64
	for batch := range batches + 1 {
		var times [2]float64
		for turn := range 2 {
			way := (batch + turn) % 2
			times[way] = batchNs(stream, ways[way])
		}
		if batch > 0 {
			taken[0], taken[1] = append(taken[0], times[0]), append(taken[1], times[1])
			over = append(over, times[1]-times[0])
		}
	}
	fmt.Printf("{\"metric\": \"launch_go\", \"unit\": \"ns\", \"hand\": %.1f, \"wrapper\": %.1f, "+
		"\"wrapper_adds\": %.1f}\n", median(taken[0]), median(taken[1]), median(over))
}
