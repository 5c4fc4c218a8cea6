package kernelmill_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

func TestPoolsReuseTheirBlocks(t *testing.T) {
	f := newFixture(t)
	pool := keep(f, must(f.context.NewPool(1<<20))(f))
	first := must(kernelmill.ZeroedPoolSlice[float32](pool, 1000))(t)
	address := must(first.Address())(t)
	ok(t, first.Close())
	second := must(kernelmill.PoolSliceOn[float32](pool, f.stream, 1000))(t)
	equal(t, must(second.Address())(t), address)
	info := must(pool.Info())(t)
	equal(t, info.ReuseCount, 1)
	equal(t, info.AllocationCount, 2)
	equal(t, info.LimitBytes, 1<<20)
	if info.UsedBytes < 4000 || info.UsedBytes > 4500 || !strings.Contains(info.String(), "1 of 2") {
		t.Errorf("%+v, %v", info, info)
	}
	expect(t, kernelmill.ErrOutOfDeviceMemory, errorOf(kernelmill.PoolSlice[byte](pool, 1<<21)))
	expect(t, kernelmill.ErrInvalidArgument, errorOf(kernelmill.PoolSlice[byte](pool, -1)))
	expect(t, kernelmill.ErrInvalidHandle, errorOf(kernelmill.PoolSlice[byte](nil, 1)))
	expect(t, kernelmill.ErrInvalidHandle, errorOf(kernelmill.PoolSliceOn[byte](pool, nil, 1)))
	ok(t, errors.Join(second.CloseOn(f.stream), f.stream.Synchronize()))
	ok(t, errors.Join(pool.ResetHighWater(), pool.SetReleaseThreshold(0), pool.Trim(0)))
	equal(t, must(pool.Info())(t).ReservedHighBytes, info.ReservedBytes)
	equal(t, must(pool.Info())(t).ReservedBytes, 0)
}

func TestHostMemoryIsCopiedAsynchronously(t *testing.T) {
	f := newFixture(t)
	memory := keep(f, must(kernelmill.NewHostMemory[int32](f.context, 1000))(f))
	data := must(memory.Data())(t)
	for i := range data {
		data[i] = int32(i)
	}
	slice := keep(f, must(kernelmill.NewSlice[int32](f.context, 1000))(f))
	gate := keep(f, must(kernelmill.NewZeroedSlice[uint32](f.context, 1))(f))
	ok(t, kernelmill.WaitValue(f.stream, gate, 0, kernelmill.WaitEqual, 1))
	ok(t, slice.UploadFrom(f.stream, memory)) // would wait for ever with other memory
	equal(t, must(f.stream.Query())(t), false)
	other := keep(f, must(f.context.NewStream())(f))
	ok(t, kernelmill.WriteValue(other, gate, 0, 1))
	ok(t, f.stream.Synchronize())
	clear(data)
	ok(t, slice.DownloadTo(f.stream, memory))
	ok(t, f.stream.Synchronize())
	equal(t, data[999], 999)
	expect(t, kernelmill.ErrInvalidArgument, errorOf(kernelmill.NewHostMemory[int8](f.context, 0)))
	expect(t, kernelmill.ErrInvalidHandle, errorOf(kernelmill.NewHostMemory[int8](nil, 1)))
	expect(t, kernelmill.ErrInvalidHandle, slice.UploadFrom(f.stream, nil))
	expect(t, kernelmill.ErrOutOfBounds, kernelmill.WriteValue(other, gate, 1, 1))
	expect(t, kernelmill.ErrInvalidHandle, kernelmill.WriteValue[uint32](other, nil, 0, 1))
}

func TestMemoryOfTheProgramIsUsedWhereItIs(t *testing.T) {
	f := newFixture(t)
	numbers := []float32{1, 2, 3}
	registered := keep(f, must(kernelmill.RegisterHostMemory(f.context, numbers))(f))
	slice := keep(f, must(kernelmill.NewSlice[float32](f.context, 3))(f))
	ok(t, slice.UploadFrom(f.stream, registered))
	equal(t, must(slice.ToHost(f.stream))(t)[2], 3)
	ok(t, registered.Close())
	over := keep(f, must(kernelmill.SliceOver(f.context, numbers))(f))
	ok(t, f.stream.Launch(f.function("scale")).Block(3).Args(over, float32(2), int32(3)).Submit())
	ok(t, f.stream.Synchronize())
	if !slices.Equal(numbers, []float32{2, 4, 6}) {
		t.Errorf("%v", numbers)
	}
	expect(t, kernelmill.ErrInvalidArgument, errorOf(kernelmill.SliceOver[int8](f.context, nil)))
	expect(t, kernelmill.ErrInvalidArgument,
		errorOf(kernelmill.RegisterHostMemory[int8](f.context, nil)))
	expect(t, kernelmill.ErrInvalidHandle, errorOf(kernelmill.SliceOver(nil, numbers)))
	expect(t, kernelmill.ErrInvalidHandle,
		errorOf(kernelmill.SliceOverWithRelease(f.context, numbers, nil)))
	released := make(chan bool, 1)
	with := must(kernelmill.SliceOverWithRelease(f.context, make([]int32, 4),
		func() { released <- true }))(f)
	ok(t, with.Close())
	<-released
	expect(t, kernelmill.ErrInvalidHandle, errorOf(kernelmill.RegisterHostMemory(nil, numbers)))
}

func TestHostDataShowsDeviceMemory(t *testing.T) {
	f := newFixture(t)
	for _, slice := range []*kernelmill.Slice[int32]{
		must(kernelmill.NewManagedSlice[int32](f.context, 3))(t),
		must(kernelmill.NewAlignedSlice[int32](f.context, 3, 4096))(t),
	} {
		keep(f, slice)
		data := must(slice.HostData())(t)
		ok(t, slice.Fill(f.stream, 7))
		ok(t, f.stream.Synchronize())
		if !slices.Equal(data, []int32{7, 7, 7}) {
			t.Errorf("%v", data)
		}
	}
	aligned := keep(f, must(kernelmill.NewAlignedSlice[int32](f.context, 3, 1<<16))(f))
	equal(t, must(aligned.Address())(t)%(1<<16), 0)
	expect(t, kernelmill.ErrInvalidArgument,
		errorOf(kernelmill.NewAlignedSlice[int32](f.context, 3, 24)))
	expect(t, kernelmill.ErrInvalidArgument,
		errorOf(kernelmill.NewAlignedSlice[int32](f.context, 3, 0)))
	empty := keep(f, must(kernelmill.NewSlice[int32](f.context, 0))(f))
	equal(t, len(must(empty.HostData())(t)), 0)
}

func TestFilesAreMapped(t *testing.T) {
	f := newFixture(t)
	path := filepath.Join(t.TempDir(), "bytes")
	ok(t, os.WriteFile(path, []byte("0123456789abcdef"), 0o600))
	slice := keep(f, must(kernelmill.MapFile[byte](f.context, path, 4, -1))(f))
	equal(t, string(must(slice.ToHost(f.stream))(t)), "456789abcdef")
	expect(t, kernelmill.ErrNotPermitted, slice.Fill(f.stream, 0))
	private := keep(f, must(kernelmill.MapFilePrivate[byte](f.context, path, 0, 2))(f))
	ok(t, private.Fill(f.stream, 'x'))
	equal(t, string(must(private.ToHost(f.stream))(t)), "xx")
	host := keep(f, must(kernelmill.MapHostFile[byte](f.context, path, 10, -1))(f))
	equal(t, string(must(host.Data())(t)), "abcdef")
	writable := keep(f, must(kernelmill.MapHostFilePrivate[byte](f.context, path, 0, 4))(f))
	must(writable.Data())(t)[0] = 'y'
	equal(t, string(must(os.ReadFile(path))(t)), "0123456789abcdef")
	expect(t, kernelmill.ErrOutOfBounds, errorOf(kernelmill.MapFile[byte](f.context, path, 8, 9)))
	expect(t, kernelmill.ErrInvalidArgument, errorOf(kernelmill.MapFile[byte](f.context, path, 0, -2)))
	expect(t, kernelmill.ErrOutOfBounds, errorOf(kernelmill.MapFile[byte](f.context, path, 99, -1)))
	expect(t, kernelmill.ErrNotFound, errorOf(kernelmill.MapFile[byte](f.context, path+"x", 0, -1)))
	expect(t, kernelmill.ErrNotFound,
		errorOf(kernelmill.MapHostFile[byte](f.context, path+"x", 0, -1)))
}

func TestRowsAreCopied(t *testing.T) {
	f := newFixture(t)
	slice, pitch, err := kernelmill.NewPitchedSlice(f.context, 3, 2)
	ok(t, err)
	keep(f, slice)
	if pitch < 3 || pitch%256 != 0 || slice.Len() < int(pitch)+3 {
		t.Errorf("a pitch of %d, %d bytes", pitch, slice.Len())
	}
	in := kernelmill.Rows{WidthBytes: 3, Height: 2, Depth: 1, DestinationPitchBytes: pitch}
	out := kernelmill.Rows{WidthBytes: 3, Height: 2, Depth: 1, SourcePitchBytes: pitch}
	ok(t, slice.UploadRows(f.stream, []byte("abcdef"), in))
	other := keep(f, must(kernelmill.NewZeroedSlice[byte](f.context, 6))(f))
	ok(t, other.CopyRowsFrom(f.stream, slice, out))
	equal(t, string(must(other.ToHost(f.stream))(t)), "abcdef")
	fill := kernelmill.RowFill{OffsetBytes: 1, PitchBytes: 3, Value: 'x', ValueSizeBytes: 1,
		WidthCount: 2, Height: 2}
	ok(t, other.FillRows(f.stream, fill))
	equal(t, string(must(other.ToHost(f.stream))(t)), "axxdxx")
	result := make([]byte, 6)
	ok(t, slice.DownloadRows(f.stream, result, out))
	equal(t, string(result), "abcdef")
	expect(t, kernelmill.ErrOutOfBounds, slice.DownloadRows(f.stream, result[:5], out))
	expect(t, kernelmill.ErrOutOfBounds, slice.UploadRows(f.stream, nil, in))
	out.Depth, out.DestinationLayerRows = 1<<60, 1<<60
	expect(t, kernelmill.ErrOutOfBounds, slice.DownloadRows(f.stream, result, out))
	expect(t, kernelmill.ErrInvalidArgument, errorOf2(kernelmill.NewPitchedSlice(f.context, -1, 2)))
	expect(t, kernelmill.ErrInvalidHandle, other.CopyRowsFrom(f.stream, nil, in))
}

func errorOf2[A, B any](_ A, _ B, err error) error { return err }

func TestAddressesAreChecked(t *testing.T) {
	f := newFixture(t)
	slice := keep(f, must(kernelmill.NewZeroedSlice[uint16](f.context, 8))(f))
	address := must(slice.Address())(t)
	ok(t, kernelmill.UploadTo(f.stream, address+2, []uint16{1, 2}))
	ok(t, f.stream.CopyAddress(address+8, address+2, 4))
	ok(t, kernelmill.FillAddress(f.stream, address+12, uint16(9), 2))
	ok(t, kernelmill.FillAddress(f.stream, address, uint8(3), 1))
	rows := kernelmill.Rows{WidthBytes: 2, Height: 1, Depth: 1}
	ok(t, kernelmill.UploadRowsTo(f.stream, address+6, []uint16{5}, rows))
	got := make([]uint16, 8)
	ok(t, kernelmill.DownloadFrom(f.stream, got, address))
	if !slices.Equal(got, []uint16{3, 1, 2, 5, 1, 2, 9, 9}) {
		t.Errorf("%v", got)
	}
	ok(t, f.stream.CopyRowsAddress(address, address+6, rows))
	ok(t, f.stream.FillRowsAddress(address, kernelmill.RowFill{OffsetBytes: 4, Value: 7,
		ValueSizeBytes: 4, WidthCount: 1, Height: 1}))
	one := make([]uint16, 1)
	ok(t, kernelmill.DownloadRowsFrom(f.stream, one, address+4, rows))
	equal(t, one[0], 7)
	equal(t, must(slice.ToHost(f.stream))(t)[0], 5)
	found, offset, err := f.context.FindSlice(address + 5)
	ok(t, err)
	keep(f, found)
	equal(t, offset, 5)
	equal(t, found.Len(), 16)
	expect(t, kernelmill.ErrOutOfBounds, kernelmill.UploadTo(f.stream, address+14, []uint16{1, 2}))
	expect(t, kernelmill.ErrOutOfBounds, kernelmill.FillAddress(f.stream, 16, uint32(0), 1))
	expect(t, kernelmill.ErrNotFound, errorOf2(f.context.FindSlice(16)))
	expect(t, kernelmill.ErrInvalidHandle, kernelmill.UploadTo(nil, address, got))
	expect(t, kernelmill.ErrInvalidHandle, kernelmill.FillAddress(nil, address, uint32(0), 1))
}

func TestSlicesAreReadersAndWriters(t *testing.T) {
	f := newFixture(t)
	text := strings.Repeat("a slice of bytes. ", 100_000)
	slice := keep(f, must(kernelmill.NewZeroedSlice[byte](f.context, len(text)))(f))
	view := kernelmill.BytesOn(f.stream, slice)
	count := must(view.ReadFrom(iotest.OneByteReader(strings.NewReader(text[:100]))))(t)
	equal(t, count, 100)
	equal(t, must(view.ReadFrom(strings.NewReader(text)))(t), int64(len(text)))
	var buffer bytes.Buffer
	equal(t, must(view.WriteTo(&buffer))(t), int64(len(text)))
	equal(t, buffer.String() == text, true)
	section := io.NewSectionReader(view, 2, 5)
	equal(t, string(must(io.ReadAll(section))(t)), text[2:7])
	equal(t, must(view.WriteAt([]byte("xyz"), 1))(t), 3)
	got := make([]byte, 5)
	equal(t, must(view.ReadAt(got, 0))(t), 5)
	equal(t, string(got), "axyzi")
	if n, err := view.ReadAt(got, int64(len(text))-2); n != 2 || err != io.EOF {
		t.Errorf("%d, %v at the end", n, err)
	}
	expect(t, kernelmill.ErrOutOfBounds, errorOf(view.ReadAt(got, -1)))
	expect(t, kernelmill.ErrOutOfBounds, errorOf(view.WriteAt(got, int64(len(text))-2)))
	small := keep(f, must(kernelmill.NewSlice[byte](f.context, 3))(f))
	if _, err := kernelmill.BytesOn(f.stream, small).ReadFrom(strings.NewReader("abcd")); err !=
		io.ErrShortWrite {
		t.Errorf("more than fits: %v", err)
	}
	wrong := errors.New("wrong")
	if _, err := view.ReadFrom(iotest.ErrReader(wrong)); !errors.Is(err, wrong) {
		t.Error(err)
	}
	expect(t, kernelmill.ErrInvalidHandle, errorOf(kernelmill.BytesOn(f.stream, nil).ReadAt(got, 0)))
	expect(t, kernelmill.ErrInvalidHandle, errorOf(kernelmill.BytesOn(nil, small).ReadAt(got, 0)))
}
