package kernelmill

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/internal/callback"
	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Tuner finds by measurement which of several ways to launch a kernel is the fastest on a device.
type Tuner struct {
	object
	progress token
}

// NewTuner makes a tuner of a kernel of a source, CUDA C++ or PTX; the kernel is named as in the
// source, or by a name expression like "scale<float>".
func (d *Device) NewTuner(source, kernel string) (*Tuner, error) {
	const op = "Device.NewTuner"
	cKernel, err := cString(op, "the kernel's name", kernel)
	if err != nil {
		return nil, err
	}
	id, err := get[uint64](d.base(), op, func(id uint64, out unsafe.Pointer) *raw.Failure {
		return raw.Km_tune_create(id, cText(source), uint64(len(source)), cKernel, out)
	})
	if err != nil {
		return nil, err
	}
	tuner := &Tuner{}
	tuner.open(id, raw.Km_tune_destroy)
	return tuner, nil
}

func (t *Tuner) base() *object {
	if t == nil {
		return nil
	}
	return &t.object
}

// Close lets the tuner go.
func (t *Tuner) Close() error {
	err := t.base().close("Tuner.Close")
	if err == nil {
		callback.Drop(t.progress.swap(nil))
	}
	return err
}

// Shape is the grid, block and dynamic shared memory of a launch. Sizes of 0 along y and z mean 1.
type Shape struct {
	Grid, Block [3]uint32
	SharedBytes uint64
}

// native is the shape as the library takes it.
func (s Shape) native() *raw.LaunchConfig {
	config := &raw.LaunchConfig{Grid: s.Grid, Block: s.Block, SharedBytes: s.SharedBytes}
	for i := 1; i < 3; i++ {
		config.Grid[i], config.Block[i] = max(s.Grid[i], 1), max(s.Block[i], 1)
	}
	return config
}

// AddCandidate adds a way to launch the kernel, with options of the compiler, "-DTILE=16", which PTX
// does not have. It gives the candidate's number.
func (t *Tuner) AddCandidate(shape Shape, options ...string) (int, error) {
	const op = "Tuner.AddCandidate"
	cOptions, err := cStringOrNull(op, "an option", strings.Join(options, "\n"))
	if err != nil {
		return 0, err
	}
	candidate, err := get[uint32](t.base(), op, func(id uint64, out unsafe.Pointer) *raw.Failure {
		return raw.Km_tune_add_candidate(id, unsafe.Pointer(shape.native()), cOptions, out)
	})
	return int(candidate), err
}

// TuneInput gives the kernel's next argument: device memory that holds the elements when a candidate
// starts.
func TuneInput[T Element](tuner *Tuner, elements []T) error {
	return tuneBuffer(tuner, "TuneInput", elements, raw.TUNE_BUFFER_DEFAULT)
}

// TuneOutput is TuneInput for memory that [Tuner.SetCheck] compares.
func TuneOutput[T Element](tuner *Tuner, elements []T) error {
	return tuneBuffer(tuner, "TuneOutput", elements, raw.TUNE_BUFFER_OUTPUT)
}

func tuneBuffer[T Element](tuner *Tuner, op string, elements []T, flags uint32) error {
	if _, err := tuner.base().useArgument(op, "the tuner"); err != nil {
		return err
	}
	return tuner.base().call(op, func(id uint64) *raw.Failure {
		return raw.Km_tune_add_buffer(id, pointerTo(elements), sizeIn(elements), flags)
	})
}

// TuneValue gives the kernel's next argument by value.
func TuneValue[T Element](tuner *Tuner, value T) error {
	const op = "TuneValue"
	if _, err := tuner.base().useArgument(op, "the tuner"); err != nil {
		return err
	}
	return tuner.base().call(op, func(id uint64) *raw.Failure {
		return raw.Km_tune_add_scalar(id, unsafe.Pointer(&value), sizeOf[T]())
	})
}

// TuneCheck says how outputs of candidates are compared with those of the first one.
type TuneCheck int32

// The kinds of checks.
const (
	CheckOff   TuneCheck = raw.TUNE_CHECK_OFF
	CheckExact TuneCheck = raw.TUNE_CHECK_EXACT
	CheckF32   TuneCheck = raw.TUNE_CHECK_F32 // outputs are f32 and may differ by the tolerance
	CheckF64   TuneCheck = raw.TUNE_CHECK_F64
)

// SetCheck says whether outputs are compared; the tolerance is relative to the larger magnitude,
// absolute below 1.
func (t *Tuner) SetCheck(check TuneCheck, tolerance float64) error {
	return t.base().call("Tuner.SetCheck", func(id uint64) *raw.Failure {
		return raw.Km_tune_set_check(id, int32(check), tolerance)
	})
}

// SetBudget says how long measuring all candidates may take together, compiling not counted, and how
// often each is launched before it counts.
func (t *Tuner) SetBudget(budget time.Duration, warmups int) error {
	const op = "Tuner.SetBudget"
	if _, err := t.base().use(op); err != nil {
		return err
	}
	if budget < 0 || warmups < 0 || warmups > math.MaxUint32 {
		return fail(op, ErrInvalidArgument,
			fmt.Sprintf("%v and %d warm-ups: give none that are negative", budget, warmups))
	}
	return t.base().call(op, func(id uint64) *raw.Failure {
		return raw.Km_tune_set_budget(id, uint64(budget), uint32(warmups))
	})
}

// SetProgress has a function called after each candidate, with how many of how many are done, on the
// thread of Run; nil: none.
func (t *Tuner) SetProgress(progress func(done, count uint32)) error {
	var call, userData unsafe.Pointer
	if progress != nil {
		call, userData = callback.Tune, callback.New(progress)
	}
	err := t.base().call("Tuner.SetProgress", func(id uint64) *raw.Failure {
		return raw.Km_tune_set_progress(id, call, userData)
	})
	if err != nil {
		callback.Drop(userData)
		return err
	}
	callback.Drop(t.progress.swap(userData))
	return nil
}

// Run measures the candidates and gives the number of the fastest. With a problem, any text that
// stands for size and kind of the data, the choice is kept on disk and taken from there the next
// time.
func (t *Tuner) Run(problem string) (int, error) { return t.run("Tuner.Run", problem, false) }

// RunAgain is Run, and measures whatever is remembered.
func (t *Tuner) RunAgain(problem string) (int, error) { return t.run("Tuner.RunAgain", problem, true) }

func (t *Tuner) run(op, problem string, again bool) (int, error) {
	cProblem, err := cStringOrNull(op, "the problem", problem)
	if err != nil {
		return 0, err
	}
	flags := uint32(raw.TUNE_RUN_DEFAULT)
	if again {
		flags = raw.TUNE_RUN_AGAIN
	}
	candidate, err := get[uint32](t.base(), op, func(id uint64, out unsafe.Pointer) *raw.Failure {
		return raw.Km_tune_run(id, cProblem, flags, out)
	})
	return int(candidate), err
}

// TuneResult is what became of a candidate the last time that it was measured.
type TuneResult struct {
	Err         error // [ErrNotReady]: not measured; else why it was left out, or nil
	Median, Min time.Duration
	SampleCount uint32
}

// Result gives what became of a candidate.
func (t *Tuner) Result(candidate int) (TuneResult, error) {
	const op = "Tuner.Result"
	number, err := t.candidate(op, candidate)
	if err != nil {
		return TuneResult{}, err
	}
	info := raw.TuneResult{StructSize: uint32(unsafe.Sizeof(raw.TuneResult{}))}
	err = t.base().call(op, func(id uint64) *raw.Failure {
		return raw.Km_tune_result_get(id, number, unsafe.Pointer(&info))
	})
	if err != nil {
		return TuneResult{}, err
	}
	result := TuneResult{Median: time.Duration(info.MedianNs), Min: time.Duration(info.MinNs),
		SampleCount: info.SampleCount}
	if info.Status != raw.SUCCESS {
		text, err := textOf(t.base(), op, func(id uint64, buffer unsafe.Pointer, capacity uint64,
			outSize unsafe.Pointer) *raw.Failure {
			return raw.Km_tune_result_message(id, number, buffer, capacity, outSize)
		})
		result.Err = errors.Join(&Error{Op: op, Status: Status(info.Status), Message: text}, err)
	}
	return result, nil
}

// candidate is the number of a candidate as the library takes it.
func (t *Tuner) candidate(op string, candidate int) (uint32, error) {
	if _, err := t.base().use(op); err != nil {
		return 0, err
	}
	return size32(op, "a candidate", candidate)
}

// Function gives the kernel as a candidate has it, in a context of the caller's.
func (t *Tuner) Function(candidate int, context *Context) (*Function, error) {
	const op = "Tuner.Function"
	number, err := t.candidate(op, candidate)
	if err != nil {
		return nil, err
	}
	var id uint64
	err = t.base().callWith(op, context.base(), "the context", func(tuner, context uint64) *raw.Failure {
		return raw.Km_tune_function(tuner, number, context, unsafe.Pointer(&id))
	})
	if err != nil {
		return nil, err
	}
	return openFunction(id, "")
}
