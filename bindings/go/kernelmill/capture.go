package kernelmill

import (
	"errors"
	"sync"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// CaptureStatus says whether a stream is being captured.
type CaptureStatus int32

// The states of a stream.
const (
	CaptureNone        CaptureStatus = raw.CAPTURE_STATUS_NONE
	CaptureActive      CaptureStatus = raw.CAPTURE_STATUS_ACTIVE
	CaptureInvalidated CaptureStatus = raw.CAPTURE_STATUS_INVALIDATED // only to be ended
)

// captures keeps what captured work refers to until the graphs have it: host functions by the
// streams of all captures under way, because a stream does not tell which capture it joined.
var captures struct {
	mutex     sync.Mutex
	active    int
	functions []*hostFunction
}

// BeginCapture begins to capture the stream: until EndCapture, what is queued in it becomes nodes of
// a graph and does not run. Other streams that wait for an event recorded in it join, and have to
// be waited for in turn before the end. Copies of Go memory give [ErrCaptureUnsupported], for it
// may be gone when the graph runs: use [HostMemory]. Waiting for the stream invalidates the capture.
func (s *Stream) BeginCapture() error {
	err := s.base().call("Stream.BeginCapture", raw.Km_stream_begin_capture)
	if err == nil {
		captures.mutex.Lock()
		captures.active++
		captures.mutex.Unlock()
	}
	return err
}

// EndCapture ends the capture of the stream and of all that joined it, and gives the graph.
func (s *Stream) EndCapture() (*Graph, error) {
	const op = "Stream.EndCapture"
	status, err := s.CaptureStatus()
	if err != nil {
		return nil, renamed(op, err)
	}
	id, err := get[uint64](s.base(), op, raw.Km_stream_end_capture)
	captures.mutex.Lock()
	defer captures.mutex.Unlock()
	functions := append([]*hostFunction(nil), captures.functions...)
	isOver := err == nil || status != CaptureNone && !errors.Is(err, ErrNotPermitted)
	if isOver && captures.active > 0 {
		captures.active--
	}
	if captures.active == 0 {
		captures.functions = nil
	}
	if err != nil {
		return nil, err
	}
	graph := newGraph(id)
	graph.keep[capturedNodes] = functions
	return graph, nil
}

// CaptureStatus says whether the stream is being captured.
func (s *Stream) CaptureStatus() (CaptureStatus, error) {
	status, err := get[int32](s.base(), "Stream.CaptureStatus", raw.Km_stream_capture_status)
	return CaptureStatus(status), err
}

// isCaptured says whether the stream is being captured. It asks the library only while there are
// captures at all.
func (s *Stream) isCaptured(op string) (bool, error) {
	captures.mutex.Lock()
	active := captures.active
	captures.mutex.Unlock()
	if active == 0 || s == nil {
		return false, nil
	}
	status, err := get[int32](s.base(), op, raw.Km_stream_capture_status)
	return status == raw.CAPTURE_STATUS_ACTIVE, err
}

// refuseCapture is the error of a call on Go memory in a stream that is being captured.
func (s *Stream) refuseCapture(op string) error {
	isCaptured, err := s.isCaptured(op)
	if err == nil && isCaptured {
		err = fail(op, ErrCaptureUnsupported, "the stream is being captured, and Go memory may be "+
			"gone when the graph runs: copy to and from HostMemory")
	}
	return err
}

// keepForCapture keeps functions until the graph of the capture has them.
func keepForCapture(functions ...*hostFunction) {
	captures.mutex.Lock()
	defer captures.mutex.Unlock()
	if captures.active > 0 {
		captures.functions = append(captures.functions, functions...)
	}
}

// Capture makes a graph of what a function queues in a stream. The stream is the function's to use
// until it returns; with its error the graph is dropped.
func (c *Context) Capture(queue func(*Stream) error) (*Graph, error) {
	const op = "Context.Capture"
	if queue == nil {
		return nil, nilError(op, "the function")
	}
	stream, err := c.NewStream()
	if err != nil {
		return nil, renamed(op, err)
	}
	defer stream.Close()
	if err := stream.BeginCapture(); err != nil {
		return nil, renamed(op, err)
	}
	ended := false
	defer func() { // a panic of the function
		if !ended {
			graph, _ := stream.EndCapture()
			_ = graph.Close()
		}
	}()
	failed := queue(stream)
	ended = true
	graph, err := stream.EndCapture()
	if failed != nil {
		if graph != nil {
			_ = graph.Close() // the function's error is the one to know
		}
		return nil, failed
	}
	return graph, err
}

// LaunchGraph queues one run of a graph that is ready in the stream: [GraphExec.Launch].
func (s *Stream) LaunchGraph(exec *GraphExec) error { return exec.Launch(s) }
