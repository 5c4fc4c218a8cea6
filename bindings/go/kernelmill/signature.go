package kernelmill

import (
	"reflect"
	"runtime"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// ElementType is a type of CUDA C++ that elements and parameters have.
type ElementType int32

// The element types.
const (
	ElementUnknown ElementType = raw.ELEMENT_TYPE_UNKNOWN
	ElementVoid    ElementType = raw.ELEMENT_TYPE_VOID
	ElementNamed   ElementType = raw.ELEMENT_TYPE_NAMED // structures and what else has a name
	ElementPointer ElementType = raw.ELEMENT_TYPE_POINTER
	ElementBool    ElementType = raw.ELEMENT_TYPE_BOOL
	ElementChar    ElementType = raw.ELEMENT_TYPE_CHAR
	ElementI8      ElementType = raw.ELEMENT_TYPE_I8
	ElementU8      ElementType = raw.ELEMENT_TYPE_U8
	ElementI16     ElementType = raw.ELEMENT_TYPE_I16
	ElementU16     ElementType = raw.ELEMENT_TYPE_U16
	ElementI32     ElementType = raw.ELEMENT_TYPE_I32
	ElementU32     ElementType = raw.ELEMENT_TYPE_U32
	ElementI64     ElementType = raw.ELEMENT_TYPE_I64
	ElementU64     ElementType = raw.ELEMENT_TYPE_U64
	ElementI128    ElementType = raw.ELEMENT_TYPE_I128
	ElementU128    ElementType = raw.ELEMENT_TYPE_U128
	ElementF16     ElementType = raw.ELEMENT_TYPE_F16
	ElementBF16    ElementType = raw.ELEMENT_TYPE_BF16
	ElementF32     ElementType = raw.ELEMENT_TYPE_F32
	ElementF64     ElementType = raw.ELEMENT_TYPE_F64
	ElementF8E4M3  ElementType = raw.ELEMENT_TYPE_F8_E4M3
	ElementF8E5M2  ElementType = raw.ELEMENT_TYPE_F8_E5M2
)

// TypedElement is what types of elements may have: the type of CUDA C++ that they stand for, where it
// is not that of the number. Types whose numbers are uint16 and that do not say it may stand for
// halves: launches do not check them.
type TypedElement interface{ DeviceElement() ElementType }

// elementTypes are those of numbers.
var elementTypes = [...]ElementType{
	reflect.Int8: ElementI8, reflect.Int16: ElementI16, reflect.Int32: ElementI32,
	reflect.Int64: ElementI64, reflect.Uint8: ElementU8, reflect.Uint16: ElementU16,
	reflect.Uint32: ElementU32, reflect.Uint64: ElementU64, reflect.Float32: ElementF32,
	reflect.Float64: ElementF64, reflect.Complex128: ElementUnknown, // as of Complex64
}

// elementTypeOf is the type that kernels have for elements of T.
func elementTypeOf[T Element]() ElementType {
	var element T
	if typed, is := any(element).(TypedElement); is {
		return typed.DeviceElement()
	}
	kind := reflect.TypeFor[T]()
	if kind.Kind() == reflect.Uint16 && kind.PkgPath() != "" {
		return ElementUnknown
	}
	return elementTypes[kind.Kind()]
}

// setElementType has launches check the elements of a new slice.
func setElementType[T Element](id uint64) {
	if element := elementTypeOf[T](); element != ElementUnknown {
		_ = raw.Km_slice_set_element_type(id, int32(element), 1, nil) // at worst it stays unchecked
	}
}

// SetElementType says of which type of CUDA C++ the elements of the slice and of its later views
// are, if it is not that of T: a launch for a parameter that is known to have one that does not fit
// fails with [ErrInvalidLaunch].
// lanes is 2 to 4 for a vector such as float4, else 1; name is that of [ElementNamed], "" for any,
// and "" else. [ElementUnknown] with 0 lanes ends the check.
func (s *Slice[T]) SetElementType(element ElementType, lanes int, name string) error {
	const op = "Slice.SetElementType"
	cName, err := cStringOrNull(op, "the name", name)
	if err != nil {
		return err
	}
	count := uint32(min(max(lanes, -1), 255)) // what is no number of lanes stays none
	return s.base().call(op, func(id uint64) *raw.Failure {
		return raw.Km_slice_set_element_type(id, int32(element), count, cName)
	})
}

// SignatureKind says what is known of a parameter's type.
type SignatureKind int32

// The kinds of signatures.
const (
	SignatureUnknown SignatureKind = raw.SIGNATURE_KIND_UNKNOWN
	SignaturePointer SignatureKind = raw.SIGNATURE_KIND_POINTER // also references
	SignatureValue   SignatureKind = raw.SIGNATURE_KIND_VALUE
)

// ParameterSignature is the type of a parameter as CUDA C++ declares it.
type ParameterSignature struct {
	Kind             SignatureKind
	Element          ElementType // of the value, or of what the pointer points to
	Lanes            int         // 2 to 4 for a vector; 0 if nothing is known
	IsConst          bool        // the elements behind the pointer are
	ElementSizeBytes uint64      // 0 if it is not known
	TypeName         string      // of the element, in CUDA C++; "" if it is not known
}

// ParameterSignature is the type of the parameter at an index. It is known of kernels that come
// from CUDA C++ or have mangled names.
func (f *Function) ParameterSignature(index int) (ParameterSignature, error) {
	const op = "Function.ParameterSignature"
	position := uint32(max(index, -1)) // a negative one is none of the parameters
	var found raw.ParamSignature
	found.StructSize = uint32(unsafe.Sizeof(found))
	err := f.base().call(op, func(id uint64) *raw.Failure {
		return raw.Km_function_param_signature(id, position, unsafe.Pointer(&found))
	})
	if err != nil {
		return ParameterSignature{}, err
	}
	name, err := textOf(f.base(), op, func(id uint64, buffer unsafe.Pointer, capacity uint64,
		outSize unsafe.Pointer,
	) *raw.Failure {
		return raw.Km_function_param_type_name(id, position, buffer, capacity, outSize)
	})
	runtime.KeepAlive(f)
	return ParameterSignature{
		SignatureKind(found.Kind), ElementType(found.Element),
		int(found.Lanes), found.IsConst != 0, uint64(found.ElementSizeBytes), name,
	}, err
}
