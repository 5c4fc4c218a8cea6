// The benchmarks of the GUDA chapters: transfers, vector add, SAXPY, launches. Each figure is a line
// of JSON, the best and the median of all rounds.
package main

import (
	"encoding/json"
	"log"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
)

const (
	transferBytes = 64 << 20
	vectorLength  = 1 << 24
	vectorBytes   = 4 * vectorLength
	launches      = 1000
	blockThreads  = 256
)

const source = `
extern "C" __global__ void add(const float* x, const float* y, float* sum, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = x[i] + y[i];
}
extern "C" __global__ void empty() {}`

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// figure is one line of what is printed.
type figure struct {
	Contestant string  `json:"contestant"`
	Metric     string  `json:"metric"`
	Unit       string  `json:"unit"`
	Best       float64 `json:"best"`
	Median     float64 `json:"median"`
}

// contest is one way of doing something.
type contest struct {
	contestant, metric string
	bytes              float64 // 0: the time of one launch counts
	run                func()
}

func (c contest) value(took time.Duration) float64 {
	if c.bytes == 0 {
		return took.Seconds() * 1e6 / launches
	}
	return c.bytes / took.Seconds() / 1e9
}

// measure runs all contests in turn, as many rounds as are asked for.
func measure(contests []contest, rounds int) {
	times := make([][]time.Duration, len(contests))
	for round := range rounds + 1 {
		for i, c := range contests {
			start := time.Now()
			c.run()
			if round > 0 { // the first one warms up
				times[i] = append(times[i], time.Since(start))
			}
		}
	}
	for i, c := range contests {
		slices.Sort(times[i])
		unit := "GB/s"
		if c.bytes == 0 {
			unit = "us"
		}
		check(json.NewEncoder(os.Stdout).Encode(figure{c.contestant, c.metric, unit,
			c.value(times[i][0]), c.value(times[i][len(times[i])/2])}))
	}
}

func malloc(size int) guda.DevicePtr {
	ptr := guda.Malloc(size)
	if ptr == 0 {
		log.Fatal(guda.GetLastError())
	}
	check(guda.Memset(ptr, 0, size))
	return ptr
}

func numbers(ptr guda.DevicePtr) []float32 {
	data, err := guda.DeviceFloat32(ptr, vectorLength)
	check(err)
	return data
}

func addRange(x, y, sum []float32, begin, end int) {
	for i := begin; i < end; i++ {
		sum[i] = x[i] + y[i]
	}
}

// byGoroutines is the loop as a program without a runtime has it: a part for each core.
func byGoroutines(x, y, sum []float32) {
	workers := runtime.GOMAXPROCS(0)
	var group sync.WaitGroup
	for worker := range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			addRange(x, y, sum, worker*len(x)/workers, (worker+1)*len(x)/workers)
		}()
	}
	group.Wait()
}

func transfers() []contest {
	host, device := make([]byte, transferBytes), malloc(transferBytes)
	pointer := unsafe.Pointer(&host[0])
	return []contest{{"guda", "transfers", 2 * transferBytes, func() {
		check(guda.MemcpyHtoD(device, pointer, transferBytes))
		check(guda.MemcpyDtoH(pointer, device, transferBytes))
	}}}
}

func vectorAdds(add *guda.Function) []contest {
	x, y, sum := malloc(vectorBytes), malloc(vectorBytes), malloc(vectorBytes)
	hx, hy, hsum := numbers(x), numbers(y), numbers(sum)
	grid, block := guda.Dim3{X: vectorLength / blockThreads}, guda.Dim3{X: blockThreads}
	launch := func(kernel guda.Kernel, args ...any) func() {
		return func() {
			check(guda.Launch(kernel, grid, block, args...))
			check(guda.DeviceSynchronize())
		}
	}
	const name, bytes = "vector_add", 3 * vectorBytes
	return []contest{
		{"guda", name, bytes, launch(add, x, y, sum, int32(vectorLength))},
		{"guda_blocks", name, bytes, launch(guda.BlockFunc(func(first guda.ThreadID) {
			addRange(hx, hy, hsum, first.Global(), first.Global()+first.BlockDim.X)
		}))},
		{"guda_threads", name, bytes, launch(guda.ThreadFunc(func(tid guda.ThreadID) {
			i := tid.Global()
			hsum[i] = hx[i] + hy[i]
		}))},
		{"goroutines", name, bytes, func() { byGoroutines(hx, hy, hsum) }},
		{"guda", "saxpy", bytes, func() {
			check(guda.Saxpy(vectorLength, 2, x, 1, y, 1))
			check(guda.DeviceSynchronize())
		}},
	}
}

func emptyLaunches(empty *guda.Function) []contest {
	one := guda.Dim3{X: 1}
	return []contest{{"guda", "launch", 0, func() {
		for range launches {
			check(guda.Launch(empty, one, one))
		}
		check(guda.DeviceSynchronize())
	}}}
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: guda ROUNDS")
	}
	rounds, err := strconv.Atoi(os.Args[1])
	check(err)
	module, err := guda.ModuleLoadSource(source)
	check(err)
	add, err := module.GetFunction("add")
	check(err)
	empty, err := module.GetFunction("empty")
	check(err)
	measure(transfers(), rounds)
	measure(vectorAdds(add), rounds)
	measure(emptyLaunches(empty), rounds)
}
