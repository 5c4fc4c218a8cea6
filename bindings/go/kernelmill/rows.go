package kernelmill

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Rows describes a copy of rows and layers between two places: Height rows of WidthBytes in each of
// Depth layers. A picture has depth 1. A pitch is the distance from row to row, 0 for WidthBytes;
// layer rows are those from layer to layer, 0 for Height.
type Rows struct {
	WidthBytes, Height, Depth uint64
	DestinationOffsetBytes    uint64
	DestinationPitchBytes     uint64
	DestinationLayerRows      uint64
	SourceOffsetBytes         uint64
	SourcePitchBytes          uint64
	SourceLayerRows           uint64
}

// native is the description as the library takes it.
func (r Rows) native() unsafe.Pointer {
	copied := raw.Copy3d(r)
	return unsafe.Pointer(&copied)
}

// spanBytes is how much memory the rows of one side reach over.
func (r Rows) spanBytes(offset, pitch, layerRows uint64) (uint64, bool) {
	if r.WidthBytes == 0 || r.Height == 0 || r.Depth == 0 {
		return 0, true
	}
	if pitch == 0 {
		pitch = r.WidthBytes
	}
	if layerRows == 0 {
		layerRows = r.Height
	}
	last := float64(r.Depth-1)*float64(layerRows) + float64(r.Height-1)
	if last*float64(pitch)+float64(offset)+float64(r.WidthBytes) > math.MaxInt64 {
		return 0, false
	}
	return offset + ((r.Depth-1)*layerRows+r.Height-1)*pitch + r.WidthBytes, true
}

// inside is an error when the rows leave the program's memory, which the library cannot see.
func (r Rows) inside(op string, offset, pitch, layerRows, size uint64) error {
	span, fits := r.spanBytes(offset, pitch, layerRows)
	if fits && span <= size {
		return nil
	}
	return fail(op, ErrOutOfBounds, fmt.Sprintf(
		"the rows %+v reach beyond the %s of the program's memory", r, counted(size, "byte")))
}

// NewPitchedSlice allocates rows of bytes that begin pitchBytes apart, at multiples of 256 bytes.
func NewPitchedSlice(
	context *Context, rowBytes, rowCount int,
) (slice *Slice[byte], pitchBytes uint64, err error) {
	const op = "NewPitchedSlice"
	if rowBytes < 0 || rowCount < 0 {
		return nil, 0, fail(op, ErrInvalidArgument,
			fmt.Sprintf("%d rows of %d bytes: a size is negative", rowCount, rowBytes))
	}
	id, err := getFrom[uint64](context.base(), op, "the context",
		func(id uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_slice_create_pitched(id, uint64(rowBytes), uint64(rowCount),
				raw.SLICE_DEFAULT, out, unsafe.Pointer(&pitchBytes))
		})
	if err != nil {
		return nil, 0, err
	}
	slice = openSlice[byte](id, 0, false)
	info, err := slice.info(op)
	slice.length = int(info.SizeBytes)
	return slice, pitchBytes, err
}

// UploadRows copies rows of elements to the slice, in stream order. They have been read when it
// returns.
func (s *Slice[T]) UploadRows(stream *Stream, elements []T, rows Rows) error {
	const op = "Slice.UploadRows"
	err := rows.inside(op, rows.SourceOffsetBytes, rows.SourcePitchBytes, rows.SourceLayerRows,
		sizeIn(elements))
	if err == nil {
		err = stream.refuseCapture(op)
	}
	return s.rowCall(op, stream, err, func(id, stream uint64) *raw.Failure {
		return raw.Km_slice_upload_3d(stream, id, pointerOrNone(elements), rows.native())
	})
}

// DownloadRows copies rows of the slice to elements, in stream order. They are there when it
// returns.
func (s *Slice[T]) DownloadRows(stream *Stream, elements []T, rows Rows) error {
	const op = "Slice.DownloadRows"
	err := rows.inside(op, rows.DestinationOffsetBytes, rows.DestinationPitchBytes,
		rows.DestinationLayerRows, sizeIn(elements))
	if err == nil {
		err = stream.refuseCapture(op)
	}
	return s.rowCall(op, stream, err, func(id, stream uint64) *raw.Failure {
		return raw.Km_slice_download_3d(stream, id, pointerOrNone(elements), rows.native())
	})
}

// rowCall makes a raw call of slice and stream, unless the rows are wrong.
func (s *Slice[T]) rowCall(op string, stream *Stream, wrong error,
	call func(id, stream uint64) *raw.Failure) error {
	if _, err := s.base().use(op); err != nil {
		return err
	}
	if wrong != nil {
		return wrong
	}
	return s.base().callWith(op, stream.base(), "the stream", call)
}

// pointerOrNone is the first element's place, never null: the library tells null from empty.
func pointerOrNone[T Element](elements []T) unsafe.Pointer {
	if cap(elements) == 0 {
		return unsafe.Pointer(new(byte))
	}
	return pointerTo(elements)
}

// CopyRowsFrom copies rows of another slice of the context, or of this one, in stream order.
func (s *Slice[T]) CopyRowsFrom(stream *Stream, source Memory, rows Rows) error {
	const op = "Slice.CopyRowsFrom"
	sourceID, err := baseOf(source).useArgument(op, "the source")
	err = s.rowCall(op, stream, err, func(id, stream uint64) *raw.Failure {
		return raw.Km_slice_copy_3d(stream, id, sourceID, rows.native())
	})
	runtime.KeepAlive(source)
	return err
}

// RowFill describes a fill of rows: a number of 1, 2 or 4 bytes, WidthCount times in each of Height
// rows, which begin PitchBytes apart (0: without a gap), from OffsetBytes on.
type RowFill struct {
	OffsetBytes, PitchBytes uint64
	Value                   uint32
	ValueSizeBytes          uint32
	WidthCount, Height      uint64
}

// FillRows fills rows of the slice, in stream order.
func (s *Slice[T]) FillRows(stream *Stream, fill RowFill) error {
	return s.base().callWith("Slice.FillRows", stream.base(), "the stream",
		func(id, stream uint64) *raw.Failure {
			return raw.Km_slice_fill_2d(stream, id, fill.OffsetBytes, fill.PitchBytes, fill.Value,
				fill.ValueSizeBytes, fill.WidthCount, fill.Height)
		})
}

// AddCopyRows adds a copy of rows between slices.
func (g *Graph) AddCopyRows(destination, source Memory, rows Rows, after ...Node) (Node, error) {
	const op = "Graph.AddCopyRows"
	work, err := copyRowsWork(op, destination, source, rows)
	return g.addNode(op, after, work, err)
}

// SetCopyRows gives a node that is a copy of rows other parameters.
func (g *Graph) SetCopyRows(node Node, destination, source Memory, rows Rows) error {
	const op = "Graph.SetCopyRows"
	work, err := copyRowsWork(op, destination, source, rows)
	return g.setNode(op, node, work, err)
}

func copyRowsWork(op string, destination, source Memory, rows Rows) (*nodeWork, error) {
	to, from, err := pairOf(op, destination, source)
	if err != nil {
		return nil, err
	}
	return &nodeWork{
		add: func(id uint64, after unsafe.Pointer, n uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_graph_add_copy_3d(id, after, n, to, from, rows.native(), out)
		},
		set: func(id, node uint64) *raw.Failure {
			return raw.Km_graph_set_copy_3d(id, node, to, from, rows.native())
		},
		objects: []*object{destination.base(), source.base()},
	}, nil
}

// AddUploadRows adds a copy of rows of page-locked memory to a slice.
func (g *Graph) AddUploadRows(
	destination Memory, source PinnedMemory, rows Rows, after ...Node,
) (Node, error) {
	const op = "Graph.AddUploadRows"
	work, err := uploadRowsWork(op, destination, source, rows)
	return g.addNode(op, after, work, err)
}

// SetUploadRows gives a node that is an upload of rows other parameters.
func (g *Graph) SetUploadRows(node Node, destination Memory, source PinnedMemory, rows Rows) error {
	const op = "Graph.SetUploadRows"
	work, err := uploadRowsWork(op, destination, source, rows)
	return g.setNode(op, node, work, err)
}

func uploadRowsWork(
	op string, destination Memory, source PinnedMemory, rows Rows,
) (*nodeWork, error) {
	pointer, size, err := placeOf(op, source)
	if err == nil {
		err = rows.inside(op, rows.SourceOffsetBytes, rows.SourcePitchBytes, rows.SourceLayerRows,
			size)
	}
	if err != nil {
		return nil, err
	}
	to, err := baseOf(destination).useArgument(op, "the destination")
	if err != nil {
		return nil, err
	}
	return &nodeWork{
		add: func(id uint64, after unsafe.Pointer, n uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_graph_add_upload_3d(id, after, n, to, pointer, rows.native(), out)
		},
		set: func(id, node uint64) *raw.Failure {
			return raw.Km_graph_set_upload_3d(id, node, to, pointer, rows.native())
		},
		objects: []*object{destination.base(), source.base()},
	}, nil
}

// AddDownloadRows adds a copy of rows of a slice to page-locked memory.
func (g *Graph) AddDownloadRows(
	destination PinnedMemory, source Memory, rows Rows, after ...Node,
) (Node, error) {
	const op = "Graph.AddDownloadRows"
	work, err := downloadRowsWork(op, destination, source, rows)
	return g.addNode(op, after, work, err)
}

// SetDownloadRows gives a node that is a download of rows other parameters.
func (g *Graph) SetDownloadRows(
	node Node, destination PinnedMemory, source Memory, rows Rows,
) error {
	const op = "Graph.SetDownloadRows"
	work, err := downloadRowsWork(op, destination, source, rows)
	return g.setNode(op, node, work, err)
}

func downloadRowsWork(
	op string, destination PinnedMemory, source Memory, rows Rows,
) (*nodeWork, error) {
	pointer, size, err := placeOf(op, destination)
	if err == nil {
		err = rows.inside(op, rows.DestinationOffsetBytes, rows.DestinationPitchBytes,
			rows.DestinationLayerRows, size)
	}
	if err != nil {
		return nil, err
	}
	from, err := baseOf(source).useArgument(op, "the source")
	if err != nil {
		return nil, err
	}
	return &nodeWork{
		add: func(id uint64, after unsafe.Pointer, n uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_graph_add_download_3d(id, after, n, from, pointer, rows.native(), out)
		},
		set: func(id, node uint64) *raw.Failure {
			return raw.Km_graph_set_download_3d(id, node, from, pointer, rows.native())
		},
		objects: []*object{destination.base(), source.base()},
	}, nil
}

// AddFillRows adds a fill of rows.
func (g *Graph) AddFillRows(slice Memory, fill RowFill, after ...Node) (Node, error) {
	const op = "Graph.AddFillRows"
	work, err := fillRowsWork(op, slice, fill)
	return g.addNode(op, after, work, err)
}

// SetFillRows gives a node that is a fill of rows other parameters.
func (g *Graph) SetFillRows(node Node, slice Memory, fill RowFill) error {
	const op = "Graph.SetFillRows"
	work, err := fillRowsWork(op, slice, fill)
	return g.setNode(op, node, work, err)
}

func fillRowsWork(op string, slice Memory, f RowFill) (*nodeWork, error) {
	sliceID, err := baseOf(slice).useArgument(op, "the slice")
	if err != nil {
		return nil, err
	}
	return &nodeWork{
		add: func(id uint64, after unsafe.Pointer, n uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_graph_add_fill_2d(id, after, n, sliceID, f.OffsetBytes, f.PitchBytes,
				f.Value, f.ValueSizeBytes, f.WidthCount, f.Height, out)
		},
		set: func(id, node uint64) *raw.Failure {
			return raw.Km_graph_set_fill_2d(id, node, sliceID, f.OffsetBytes, f.PitchBytes, f.Value,
				f.ValueSizeBytes, f.WidthCount, f.Height)
		},
		objects: []*object{slice.base()},
	}, nil
}
