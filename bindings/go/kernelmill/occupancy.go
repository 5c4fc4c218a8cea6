package kernelmill

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/internal/callback"
	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// OccupancyLimit says what allows the fewest blocks.
type OccupancyLimit int32

// The limits.
const (
	LimitedByWarps        OccupancyLimit = raw.OCCUPANCY_LIMIT_WARPS
	LimitedByRegisters    OccupancyLimit = raw.OCCUPANCY_LIMIT_REGISTERS
	LimitedBySharedMemory OccupancyLimit = raw.OCCUPANCY_LIMIT_SHARED_MEMORY
	LimitedByBlocks       OccupancyLimit = raw.OCCUPANCY_LIMIT_BLOCKS
)

// Occupancy says how many blocks of a kernel a multiprocessor holds at a time, and why no more.
type Occupancy struct {
	ActiveBlocks         uint32
	ActiveWarps          uint32
	MaxWarps             uint32 // of a multiprocessor
	Percent              uint32 // of the warps
	Limit                OccupancyLimit
	BlocksByWarps        uint32 // that each allows by itself; math.MaxUint32: any number
	BlocksByRegisters    uint32
	BlocksBySharedMemory uint32
	BlocksByBlocks       uint32
	RegistersPerBlock    uint32
	SharedBytesPerBlock  uint64
}

// size32 is a number of threads or blocks as the library takes it.
func size32(op, what string, count int) (uint32, error) {
	if count < 0 || count > math.MaxUint32 {
		return 0, fail(op, ErrInvalidArgument, fmt.Sprintf("%d is no number of %s", count, what))
	}
	return uint32(count), nil
}

// Occupancy says how many blocks of so many threads, with so much dynamic shared memory each, a
// multiprocessor holds at a time.
func (f *Function) Occupancy(blockThreads int, sharedBytes uint64) (Occupancy, error) {
	const op = "Function.Occupancy"
	if _, err := f.base().use(op); err != nil {
		return Occupancy{}, err
	}
	threads, err := size32(op, "threads", blockThreads)
	if err != nil {
		return Occupancy{}, err
	}
	info := raw.Occupancy{StructSize: uint32(unsafe.Sizeof(raw.Occupancy{}))}
	err = f.base().call(op, func(id uint64) *raw.Failure {
		return raw.Km_function_occupancy(id, threads, sharedBytes, unsafe.Pointer(&info))
	})
	return Occupancy{info.ActiveBlocks, info.ActiveWarps, info.MaxWarps, info.Percent,
		OccupancyLimit(info.Limit), info.BlocksByWarps, info.BlocksByRegisters,
		info.BlocksBySharedMemory, info.BlocksByBlocks, info.RegistersPerBlock,
		info.SharedBytesPerBlock}, err
}

// BestBlock gives the block size, of at most maxThreads (0: as many as the kernel can have), that
// keeps the most threads busy, and the smallest grid that fills the device with such blocks.
// SharedOf says how much dynamic shared memory a block of a size needs; nil: none.
func (f *Function) BestBlock(
	sharedOf func(blockThreads uint32) uint64, maxThreads int,
) (blockThreads, gridBlocks uint32, err error) {
	const op = "Function.BestBlock"
	if _, err := f.base().use(op); err != nil {
		return 0, 0, err
	}
	most, err := size32(op, "threads", maxThreads)
	if err != nil {
		return 0, 0, err
	}
	var call, userData unsafe.Pointer
	if sharedOf != nil {
		call, userData = callback.Shared, callback.New(sharedOf)
		defer callback.Drop(userData)
	}
	var out [2]uint32
	err = f.base().call(op, func(id uint64) *raw.Failure {
		return raw.Km_function_best_block(id, 0, call, userData, most, unsafe.Pointer(&out[0]),
			unsafe.Pointer(&out[1]))
	})
	return out[0], out[1], err
}

// AvailableSharedBytes is the most dynamic shared memory that a block can have while so many blocks
// of so many threads fit on a multiprocessor.
func (f *Function) AvailableSharedBytes(blocks, blockThreads int) (uint64, error) {
	const op = "Function.AvailableSharedBytes"
	if _, err := f.base().use(op); err != nil {
		return 0, err
	}
	count, err := size32(op, "blocks", blocks)
	if err != nil {
		return 0, err
	}
	threads, err := size32(op, "threads", blockThreads)
	if err != nil {
		return 0, err
	}
	return get[uint64](f.base(), op, func(id uint64, out unsafe.Pointer) *raw.Failure {
		return raw.Km_function_available_shared_bytes(id, count, threads, out)
	})
}

// MaxActiveClusters is how many clusters of so many blocks the device holds at a time.
func (f *Function) MaxActiveClusters(
	blockThreads int, sharedBytes uint64, clusterBlocks int,
) (uint32, error) {
	const op = "Function.MaxActiveClusters"
	if _, err := f.base().use(op); err != nil {
		return 0, err
	}
	threads, err := size32(op, "threads", blockThreads)
	if err != nil {
		return 0, err
	}
	blocks, err := size32(op, "blocks", clusterBlocks)
	if err != nil {
		return 0, err
	}
	return get[uint32](f.base(), op, func(id uint64, out unsafe.Pointer) *raw.Failure {
		return raw.Km_function_max_active_clusters(id, threads, sharedBytes, blocks, out)
	})
}
