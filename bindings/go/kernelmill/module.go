package kernelmill

import (
	"fmt"
	"iter"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Module is compiled PTX in a context.
type Module struct{ object }

// loader is one of the raw calls that load a text with a name for messages.
type loader func(context uint64, text unsafe.Pointer, size uint64, name,
	out unsafe.Pointer) *raw.Failure

// LoadPTX loads PTX text; name is for messages, "" for the default.
func (c *Context) LoadPTX(ptx, name string) (*Module, error) {
	return c.load("Context.LoadPTX", raw.Km_module_load_ptx, ptx, name)
}

// LoadSource compiles CUDA C++ for the context's device and loads it.
func (c *Context) LoadSource(source, name string) (*Module, error) {
	return c.load("Context.LoadSource", raw.Km_module_load_source, source, name)
}

func (c *Context) load(op string, call loader, text, name string) (*Module, error) {
	cName, err := cStringOrNull(op, "the name", name)
	if err != nil {
		return nil, err
	}
	return newModule(get[uint64](c.base(), op, func(id uint64, out unsafe.Pointer) *raw.Failure {
		return call(id, cText(text), uint64(len(text)), cName, out)
	}))
}

// LoadFile loads a file of PTX or CUDA C++.
func (c *Context) LoadFile(path string) (*Module, error) {
	const op = "Context.LoadFile"
	cPath, err := cString(op, "the path", path)
	if err != nil {
		return nil, err
	}
	return newModule(get[uint64](c.base(), op, func(id uint64, out unsafe.Pointer) *raw.Failure {
		return raw.Km_module_load_file(id, cPath, out)
	}))
}

// LoadProgram loads the PTX of a compiled program.
func (c *Context) LoadProgram(program *Program) (*Module, error) {
	var out uint64
	err := c.base().callWith("Context.LoadProgram", program.base(), "the program",
		func(id, program uint64) *raw.Failure {
			return raw.Km_module_load_program(id, program, unsafe.Pointer(&out))
		})
	return newModule(out, err)
}

// LoadObject loads object code, which [Module.SaveObject] made: nothing is compiled. Object code is
// executed: take it from where programs come from. The name is for messages, "" for the default.
func (c *Context) LoadObject(object []byte, name string) (*Module, error) {
	const op = "Context.LoadObject"
	cName, err := cStringOrNull(op, "the name", name)
	if err != nil {
		return nil, err
	}
	data := unsafe.Pointer(unsafe.SliceData(object))
	if len(object) == 0 {
		data = unsafe.Pointer(new(byte)) // the library tells null from empty
	}
	return newModule(get[uint64](c.base(), op, func(id uint64, out unsafe.Pointer) *raw.Failure {
		return raw.Km_module_from_object(id, data, uint64(len(object)), cName, out)
	}))
}

// SaveObject compiles all kernels for blocks of these sizes, and for blocks of any size, and writes
// the code to a file, for the instruction set and the build of this library.
func (m *Module) SaveObject(path string, blocks ...[3]uint32) error {
	const op = "Module.SaveObject"
	cPath, err := cString(op, "the path", path)
	if err != nil {
		return err
	}
	return m.base().call(op, func(id uint64) *raw.Failure {
		return raw.Km_module_save_object(id, cPath, unsafe.Pointer(unsafe.SliceData(blocks)),
			uint64(len(blocks)))
	})
}

// Functions gives the kernels one by one, each to be closed on its own. Where one cannot be had, its
// error comes in its place.
func (m *Module) Functions() iter.Seq2[*Function, error] {
	return func(yield func(*Function, error) bool) {
		names, err := m.FunctionNames()
		if err != nil {
			yield(nil, renamed("Module.Functions", err))
			return
		}
		for _, name := range names {
			if !yield(m.Function(name)) {
				return
			}
		}
	}
}

func newModule(id uint64, err error) (*Module, error) {
	if err != nil {
		return nil, err
	}
	module := &Module{}
	module.open(id, raw.Km_module_destroy)
	return module, nil
}

func (m *Module) base() *object {
	if m == nil {
		return nil
	}
	return &m.object
}

// Close lets the module go. Its functions and variables keep it.
func (m *Module) Close() error { return m.base().close("Module.Close") }

// FunctionNames lists the kernels, in the order of the text.
func (m *Module) FunctionNames() ([]string, error) {
	const op = "Module.FunctionNames"
	count, err := get[uint32](m.base(), op, raw.Km_module_function_count)
	if err != nil {
		return nil, err
	}
	names := make([]string, count)
	for i := range count {
		names[i], err = textOf(m.base(), op, func(id uint64, buffer unsafe.Pointer,
			capacity uint64, outSize unsafe.Pointer) *raw.Failure {
			return raw.Km_module_function_name(id, i, buffer, capacity, outSize)
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// named makes a raw call that looks something up by its name.
func (m *Module) named(op, name string,
	call func(id uint64, name, out unsafe.Pointer) *raw.Failure) (uint64, error) {
	cName, err := cString(op, "the name", name)
	if err != nil {
		return 0, err
	}
	return get[uint64](m.base(), op, func(id uint64, out unsafe.Pointer) *raw.Failure {
		return call(id, cName, out)
	})
}

// Global is a global or constant variable of a module as a slice of T, which keeps the module.
func Global[T Element](module *Module, name string) (*Slice[T], error) {
	const op = "Global"
	if _, err := module.base().useArgument(op, "the module"); err != nil {
		return nil, err
	}
	id, err := module.named(op, name, raw.Km_module_global)
	if err != nil {
		return nil, err
	}
	setElementType[T](id)
	slice := openSlice[T](id, 0, false)
	info, err := slice.info(op)
	isWhole := info.SizeBytes%sizeOf[T]() == 0 && sizeOf[T]()%max(info.ElementSizeBytes, 1) == 0
	if err == nil && !isWhole {
		err = fail(op, ErrInvalidArgument, fmt.Sprintf("%s has %s in elements of %d, which "+
			"are no elements of %d", name, counted(info.SizeBytes, "byte"), info.ElementSizeBytes,
			sizeOf[T]()))
	}
	if err != nil {
		_ = slice.Close() // the first error is the one to know
		return nil, err
	}
	slice.length = int(info.SizeBytes / sizeOf[T]())
	return slice, nil
}
