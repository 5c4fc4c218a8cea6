package kernelmill

import (
	"time"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Limit names a limit of a context.
type Limit int32

// The limits of contexts.
const (
	LimitStackBytes        Limit = raw.CONTEXT_LIMIT_STACK_BYTES  // of a thread
	LimitPrintfBytes       Limit = raw.CONTEXT_LIMIT_PRINTF_BYTES // from one wait to the next
	LimitHeapBytes         Limit = raw.CONTEXT_LIMIT_HEAP_BYTES   // of malloc in kernels
	LimitSyncDepth         Limit = raw.CONTEXT_LIMIT_SYNC_DEPTH
	LimitPendingLaunches   Limit = raw.CONTEXT_LIMIT_PENDING_LAUNCHES
	LimitL2FetchBytes      Limit = raw.CONTEXT_LIMIT_L2_FETCH_BYTES
	LimitPersistingL2Bytes Limit = raw.CONTEXT_LIMIT_PERSISTING_L2_BYTES
)

// Limit gives a limit; [ErrNotSupported] when the device has no such limit.
func (c *Context) Limit(limit Limit) (uint64, error) {
	return get[uint64](c.base(), "Context.Limit", func(id uint64, out unsafe.Pointer) *raw.Failure {
		return raw.Km_context_limit_get(id, int32(limit), out)
	})
}

// SetLimit sets a limit for work that is queued afterwards. The device may take more than that.
func (c *Context) SetLimit(limit Limit, value uint64) error {
	return c.base().call("Context.SetLimit", func(id uint64) *raw.Failure {
		return raw.Km_context_limit_set(id, int32(limit), value)
	})
}

// ErrorRecord is a failure of calls on a context: of one call, for one reason, one right after the
// other.
type ErrorRecord struct {
	ID         uint64 // rises with each record of the context
	Status     Status
	Category   Category
	Count      uint64
	First      time.Time
	Last       time.Time
	NativeCode int64
	Call       string // as C spells it: "km_launch_submit"
	Message    string
}

// ErrorHistory lists the latest failures of calls on the context and its children, the newest first.
// A reset keeps them.
func (c *Context) ErrorHistory() ([]ErrorRecord, error) {
	first := raw.ErrorRecord{StructSize: uint32(unsafe.Sizeof(raw.ErrorRecord{}))}
	found, err := list(c.base(), "Context.ErrorHistory", first, raw.Km_context_error_history)
	records := make([]ErrorRecord, len(found))
	for i := range found {
		record := &found[i]
		records[i] = ErrorRecord{record.Id, Status(record.Status), Category(record.Category),
			record.Count, time.Unix(0, record.TimeNs), time.Unix(0, record.LastTimeNs),
			record.NativeCode, fixedText(record.Call[:]), fixedText(record.Message[:])}
	}
	return records, err
}

// ErrorCount says how often a status occurred.
type ErrorCount struct {
	Status   Status
	Category Category
	Count    uint64
	Last     time.Time
}

// ErrorCounts lists how often each status that occurred did, also those that the history has
// forgotten.
func (c *Context) ErrorCounts() ([]ErrorCount, error) {
	found, err := list(c.base(), "Context.ErrorCounts", raw.ErrorCount{},
		raw.Km_context_error_counts)
	counts := make([]ErrorCount, len(found))
	for i, count := range found {
		counts[i] = ErrorCount{Status(count.Status), Category(count.Category), count.Count,
			time.Unix(0, count.LastTimeNs)}
	}
	return counts, err
}

// ClearErrorHistory forgets the history and the counts. The context's error stays.
func (c *Context) ClearErrorHistory() error {
	return c.base().call("Context.ClearErrorHistory", raw.Km_context_clear_error_history)
}
