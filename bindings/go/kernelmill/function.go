package kernelmill

import (
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Function is a kernel of a module.
type Function struct {
	object
	name       string
	parameters []raw.ParamInfo
}

// Function finds a kernel by its name in the PTX, or by a name expression of the program.
func (m *Module) Function(name string) (*Function, error) {
	id, err := m.named("Module.Function", name, raw.Km_module_function)
	if err != nil {
		return nil, err
	}
	return openFunction(id, name)
}

// openFunction takes a handle over; the name is that for messages, "" for the kernel's own.
func openFunction(id uint64, name string) (*Function, error) {
	function := &Function{name: name}
	function.open(id, raw.Km_function_destroy)
	if name == "" {
		function.name, _ = function.Name() // messages do without
	}
	if err := function.readParameters(); err != nil {
		_ = function.Close() // the first error is the one to know
		return nil, err
	}
	return function, nil
}

// readParameters asks once for what every launch needs to know.
func (f *Function) readParameters() error {
	const op = "Module.Function"
	count, err := get[uint32](f.base(), op, raw.Km_function_param_count)
	if err != nil {
		return err
	}
	f.parameters = make([]raw.ParamInfo, count)
	for i := range f.parameters {
		info := &f.parameters[i]
		info.StructSize = uint32(unsafe.Sizeof(*info))
		err := f.base().call(op, func(id uint64) *raw.Failure {
			return raw.Km_function_param(id, uint32(i), unsafe.Pointer(info))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *Function) base() *object {
	if f == nil {
		return nil
	}
	return &f.object
}

// Close lets the function go. Launches under way go on.
func (f *Function) Close() error { return f.base().close("Function.Close") }

// Name is the kernel's name in the PTX.
func (f *Function) Name() (string, error) {
	return textOf(f.base(), "Function.Name", raw.Km_function_name)
}

// ParameterCount is how many arguments a launch needs; 0 for nil.
func (f *Function) ParameterCount() int {
	if f == nil {
		return 0
	}
	return len(f.parameters)
}

// ParameterKind says what a parameter is.
type ParameterKind int32

// The kinds of parameters.
const (
	ParameterUnknown ParameterKind = raw.PARAM_KIND_UNKNOWN // 64 bits that may be an address
	ParameterPointer ParameterKind = raw.PARAM_KIND_POINTER
	ParameterValue   ParameterKind = raw.PARAM_KIND_VALUE
)

// ParameterType says what PTX declares a parameter as.
type ParameterType int32

// The types of parameters.
const (
	ParameterBits    ParameterType = raw.PARAM_TYPE_UNKNOWN // also arrays and structures
	ParameterInteger ParameterType = raw.PARAM_TYPE_INTEGER
	ParameterFloat   ParameterType = raw.PARAM_TYPE_FLOAT
)

// Parameter is a parameter of a kernel, and its place among the arguments.
type Parameter struct {
	Kind        ParameterKind
	Type        ParameterType
	SizeBytes   uint64
	AlignBytes  uint64
	OffsetBytes uint64
}

// Parameters lists the parameters of the kernel in order; none for nil.
func (f *Function) Parameters() []Parameter {
	if f == nil {
		return nil
	}
	parameters := make([]Parameter, len(f.parameters))
	for i, p := range f.parameters {
		parameters[i] = Parameter{ParameterKind(p.Kind), ParameterType(p.ValueType), p.SizeBytes,
			p.AlignBytes, p.OffsetBytes}
	}
	return parameters
}

// Prepare makes machine code for blocks of these numbers of threads along x, y and z now, so that
// the first launch need not wait for it.
func (f *Function) Prepare(block ...int) error {
	const op = "Function.Prepare"
	if _, err := f.base().use(op); err != nil {
		return err
	}
	size, err := dimensions(op, block)
	if err != nil {
		return err
	}
	return f.base().call(op, func(id uint64) *raw.Failure {
		return raw.Km_function_prepare(id, size[0], size[1], size[2])
	})
}

// FunctionAttribute names one property of a kernel.
type FunctionAttribute int32

// The attributes of kernels.
const (
	MaxThreadsPerBlock    FunctionAttribute = raw.FUNCTION_ATTRIBUTE_MAX_THREADS_PER_BLOCK
	SharedBytes           FunctionAttribute = raw.FUNCTION_ATTRIBUTE_SHARED_BYTES // static
	ConstantBytes         FunctionAttribute = raw.FUNCTION_ATTRIBUTE_CONSTANT_BYTES
	LocalBytes            FunctionAttribute = raw.FUNCTION_ATTRIBUTE_LOCAL_BYTES // per thread
	Registers             FunctionAttribute = raw.FUNCTION_ATTRIBUTE_REGISTERS
	PTXVersion            FunctionAttribute = raw.FUNCTION_ATTRIBUTE_PTX_VERSION // 90: ISA 9.0
	Target                FunctionAttribute = raw.FUNCTION_ATTRIBUTE_TARGET      // 80: sm_80
	MaxDynamicSharedBytes FunctionAttribute = raw.FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES
	ExecutionMode         FunctionAttribute = raw.FUNCTION_ATTRIBUTE_EXECUTION_MODE
	BinaryVersion         FunctionAttribute = raw.FUNCTION_ATTRIBUTE_BINARY_VERSION
	CacheGlobals          FunctionAttribute = raw.FUNCTION_ATTRIBUTE_CACHE_GLOBALS
	SharedCarveoutPercent FunctionAttribute = raw.FUNCTION_ATTRIBUTE_SHARED_CARVEOUT_PERCENT
	ClusterRequired       FunctionAttribute = raw.FUNCTION_ATTRIBUTE_CLUSTER_REQUIRED
	ClusterX              FunctionAttribute = raw.FUNCTION_ATTRIBUTE_CLUSTER_X
	ClusterY              FunctionAttribute = raw.FUNCTION_ATTRIBUTE_CLUSTER_Y
	ClusterZ              FunctionAttribute = raw.FUNCTION_ATTRIBUTE_CLUSTER_Z
	NonPortableCluster    FunctionAttribute = raw.FUNCTION_ATTRIBUTE_NON_PORTABLE_CLUSTER
	ClusterPolicy         FunctionAttribute = raw.FUNCTION_ATTRIBUTE_CLUSTER_POLICY
)

// Attribute is one property of the kernel.
func (f *Function) Attribute(attribute FunctionAttribute) (int64, error) {
	return get[int64](f.base(), "Function.Attribute",
		func(id uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_function_attribute_get(id, int32(attribute), out)
		})
}

// SetAttribute sets an attribute that is settable: MaxDynamicSharedBytes, which allows launches more
// than the default limit, or one of the hints.
func (f *Function) SetAttribute(attribute FunctionAttribute, value int64) error {
	return f.base().call("Function.SetAttribute", func(id uint64) *raw.Failure {
		return raw.Km_function_attribute_set(id, int32(attribute), value)
	})
}
