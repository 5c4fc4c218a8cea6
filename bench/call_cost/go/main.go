// The Go contestant: what the calls cost through package kernelmill.
package main

import (
	"fmt"
	"log"
	"os"
	"time"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
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

func query(stream *kernelmill.Stream) {
	for range queries {
		_, err := stream.Query()
		check(err)
	}
}

func launch(stream *kernelmill.Stream, function *kernelmill.Function) {
	call := stream.Launch(function)
	for i := 1; i <= launches; i++ {
		check(call.Submit())
		if i%launchesPerWait == 0 {
			check(stream.Synchronize())
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
	context, err := kernelmill.Open("cpu:0")
	check(err)
	stream, err := context.NewStream()
	check(err)
	module, err := context.LoadFile(os.Args[1])
	check(err)
	function, err := module.Function("empty")
	check(err)
	measure("status_query", queries, func() { query(stream) })
	measure("launch_empty", launches, func() { launch(stream, function) })
}
