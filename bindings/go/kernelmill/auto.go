package kernelmill

import (
	"iter"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// DeviceAttributeInfo describes an attribute of devices.
type DeviceAttributeInfo struct {
	Attribute     DeviceAttribute
	CUDAAttribute int32  // its number in CUDA; 0: it has none
	Name          string // as CUDA spells it, without CU_DEVICE_ATTRIBUTE_
	Unit          string // "bytes", "threads", "kHz", "flag" ...
}

// DeviceAttributes gives all attributes, those of this library first.
func DeviceAttributes() iter.Seq2[DeviceAttributeInfo, error] {
	const op = "DeviceAttributes"
	return numbered(op, raw.Km_device_attribute_count, func(i uint32) (DeviceAttributeInfo, error) {
		info := raw.DeviceAttributeInfo{StructSize: uint32(unsafe.Sizeof(raw.DeviceAttributeInfo{}))}
		err := check(op, raw.Km_device_attribute_info_get(i, unsafe.Pointer(&info)))
		return DeviceAttributeInfo{DeviceAttribute(info.Attribute), info.CudaAttribute,
			fixedText(info.Name[:]), fixedText(info.Unit[:])}, err
	})
}

// numbered gives the entries of one of the library's tables, or an error alone.
func numbered[T any](op string, count func(unsafe.Pointer) *raw.Failure,
	entry func(uint32) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		var entries uint32
		if err := check(op, count(unsafe.Pointer(&entries))); err != nil {
			yield(none, err)
			return
		}
		for i := range entries {
			if !yield(entry(i)) {
				return
			}
		}
	}
}

// AutoOutcome says what "auto" makes of a backend.
type AutoOutcome int32

// The outcomes.
const (
	AutoChosen   AutoOutcome = raw.AUTO_CHOSEN
	AutoRefused  AutoOutcome = raw.AUTO_REFUSED   // it does not work here
	AutoNotTried AutoOutcome = raw.AUTO_NOT_TRIED // another one was chosen before it
)

// AutoCandidate is what "auto" makes of one backend, and why.
type AutoCandidate struct {
	URI     string // "cuda:0"
	Outcome AutoOutcome
	Status  error // why it was refused, else nil
	Reason  string
}

// AutoCandidates says what [Open] makes of "auto" here and now, in the order in which backends are
// tried, without opening anything for good.
func AutoCandidates() iter.Seq2[AutoCandidate, error] {
	const op = "AutoCandidates"
	return numbered(op, raw.Km_auto_candidate_count, func(i uint32) (AutoCandidate, error) {
		info := raw.AutoCandidate{StructSize: uint32(unsafe.Sizeof(raw.AutoCandidate{}))}
		err := check(op, raw.Km_auto_candidate_get(i, unsafe.Pointer(&info)))
		candidate := AutoCandidate{URI: fixedText(info.Uri[:]), Outcome: AutoOutcome(info.Outcome),
			Reason: fixedText(info.Reason[:])}
		if info.Status != raw.SUCCESS {
			candidate.Status = Status(info.Status)
		}
		return candidate, err
	})
}
