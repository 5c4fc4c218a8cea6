package kernelmill_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kernelmill/kernelmill/bindings/go/internal/callback"
	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

func TestGraphsOfNodes(t *testing.T) {
	f := newFixture(t)
	scale := f.function("scale")
	data := keep(f, must(kernelmill.NewZeroedSlice[float32](f.context, 4))(f))
	copied := keep(f, must(kernelmill.NewZeroedSlice[float32](f.context, 4))(f))
	in := keep(f, must(kernelmill.NewHostMemory[float32](f.context, 4))(f))
	out := keep(f, must(kernelmill.NewHostMemory[float32](f.context, 4))(f))
	copy(must(in.Data())(t), []float32{1, 2, 3, 4})
	graph := keep(f, must(f.context.NewGraph())(f))
	upload := must(graph.AddUpload(data, in))(t)
	launch := f.stream.Launch(scale).Block(4).Args(data, float32(2), int32(4))
	kernel := must(graph.AddKernel(launch, upload))(t)
	device := must(graph.AddCopy(copied, data, kernel))(t)
	join := must(graph.AddEmpty(kernel, device))(t)
	download := must(graph.AddDownload(out, copied, join))(t)
	var calls atomic.Int32
	host := must(graph.AddHost(func(err error) { calls.Add(1) }, download))(t)
	equal(t, len(must(graph.Nodes())(t)), 6)
	equal(t, must(graph.Dependencies(host))(t)[0], download)
	equal(t, len(must(graph.Dependents(kernel))(t)), 2)
	exec := keep(f, must(graph.Instantiate())(f))
	ok(t, errors.Join(exec.Launch(f.stream), f.stream.LaunchGraph(exec), f.stream.Synchronize()))
	if got := must(out.Data())(t); !slices.Equal(got, []float32{2, 4, 6, 8}) {
		t.Errorf("%v", got)
	}
	equal(t, calls.Load(), 2)
	info := must(graph.NodeInfo(kernel))(t)
	equal(t, info.Kind, kernelmill.NodeKernel)
	equal(t, info.Block, [3]uint32{4, 1, 1})
	equal(t, len(must(graph.NodeArguments(kernel))(t)), 16)
	function := keep(f, must(graph.NodeFunction(kernel))(f))
	equal(t, must(function.Name())(t), "scale")
	if dot := must(graph.DOT())(t); !strings.Contains(dot, "digraph") {
		t.Errorf("%q", dot)
	}

	ok(t, graph.SetKernel(kernel, f.stream.Launch(scale).Block(4).Args(data, float32(10), int32(4))))
	ok(t, exec.UpdateNode(graph, kernel))
	ok(t, errors.Join(exec.Launch(f.stream), f.stream.Synchronize()))
	equal(t, must(out.Data())(t)[3], 40)
	ok(t, graph.SetHost(host, func(error) { calls.Add(100) }))
	ok(t, graph.SetUpload(upload, data, out))
	ok(t, graph.SetDownload(download, in, copied))
	ok(t, graph.SetCopy(device, copied, data))
	clone := keep(f, must(graph.Clone())(f))
	difference, _, err := exec.Compare(clone)
	ok(t, err)
	equal(t, difference, kernelmill.GraphSame)
	ok(t, exec.Update(clone))
	ok(t, errors.Join(exec.Launch(f.stream), f.stream.Synchronize()))
	equal(t, must(in.Data())(t)[0], 100)
	equal(t, calls.Load(), 103)
	ok(t, clone.RemoveNode(host))
	expect(t, kernelmill.ErrGraphMismatch, exec.Update(clone))
	difference, _, err = exec.Compare(clone)
	ok(t, err)
	equal(t, difference, kernelmill.GraphNodeCount)
}

func TestGraphsOfRowsFillsAndChildren(t *testing.T) {
	f := newFixture(t)
	data := keep(f, must(kernelmill.NewZeroedSlice[byte](f.context, 6))(f))
	other := keep(f, must(kernelmill.NewZeroedSlice[byte](f.context, 6))(f))
	memory := keep(f, must(kernelmill.NewHostMemory[byte](f.context, 6))(f))
	clear(must(memory.Data())(t))
	rows := kernelmill.Rows{WidthBytes: 2, Height: 2, Depth: 1, SourcePitchBytes: 3,
		DestinationPitchBytes: 3}
	fill := kernelmill.RowFill{PitchBytes: 3, Value: 'a', ValueSizeBytes: 1, WidthCount: 2, Height: 2}
	inner := keep(f, must(f.context.NewGraph())(f))
	first := must(inner.AddFill(data, 'z', 1))(t)
	filled := must(inner.AddFillRows(data, fill, first))(t)
	moved := must(inner.AddCopyRows(other, data, rows, filled))(t)
	graph := keep(f, must(f.context.NewGraph())(f))
	child := must(graph.AddChild(inner))(t)
	down := must(graph.AddDownloadRows(memory, other, rows, child))(t)
	peer := must(graph.AddCopyPeer(data, other, down))(t)
	run := func() string {
		exec := must(graph.Instantiate())(t)
		ok(t, errors.Join(exec.Launch(f.stream), f.stream.Synchronize(), exec.Close()))
		return string(must(memory.Data())(t))
	}
	equal(t, run(), "aa\x00aa\x00")
	equal(t, must(inner.NodeRows(moved))(t).WidthBytes, 2)
	inside := keep(f, must(graph.NodeChild(child))(f))
	equal(t, len(must(inside.Nodes())(t)), 3)
	fill.Value = 'b'
	ok(t, errors.Join(inner.SetFillRows(filled, data, fill), inner.SetFill(first, data, 'y', 1),
		inner.SetCopyRows(moved, other, data, rows), graph.SetChild(child, inner),
		graph.SetDownloadRows(down, memory, other, rows), graph.SetCopyPeer(peer, data, other)))
	equal(t, run(), "bb\x00bb\x00")
	up := must(inner.AddUploadRows(data, memory, rows))(t)
	ok(t, inner.SetUploadRows(up, data, memory, rows))
	ok(t, errors.Join(inner.AddDependency(moved, up), inner.RemoveDependency(moved, up)))
	expect(t, kernelmill.ErrNotFound, inner.RemoveDependency(moved, up))
	expect(t, kernelmill.ErrInvalidArgument, inner.AddDependency(moved, 99))
	rows.Height = 3
	expect(t, kernelmill.ErrOutOfBounds, errorOf(graph.AddDownloadRows(memory, other, rows)))
	expect(t, kernelmill.ErrInvalidArgument, errorOf(graph.AddFill(data, 1, 3)))
	expect(t, kernelmill.ErrInvalidHandle, errorOf(graph.AddCopy(nil, data)))
	expect(t, kernelmill.ErrInvalidHandle, errorOf(graph.AddUpload(data, nil)))
	expect(t, kernelmill.ErrInvalidHandle, errorOf(graph.AddChild(nil)))
	expect(t, kernelmill.ErrInvalidArgument, errorOf(graph.AddChild(graph)))
	expect(t, kernelmill.ErrInvalidHandle, errorOf(graph.AddKernel(nil)))
	own := keep(f, must(kernelmill.RegisterHostMemory(f.context, make([]byte, 6)))(f))
	expect(t, kernelmill.ErrNotSupported, errorOf(graph.AddUpload(data, own)))
}

func TestCapturesBecomeGraphs(t *testing.T) {
	f := newFixture(t)
	scale := f.function("scale")
	data := keep(f, must(kernelmill.SliceOf(f.stream, []float32{1, 2}))(f))
	memory := keep(f, must(kernelmill.NewHostMemory[float32](f.context, 2))(f))
	var calls atomic.Int32
	graph := keep(f, must(f.context.Capture(func(s *kernelmill.Stream) error {
		expect(t, kernelmill.ErrCaptureUnsupported, data.Upload(s, []float32{3, 4}))
		expect(t, kernelmill.ErrCaptureUnsupported, data.Download(s, make([]float32, 2)))
		equal(t, must(s.CaptureStatus())(t), kernelmill.CaptureActive)
		return errors.Join(
			s.Launch(scale).Block(2).Args(data, float32(2), int32(2)).Submit(),
			s.AddCallback(func(error) { calls.Add(1) }),
			data.DownloadTo(s, memory))
	}))(f))
	equal(t, len(must(graph.Nodes())(t)), 3)
	exec := keep(f, must(graph.Instantiate())(f))
	ok(t, graph.Close())
	collect()
	for range 10 {
		ok(t, exec.Launch(f.stream))
	}
	ok(t, f.stream.Synchronize())
	equal(t, calls.Load(), 10)
	equal(t, must(memory.Data())(t)[1], 2048)
	wrong := errors.New("wrong")
	if err := errorOf(f.context.Capture(func(*kernelmill.Stream) error { return wrong })); err != wrong {
		t.Error(err)
	}
	expect(t, kernelmill.ErrCaptureInvalidated,
		errorOf(f.context.Capture(func(s *kernelmill.Stream) error {
			expect(t, kernelmill.ErrCaptureUnsupported, s.Synchronize())
			return nil
		})))
	expect(t, kernelmill.ErrNotPermitted, errorOf(f.stream.EndCapture()))
	equal(t, must(f.stream.CaptureStatus())(t), kernelmill.CaptureNone)
	ok(t, data.Upload(f.stream, []float32{1, 2})) // nothing is captured any more
}

func TestGraphsForgetTheirFunctions(t *testing.T) {
	f := newFixture(t)
	before := callback.Count()
	for range 1000 {
		graph := must(f.context.NewGraph())(t)
		must(graph.AddHost(func(error) {}))(t)
		exec := must(graph.Instantiate())(t)
		ok(t, errors.Join(graph.Close(), exec.Launch(f.stream), exec.Close()))
	}
	ok(t, f.stream.Synchronize())
	for range 100 {
		runtime.GC()
		if callback.Count() <= before {
			return
		}
	}
	t.Errorf("%d functions more than before", callback.Count()-before)
}
