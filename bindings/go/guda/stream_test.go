package guda_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
)

func TestStreamsAreMadeAndDestroyed(t *testing.T) {
	on := must(guda.StreamCreate())(t)
	ok(t, guda.StreamSynchronize(on))
	ok(t, guda.StreamDestroy(on))
	expect(t, guda.ErrorInvalidValue, guda.StreamDestroy(on))
	expect(t, guda.ErrorInvalidValue, guda.StreamSynchronize(on))
	expect(t, guda.ErrorInvalidValue, guda.StreamDestroy(guda.Stream{}))
	expect(t, guda.ErrorInvalidValue, guda.StreamDestroy(guda.GetDefaultStream()))
}

func TestDestroyedStreamsLeaveNothing(t *testing.T) {
	for range 100 {
		ok(t, guda.StreamDestroy(must(guda.StreamCreate())(t)))
	}
	goroutines := runtime.NumGoroutine()
	for range 1000 {
		ok(t, guda.StreamDestroy(must(guda.StreamCreate())(t)))
	}
	if now := runtime.NumGoroutine(); now > goroutines {
		t.Errorf("%d goroutines after %d", now, goroutines)
	}
}

func TestQueriesSayWhetherWorkIsLeft(t *testing.T) {
	on, mark := stream(t), event(t)
	_ = guda.GetLastError()
	ok(t, guda.StreamQuery(on))
	ok(t, guda.EventQuery(mark))
	open := gate(t, on)
	ok(t, guda.EventRecord(mark, on))
	expect(t, guda.ErrorNotReady, guda.StreamQuery(on))
	expect(t, guda.ErrorNotReady, guda.EventQuery(mark))
	equal(t, guda.GetLastError(), nil) // not ready is no failure
	open()
	ok(t, guda.StreamSynchronize(on))
	ok(t, guda.StreamQuery(on))
	ok(t, guda.EventQuery(mark))
}

func TestTheDefaultStreamIsAStream(t *testing.T) {
	ptr := upload(t, 1, 2)
	ok(t, guda.SscalAsync(2, 3, ptr, 1, guda.GetDefaultStream()))
	ok(t, guda.SscalAsync(2, 3, ptr, 1, guda.Stream{}))
	ok(t, guda.StreamSynchronize(guda.GetDefaultStream()))
	equal(t, download(t, ptr, 2)[1], 18)
	equal(t, guda.GetDefaultStream(), guda.GetDefaultStream())
}

func TestEventsOrderStreams(t *testing.T) {
	first, second, mark := stream(t), stream(t), event(t)
	var order atomic.Int32
	step := func(expected, next int32) guda.ThreadFunc {
		return func(guda.ThreadID) {
			if !order.CompareAndSwap(expected, next) {
				panic("out of order")
			}
		}
	}
	one := guda.Dim3{X: 1}
	open := gate(t, first)
	ok(t, guda.LaunchKernel(step(0, 1), one, one, 0, first))
	ok(t, guda.EventRecord(mark, first))
	ok(t, guda.StreamWaitEvent(second, mark))
	ok(t, guda.LaunchKernel(step(1, 2), one, one, 0, second))
	expect(t, guda.ErrorNotReady, guda.StreamQuery(second))
	open()
	ok(t, guda.StreamSynchronize(second))
	equal(t, order.Load(), 2)
	expect(t, guda.ErrorInvalidValue, guda.StreamWaitEvent(second, guda.Event{}))
}

func TestTwoStreamsRunAtTheSameTime(t *testing.T) {
	first, second := stream(t), stream(t)
	x, y := upload(t, 1), upload(t, 1)
	meet := make(chan bool)
	one := guda.Dim3{X: 1}
	ok(t, guda.LaunchKernel(guda.ThreadFunc(func(guda.ThreadID) { meet <- true }), one, one, 0, first))
	ok(t, guda.SscalAsync(1, 2, x, 1, first))
	ok(t, guda.LaunchKernel(guda.ThreadFunc(func(guda.ThreadID) { <-meet }), one, one, 0, second))
	ok(t, guda.SscalAsync(1, 3, y, 1, second))
	ok(t, guda.StreamSynchronize(first)) // would hang if one had to end before the other begins
	ok(t, guda.StreamSynchronize(second))
	equal(t, download(t, x, 1)[0], 2)
	equal(t, download(t, y, 1)[0], 3)
}

func TestEventsTakeTimes(t *testing.T) {
	on, start, end := stream(t), event(t), event(t)
	expect(t, guda.ErrorInvalidValue, errorOf(guda.EventElapsedTime(start, end)))
	ok(t, guda.EventRecord(start, on))
	pause := guda.ThreadFunc(func(guda.ThreadID) { time.Sleep(5 * time.Millisecond) })
	ok(t, guda.LaunchKernel(pause, guda.Dim3{X: 1}, guda.Dim3{X: 1}, 0, on))
	ok(t, guda.EventRecord(end, on))
	ok(t, guda.EventSynchronize(end))
	elapsed := must(guda.EventElapsedTime(start, end))(t)
	if elapsed < 5 || elapsed > 10_000 {
		t.Errorf("%v ms", elapsed)
	}
	back := must(guda.EventElapsedTime(end, start))(t)
	equal(t, back, -elapsed)
	untimed := must(guda.EventCreateWithFlags(guda.EventDisableTiming | guda.EventBlockingSync))(t)
	ok(t, guda.EventRecord(untimed, on))
	expect(t, guda.ErrorInvalidValue, errorOf(guda.EventElapsedTime(start, untimed)))
	ok(t, guda.EventDestroy(untimed))
	expect(t, guda.ErrorInvalidValue, guda.EventDestroy(untimed))
	expect(t, guda.ErrorInvalidValue, guda.EventDestroy(guda.Event{}))
	expect(t, guda.ErrorInvalidValue, guda.EventRecord(guda.Event{}, on))
	expect(t, guda.ErrorInvalidValue, guda.EventSynchronize(guda.Event{}))
	expect(t, guda.ErrorInvalidValue, errorOf(guda.EventElapsedTime(guda.Event{}, end)))
	expect(t, guda.ErrorInvalidValue, errorOf(guda.EventCreateWithFlags(64)))
}

func TestWaitsEndWithTheirContext(t *testing.T) {
	on, mark := stream(t), event(t)
	open := gate(t, on)
	ok(t, guda.EventRecord(mark, on))
	short, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	err := guda.StreamWait(short, on)
	expect(t, guda.ErrorNotReady, err)
	equal(t, errors.Is(err, context.DeadlineExceeded), true)
	expect(t, guda.ErrorNotReady, guda.EventWait(short, mark))
	open()
	ok(t, guda.StreamWait(context.Background(), on))
	ok(t, guda.EventWait(context.Background(), mark))
}

func TestCallbacksAreCalledOnce(t *testing.T) {
	results := make(chan error, 1)
	ok(t, guda.StreamAddCallback(guda.Stream{}, func(err error) { results <- err }))
	ok(t, <-results)
	expect(t, guda.ErrorInvalidValue, guda.StreamAddCallback(guda.Stream{}, nil))
}
