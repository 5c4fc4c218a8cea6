package kernelmill

import (
	"errors"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Program is CUDA C++ compiled to PTX.
type Program struct{ object }

// CompileOption is one of the With... that Compile takes.
type CompileOption struct {
	name string               // of the source, or
	add  func(*Program) error // what is given to the program
}

// WithName names the source in messages.
func WithName(name string) CompileOption { return CompileOption{name: name} }

// WithOption passes an option to the compiler, as NVRTC spells it: "--use_fast_math", "-DN=4".
func WithOption(option string) CompileOption {
	return withText("the option", option, raw.Km_program_add_option)
}

// WithNameExpression has a C++ name, such as "scale<float>", compiled and findable in the module.
func WithNameExpression(expression string) CompileOption {
	return withText("the name expression", expression, raw.Km_program_add_name_expression)
}

// WithHeader has #include find a header by this name.
func WithHeader(name, source string) CompileOption {
	return withText("the header's name", name, func(id uint64, name unsafe.Pointer) *raw.Failure {
		return raw.Km_program_add_header(id, name, cText(source), uint64(len(source)))
	})
}

func withText(what, text string, call func(uint64, unsafe.Pointer) *raw.Failure) CompileOption {
	return CompileOption{add: func(p *Program) error {
		argument, err := cString("Compile", what, text)
		if err != nil {
			return err
		}
		return p.base().call("Compile", func(id uint64) *raw.Failure { return call(id, argument) })
	}}
}

// Compile compiles CUDA C++. The error for a source with errors has the compiler's Log.
func Compile(source string, options ...CompileOption) (*Program, error) {
	program, err := newProgram(source, options)
	if err != nil {
		return nil, err
	}
	if err := program.compile(options); err != nil {
		_ = program.Close() // the compiler's error is the one to know
		return nil, err
	}
	return program, nil
}

func newProgram(source string, options []CompileOption) (*Program, error) {
	const op = "Compile"
	name := ""
	for _, option := range options {
		if option.name != "" {
			name = option.name
		}
	}
	cName, err := cStringOrNull(op, "the name", name)
	if err != nil {
		return nil, err
	}
	var id uint64
	err = check(op, raw.Km_program_create(cText(source), uint64(len(source)), cName,
		unsafe.Pointer(&id)))
	if err != nil {
		return nil, err
	}
	program := &Program{}
	program.open(id, raw.Km_program_destroy)
	return program, nil
}

func (p *Program) compile(options []CompileOption) error {
	for _, option := range options {
		if option.add == nil {
			continue
		}
		if err := option.add(p); err != nil {
			return err
		}
	}
	err := p.base().call("Compile", raw.Km_program_compile)
	var failure *Error
	if errors.As(err, &failure) {
		failure.Log, _ = p.Log() // without a log, the message has to do
	}
	return err
}

func (p *Program) base() *object {
	if p == nil {
		return nil
	}
	return &p.object
}

// Close lets the program go. Modules made from it stay.
func (p *Program) Close() error { return p.base().close("Program.Close") }

// Log is what the compiler said, warnings included.
func (p *Program) Log() (string, error) {
	return textOf(p.base(), "Program.Log", raw.Km_program_log)
}

// PTX is what the source was compiled to.
func (p *Program) PTX() (string, error) {
	return textOf(p.base(), "Program.PTX", raw.Km_program_ptx)
}

// LoweredName is the name in the PTX of a name expression.
func (p *Program) LoweredName(expression string) (string, error) {
	const op = "Program.LoweredName"
	name, err := cString(op, "the name expression", expression)
	if err != nil {
		return "", err
	}
	return textOf(p.base(), op, func(id uint64, buffer unsafe.Pointer, capacity uint64,
		outSize unsafe.Pointer) *raw.Failure {
		return raw.Km_program_lowered_name(id, name, buffer, capacity, outSize)
	})
}
