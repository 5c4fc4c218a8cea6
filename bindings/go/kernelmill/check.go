package kernelmill

import (
	"strings"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/internal/callback"
	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// CheckTools names tools of the checker.
type CheckTools uint32

// The tools, and what they also tell.
const (
	ToolsOff      CheckTools = raw.CHECK_OFF
	ToolMemory    CheckTools = raw.CHECK_MEMORY     // wrong accesses
	ToolInit      CheckTools = raw.CHECK_INIT       // reads of what nothing has written
	ToolRace      CheckTools = raw.CHECK_RACE       // accesses without an order
	ToolSync      CheckTools = raw.CHECK_SYNC       // wrong barriers
	ToolStreams   CheckTools = raw.CHECK_STREAMS    // accesses of two streams without an order
	ToolLeak      CheckTools = raw.CHECK_LEAK       // memory that is alive in the end
	AllTools      CheckTools = raw.CHECK_ALL        // also those of later versions
	ToolSameValue CheckTools = raw.CHECK_SAME_VALUE // races whose writes store one value, too
)

// FindingPlace is one access of a finding, or the place of another event.
type FindingPlace struct {
	Access        string // "write of 4 bytes"
	Source        string // a file of the source, or of the PTX if no other is known
	Line          int    // 0: not known
	Block, Thread [3]uint32
	Callers       []string // calls in whose place a compiler has put this code, the innermost first
}

// Finding is a defect that the checker has found.
type Finding struct {
	Tool               CheckTools
	Kind               string // "write-read" ...
	Kernel             string
	Message            string
	Place              FindingPlace
	Other              *FindingPlace // the earlier access of a race
	Address, SizeBytes uint64
	Allocation         string // where the address lies
	Advice             string // may be empty
	Count              uint64 // how often the launch had it
}

func findingPlace(place *raw.FindingPlace, callers string) FindingPlace {
	return FindingPlace{
		Access: fixedText(place.Access[:]), Source: fixedText(place.Source[:]), Line: int(place.Line),
		Block: place.Block, Thread: place.Thread,
		Callers: strings.FieldsFunc(callers, func(r rune) bool { return r == '\n' }),
	}
}

func findingOf(found *raw.Finding) Finding {
	finding := Finding{
		Tool: CheckTools(found.Tool), Kind: fixedText(found.Kind[:]), Kernel: fixedText(found.Kernel[:]),
		Message: fixedText(found.Message[:]), Address: found.Address, SizeBytes: found.SizeBytes,
		Place:      findingPlace(&found.Place, fixedText(found.PlaceCallers[:])),
		Allocation: fixedText(found.Allocation[:]), Advice: fixedText(found.Advice[:]),
		Count: found.Count,
	}
	if other := findingPlace(&found.Other, fixedText(found.OtherCallers[:])); other.Access != "" {
		finding.Other = &other
	}
	return finding
}

// SetCheck selects the checker's tools for launches from now on, and has at most limit findings (0:
// all) given to a function, on any thread, one call at a time; nil: they are printed on standard
// error. In the function, calls that may wait give [ErrNotPermitted]. It is kept until another one
// is set by the same Context. [ErrNotSupported] where the device has no checker.
func (c *Context) SetCheck(tools CheckTools, limit uint64, receive func(Finding)) error {
	const op = "Context.SetCheck"
	var function, userData unsafe.Pointer
	if receive != nil {
		function = callback.Finding
		userData = callback.New(func(found unsafe.Pointer) { receive(findingOf((*raw.Finding)(found))) })
	}
	err := c.base().call(op, func(id uint64) *raw.Failure {
		return raw.Km_context_set_check(id, uint32(tools), limit, function, userData)
	})
	if err != nil {
		callback.Drop(userData)
		return err
	}
	callback.Drop(c.check.swap(userData))
	return nil
}
