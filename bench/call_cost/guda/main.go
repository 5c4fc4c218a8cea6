// The facade of Go: what the calls cost through package guda.
package main

import (
	"fmt"
	"log"
	"os"
	"time"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
)

const (
	batches         = 200
	queries         = 20000
	launches        = 2560
	launchesPerWait = 256
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func query(stream guda.Stream) {
	for range queries {
		check(guda.StreamQuery(stream))
	}
}

func launch(stream guda.Stream, function *guda.Function) {
	one := guda.Dim3{X: 1}
	for i := 1; i <= launches; i++ {
		check(guda.LaunchKernel(function, one, one, 0, stream))
		if i%launchesPerWait == 0 {
			check(guda.StreamSynchronize(stream))
		}
	}
}

// measure prints the least of all batches, by call.
func measure(metric string, calls int, run func()) {
	var least time.Duration
	run()
	for batch := range batches {
		start := time.Now()
		run()
		if took := time.Since(start); batch == 0 || took < least {
			least = took
		}
	}
	fmt.Printf("{\"metric\": %q, \"unit\": \"ns\", \"value\": %.3f}\n", metric,
		float64(least.Nanoseconds())/float64(calls))
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: call_cost EMPTY.ptx")
	}
	check(os.Setenv("KM_DEVICE", "cpu:0"))
	stream, err := guda.StreamCreate()
	check(err)
	module, err := guda.ModuleLoad(os.Args[1])
	check(err)
	function, err := module.GetFunction("empty")
	check(err)
	measure("status_query", queries, func() { query(stream) })
	measure("launch_empty", launches, func() { launch(stream, function) })
}
