package kernelmill_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// ranks are two ranks with two numbers each: 1, 2 and 11, 12.
type ranks struct {
	fixtures [2]*fixture
	comms    []*kernelmill.Comm
	data     [2]*kernelmill.Slice[float32]
}

func newRanks(t *testing.T) *ranks {
	t.Helper()
	r := &ranks{fixtures: [2]*fixture{newFixture(t), newFixture(t)}}
	r.comms = must(kernelmill.NewComms([]*kernelmill.Context{
		r.fixtures[0].context, r.fixtures[1].context}))(t)
	for i, f := range r.fixtures {
		keep(f, r.comms[i])
		r.data[i] = upload(f, []float32{1 + 10*float32(i), 2 + 10*float32(i)})
	}
	return r
}

type operation func(comm *kernelmill.Comm, stream *kernelmill.Stream,
	x, y kernelmill.Array[float32], rank int) error

// run gives what both ranks have in four elements after an operation.
func (r *ranks) run(t *testing.T, each operation) [2][]float32 {
	t.Helper()
	var out [2]*kernelmill.Slice[float32]
	for i, f := range r.fixtures {
		out[i] = upload(f, make([]float32, 4))
	}
	ok(t, kernelmill.CommGroup(func() error {
		for i, f := range r.fixtures {
			x, y := kernelmill.ArrayOf(r.data[i]), kernelmill.ArrayOf(out[i])
			if err := each(r.comms[i], f.stream, x, y, i); err != nil {
				return err
			}
		}
		return nil
	}))
	return [2][]float32{must(out[0].ToHost(r.fixtures[0].stream))(t),
		must(out[1].ToHost(r.fixtures[1].stream))(t)}
}

func TestOperationsOfRanks(t *testing.T) {
	type (
		comm   = *kernelmill.Comm
		stream = *kernelmill.Stream
		array  = kernelmill.Array[float32]
	)
	r := newRanks(t)
	for _, each := range []struct {
		name      string
		operation operation
		wanted    [2][]float32
	}{
		{"all-reduce", func(c comm, s stream, x, y array, _ int) error {
			return kernelmill.AllReduce(c, s, x, y, 2, kernelmill.CommSum)
		}, [2][]float32{{12, 14, 0, 0}, {12, 14, 0, 0}}},
		{"scaled", func(c comm, s stream, x, y array, _ int) error {
			return kernelmill.AllReduceScaled(c, s, x, y, 2, 0.5)
		}, [2][]float32{{6, 7, 0, 0}, {6, 7, 0, 0}}},
		{"reduce", func(c comm, s stream, x, y array, _ int) error {
			return kernelmill.Reduce(c, s, x, y, 2, kernelmill.CommMax, 1)
		}, [2][]float32{{0, 0, 0, 0}, {11, 12, 0, 0}}},
		{"reduce-scatter", func(c comm, s stream, x, y array, _ int) error {
			return kernelmill.ReduceScatter(c, s, x, y, 1, kernelmill.CommAverage)
		}, [2][]float32{{6, 0, 0, 0}, {7, 0, 0, 0}}},
		{"broadcast", func(c comm, s stream, x, y array, _ int) error {
			return kernelmill.Broadcast(c, s, x, y, 2, 1)
		}, [2][]float32{{11, 12, 0, 0}, {11, 12, 0, 0}}},
		{"all-gather", func(c comm, s stream, x, y array, _ int) error {
			return kernelmill.AllGather(c, s, x, y, 2)
		}, [2][]float32{{1, 2, 11, 12}, {1, 2, 11, 12}}},
		{"all-to-all", func(c comm, s stream, x, y array, _ int) error {
			return kernelmill.AllToAll(c, s, x, y, 1)
		}, [2][]float32{{1, 11, 0, 0}, {2, 12, 0, 0}}},
		{"gather", func(c comm, s stream, x, y array, _ int) error {
			return kernelmill.Gather(c, s, x, y, 2, 0)
		}, [2][]float32{{1, 2, 11, 12}, {0, 0, 0, 0}}},
		{"scatter", func(c comm, s stream, x, y array, _ int) error {
			return kernelmill.Scatter(c, s, x, y, 1, 1)
		}, [2][]float32{{11, 0, 0, 0}, {12, 0, 0, 0}}},
		{"messages", func(c comm, s stream, x, y array, rank int) error {
			return errors.Join(kernelmill.Send(c, s, x.From(1), 1, 1-rank),
				kernelmill.Receive(c, s, y, 1, 1-rank))
		}, [2][]float32{{12, 0, 0, 0}, {2, 0, 0, 0}}},
	} {
		got := r.run(t, each.operation)
		for i := range got {
			if !slices.Equal(got[i], each.wanted[i]) {
				t.Errorf("%s: rank %d has %v, not %v", each.name, i, got[i], each.wanted[i])
			}
		}
	}
}

func TestWhatCommunicatorsSay(t *testing.T) {
	r := newRanks(t)
	info := must(r.comms[1].Info())(t)
	equal(t, info.Rank, 1)
	equal(t, info.RankCount, 2)
	equal(t, info.Engine, kernelmill.CommEngineThreads)
	if !strings.Contains(info.Reason, "in this process") {
		t.Errorf("the reason is %q", info.Reason)
	}
	f := r.fixtures[0]
	id := must(kernelmill.NewCommID(f.context))(t)
	alone := keep(f, must(kernelmill.NewComm(f.context, id, 1, 0))(t))
	if none := must(alone.Split(-1, 0))(t); none != nil {
		t.Error("a negative color has a communicator")
	}
	keep(f, must(alone.Split(4, 0))(t))
	ok(t, r.comms[0].Status())
	ok(t, r.comms[0].Abort())
	expect(t, kernelmill.ErrIO, r.comms[1].Status())
}

func TestGroupsThatFailQueueNothing(t *testing.T) {
	r := newRanks(t)
	given := errors.New("given up")
	err := kernelmill.CommGroup(func() error {
		x := kernelmill.ArrayOf(r.data[0])
		ok(t, kernelmill.AllReduce(r.comms[0], r.fixtures[0].stream, x, x, 2, kernelmill.CommSum))
		return given
	})
	if !errors.Is(err, given) {
		t.Errorf("the group gave %v", err)
	}
	ok(t, r.fixtures[0].stream.Synchronize()) // it would wait for rank 1
	x := kernelmill.ArrayOf(r.data[0])
	expect(t, kernelmill.ErrInvalidArgument,
		kernelmill.Send(r.comms[0], r.fixtures[0].stream, x, -1, 1))
	expect(t, kernelmill.ErrContextMismatch,
		kernelmill.Send(r.comms[0], r.fixtures[1].stream, x, 1, 1))
}
