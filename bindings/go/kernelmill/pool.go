package kernelmill

import (
	"fmt"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Pool keeps blocks of device memory that are freed and gives them out again, for a small part of
// what an allocation costs. A block is at most an eighth larger than what was asked for.
type Pool struct{ object }

// NewPool makes a pool that takes at most limitBytes from the device; 0: as much as there is.
func (c *Context) NewPool(limitBytes uint64) (*Pool, error) {
	id, err := get[uint64](c.base(), "Context.NewPool",
		func(id uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_pool_create(id, limitBytes, out)
		})
	if err != nil {
		return nil, err
	}
	pool := &Pool{}
	pool.open(id, raw.Km_pool_destroy)
	return pool, nil
}

func (p *Pool) base() *object {
	if p == nil {
		return nil
	}
	return &p.object
}

// Close lets the pool go. Blocks in use stay until they are freed.
func (p *Pool) Close() error { return p.base().close("Pool.Close") }

// PoolSlice takes a slice out of a pool, usable at once on every stream; what it holds at first is
// not defined. Its block is free again when the slice, its views and queued work are gone.
func PoolSlice[T Element](pool *Pool, length int) (*Slice[T], error) {
	return newSlice[T](pool.base(), "PoolSlice", raw.Km_pool_allocate, length, raw.SLICE_DEFAULT)
}

// ZeroedPoolSlice is PoolSlice, filled with zeros.
func ZeroedPoolSlice[T Element](pool *Pool, length int) (*Slice[T], error) {
	return newSlice[T](pool.base(), "ZeroedPoolSlice", raw.Km_pool_allocate, length,
		raw.SLICE_ZEROED)
}

// PoolSliceOn takes a slice out of a pool in the order of a stream, for work that is queued there
// later. A block that was last used on this stream is taken at once. Give it back by
// [Slice.CloseOn].
func PoolSliceOn[T Element](pool *Pool, stream *Stream, length int) (*Slice[T], error) {
	const op = "PoolSliceOn"
	streamID, err := stream.base().useArgument(op, "the stream")
	if err != nil {
		return nil, err
	}
	allocate := func(id, count, size uint64, flags uint32, out unsafe.Pointer) *raw.Failure {
		return raw.Km_pool_allocate_on_stream(id, streamID, count, size, flags, out)
	}
	return newSlice[T](pool.base(), op, allocate, length, raw.SLICE_DEFAULT)
}

// SetReleaseThreshold has blocks that are freed go back to the device while the pool has more than
// this. At the start it keeps all.
func (p *Pool) SetReleaseThreshold(thresholdBytes uint64) error {
	return p.base().call("Pool.SetReleaseThreshold", func(id uint64) *raw.Failure {
		return raw.Km_pool_set_release_threshold(id, thresholdBytes)
	})
}

// Trim gives free blocks back to the device until the pool has at most keepBytes.
func (p *Pool) Trim(keepBytes uint64) error {
	return p.base().call("Pool.Trim", func(id uint64) *raw.Failure {
		return raw.Km_pool_trim(id, keepBytes)
	})
}

// ResetHighWater has the high-water marks start again from what is used now.
func (p *Pool) ResetHighWater() error {
	return p.base().call("Pool.ResetHighWater", raw.Km_pool_reset_high_water)
}

// PoolInfo has the figures of a pool.
type PoolInfo struct {
	LimitBytes            uint64 // 0: none
	ReleaseThresholdBytes uint64
	UsedBytes             uint64 // by blocks in use
	UsedHighBytes         uint64
	ReservedBytes         uint64 // by all blocks
	ReservedHighBytes     uint64
	UsedBlockCount        uint64
	AllocationCount       uint64 // since the pool was made
	ReuseCount            uint64 // of those, the ones that took a block that was there
}

// String is the figures in one line.
func (i PoolInfo) String() string {
	return fmt.Sprintf("%d bytes in %s used of %d reserved, %d of %s reused", i.UsedBytes,
		counted(i.UsedBlockCount, "block"), i.ReservedBytes, i.ReuseCount,
		counted(i.AllocationCount, "allocation"))
}

// Info gives the figures.
func (p *Pool) Info() (PoolInfo, error) {
	info := raw.PoolInfo{StructSize: uint32(unsafe.Sizeof(raw.PoolInfo{}))}
	err := p.base().call("Pool.Info", func(id uint64) *raw.Failure {
		return raw.Km_pool_info_get(id, unsafe.Pointer(&info))
	})
	return PoolInfo{info.LimitBytes, info.ReleaseThresholdBytes, info.UsedBytes, info.UsedHighBytes,
		info.ReservedBytes, info.ReservedHighBytes, info.UsedBlockCount, info.AllocationCount,
		info.ReuseCount}, err
}
