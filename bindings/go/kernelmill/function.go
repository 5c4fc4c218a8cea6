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
	function := &Function{name: name}
	function.open(id, raw.Km_function_destroy)
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

// SetAttribute sets MaxDynamicSharedBytes, which allows launches more than the default limit.
func (f *Function) SetAttribute(attribute FunctionAttribute, value int64) error {
	return f.base().call("Function.SetAttribute", func(id uint64) *raw.Failure {
		return raw.Km_function_attribute_set(id, int32(attribute), value)
	})
}
