#include "core/kernel/kernel_types.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "base/cuda/parameter_names.h"
#include "base/hash.h"
#include "base/text.h"

namespace km {
namespace {

constexpr size_t kMaxNameBytes = 4095;

bool is_float(km_element_type type) {
  return type == KM_ELEMENT_TYPE_F32 || type == KM_ELEMENT_TYPE_F64;
}

// Classes of element types: 0 is no type, 1 to 48 are scalars and vectors, and these two are named
// types.
constexpr uint32_t kNamedClass = 49;     // its name is known
constexpr uint32_t kAnyNamedClass = 50;  // its name is unknown
constexpr uint32_t kBytes = 1;           // the family of 8-bit integers
constexpr uint64_t kAllClasses = ~uint64_t{0};

/// Types of one family are interchangeable: integers of one width, and addresses with 64-bit
/// integers.
uint32_t family_of(km_element_type type) {
  switch (type) {
    case KM_ELEMENT_TYPE_CHAR:
    case KM_ELEMENT_TYPE_I8:
    case KM_ELEMENT_TYPE_U8:
      return kBytes;
    case KM_ELEMENT_TYPE_I16:
    case KM_ELEMENT_TYPE_U16:
      return 2;
    case KM_ELEMENT_TYPE_I32:
    case KM_ELEMENT_TYPE_U32:
      return 3;
    case KM_ELEMENT_TYPE_POINTER:
    case KM_ELEMENT_TYPE_I64:
    case KM_ELEMENT_TYPE_U64:
      return 4;
    case KM_ELEMENT_TYPE_I128:
    case KM_ELEMENT_TYPE_U128:
      return 5;
    case KM_ELEMENT_TYPE_BOOL:
      return 6;
    case KM_ELEMENT_TYPE_F16:
      return 7;
    case KM_ELEMENT_TYPE_BF16:
      return 8;
    case KM_ELEMENT_TYPE_F32:
      return 9;
    case KM_ELEMENT_TYPE_F64:
      return 10;
    case KM_ELEMENT_TYPE_F8_E4M3:
      return 11;
    case KM_ELEMENT_TYPE_F8_E5M2:
      return 12;
    default:
      return 0;
  }
}

constexpr uint32_t class_of(uint32_t family, uint32_t lanes) {
  return (family - 1) * kMaxLanes + lanes;
}
static_assert(class_of(12, kMaxLanes) < kNamedClass);

uint32_t class_of(const ElementType& element) {
  if (element.type == KM_ELEMENT_TYPE_NAMED) {
    return element.name.empty() ? kAnyNamedClass : kNamedClass;
  }
  const uint32_t family = family_of(element.type);
  return family == 0 ? 0 : class_of(family, element.lanes);
}

constexpr uint64_t bit(uint32_t element_class) { return uint64_t{1} << element_class; }

/// Kinds of values. An unknown kind fits every kind of its size.
enum class ValueKind { unknown, integer, floating, address };

ValueKind kind_of(km_element_type type, uint32_t lanes) {
  if (lanes != 1) return ValueKind::unknown;
  switch (type) {
    case KM_ELEMENT_TYPE_POINTER:
      return ValueKind::address;
    case KM_ELEMENT_TYPE_F16:
    case KM_ELEMENT_TYPE_BF16:
    case KM_ELEMENT_TYPE_F32:
    case KM_ELEMENT_TYPE_F64:
    case KM_ELEMENT_TYPE_F8_E4M3:
    case KM_ELEMENT_TYPE_F8_E5M2:
      return ValueKind::floating;
    case KM_ELEMENT_TYPE_UNKNOWN:
    case KM_ELEMENT_TYPE_VOID:
    case KM_ELEMENT_TYPE_NAMED:
      return ValueKind::unknown;
    default:
      return ValueKind::integer;
  }
}

ValueKind kind_of(const ElementType& element) { return kind_of(element.type, element.lanes); }

/// A 64-bit integer may hold an address, and an address may be passed as one.
bool is_passed_as(ValueKind given, ValueKind wanted) {
  if (given == ValueKind::unknown || wanted == ValueKind::unknown) return true;
  return (given == ValueKind::floating) == (wanted == ValueKind::floating);
}

/// The kind that the PTX declares.
ValueKind kind_of(const kmb_param& param) {
  if (param.value_type == KM_PARAM_TYPE_FLOAT) return ValueKind::floating;
  if (param.kind == KM_PARAM_KIND_POINTER) return ValueKind::address;
  return param.value_type == KM_PARAM_TYPE_INTEGER ? ValueKind::integer : ValueKind::unknown;
}

/// True if an address can be passed as a value of this type: in an integer or a structure.
bool can_be_address(const ElementType& value) {
  return value.type == KM_ELEMENT_TYPE_NAMED || (family_of(value.type) == 4 && value.lanes == 1);
}

}  // namespace

FittingTypes FittingTypes::of(const ParamType& param) {
  const ElementType& element = param.element;
  if (param.kind == KM_SIGNATURE_KIND_UNKNOWN) return {};
  if (param.kind == KM_SIGNATURE_KIND_VALUE) {
    return {can_be_address(element) ? kAllClasses : bit(0), 0};
  }
  const uint64_t all_fit = bit(0) | bit(class_of(kBytes, 1));
  if (element.type == KM_ELEMENT_TYPE_NAMED) {
    return {all_fit | bit(kAnyNamedClass), tag_of(element)};
  }
  const uint32_t family = family_of(element.type);
  if (family == 0) return {};
  return {all_fit | bit(class_of(family, 1)) | bit(class_of(family, element.lanes)), 0};
}

ElementTag tag_of(const ElementType& element) {
  if (element.type == KM_ELEMENT_TYPE_UNKNOWN) return 0;
  // Only a named type has a hash: a scalar's name has several spellings.
  const ElementTag name =
      element.type == KM_ELEMENT_TYPE_NAMED ? hash128(element.name).low << 24 : 0;
  return name | static_cast<ElementTag>(element.lanes) << 16 |
         static_cast<ElementTag>(element.type) << 8 | class_of(element);
}

ElementType element_of_tag(ElementTag tag) {
  const auto type = static_cast<km_element_type>(tag >> 8 & 0xFF);
  if (type == KM_ELEMENT_TYPE_NAMED) return {type, 1, ""};
  return element_of(type, static_cast<uint32_t>(tag >> 16 & 0xFF));
}

Result<ElementType> element_type_of(km_element_type type, uint32_t lanes, const char* name) {
  if (type == KM_ELEMENT_TYPE_UNKNOWN && lanes == 0 && name == nullptr) return ElementType();
  if (type == KM_ELEMENT_TYPE_NAMED && lanes == 1) {
    const size_t size = name == nullptr ? 0 : strnlen(name, kMaxNameBytes + 1);
    if (size > kMaxNameBytes) {
      return make_error(KM_ERROR_INVALID_ARGUMENT,
                        "the name of the element type has more than %zu bytes", kMaxNameBytes);
    }
    return ElementType{type, 1, std::string(name == nullptr ? "" : name, size)};
  }
  if (name != nullptr) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "a name is given with element type %d; only KM_ELEMENT_TYPE_NAMED, with 1 "
                      "lane, has one",
                      type);
  }
  ElementType element = element_of(type, lanes);
  if (element.type != KM_ELEMENT_TYPE_UNKNOWN && element.type != KM_ELEMENT_TYPE_VOID) {
    return element;
  }
  return make_error(KM_ERROR_INVALID_ARGUMENT,
                    "there are no elements of type %d with lanes %u; the header lists the types",
                    type, lanes);
}

bool KernelTypes::agrees(const ParamType& type, const kmb_param& param) const {
  if (type.kind == KM_SIGNATURE_KIND_UNKNOWN) return true;
  if (type.kind == KM_SIGNATURE_KIND_POINTER) {
    return param.size_bytes == sizeof(uint64_t) && param.value_type != KM_PARAM_TYPE_FLOAT;
  }
  const ElementType& element = type.element;
  if (param.value_type == KM_PARAM_TYPE_FLOAT && !is_float(element.type)) return false;
  if (param.value_type == KM_PARAM_TYPE_INTEGER && is_float(element.type)) return false;
  return element.size_bytes() == 0 || element.size_bytes() == param.size_bytes;
}

/// A signature that contradicts the PTX is dropped, because the name then belongs to other source
/// code.
void KernelTypes::find() const {
  std::optional<Signature> found = instance_name_.empty() ? signature_of_name(info_.name)
                                                          : signature_of_instance(instance_name_);
  bool is_right = found && found->size() == info_.param_count;
  for (uint32_t i = 0; is_right && i < info_.param_count; ++i) {
    is_right = agrees((*found)[i], info_.params[i]);
  }
  if (is_right) {
    signature_ = std::move(*found);
  } else {
    signature_.assign(info_.param_count, ParamType());
  }
  KM_ASSERT(signature_.size() == info_.param_count, "a signature has all parameters");
  owned_fitting_ = std::make_unique<FittingTypes[]>(info_.param_count);
  for (uint32_t i = 0; i < info_.param_count; ++i) {
    owned_fitting_[i] = FittingTypes::of(signature_[i]);
  }
  fitting_.store(owned_fitting_.get(), std::memory_order_release);
}

const Signature& KernelTypes::signature() const {
  std::call_once(found_, [this] { find(); });
  return signature_;
}

Status KernelTypes::check(uint32_t parameter, const ElementType& given) const {
  const ParamType& type = signature()[parameter];
  if (takes(parameter, tag_of(given))) return {};
  const std::string name = given.name.empty() ? "a type without a name" : "'" + given.name + "'";
  const std::string expected = type.kind == KM_SIGNATURE_KIND_POINTER
                                   ? "expected '" + type.element.name + "'"
                                   : "the parameter is not a pointer";
  return Error{
      KM_ERROR_INVALID_LAUNCH,
      describe(parameter) + "; the slice given for it has elements of " + name + ", " + expected};
}

std::string GivenValue::text() const {
  if (type == KM_ELEMENT_TYPE_POINTER) return "a slice";
  const std::string name = element_of(type, lanes).name;
  return name.empty() ? counted(size_bytes, "byte") : "'" + name + "'";
}

bool KernelTypes::fits(uint32_t parameter, const GivenValue& given) const {
  KM_ASSERT(parameter < info_.param_count, "check_value() has seen the parameter");
  const kmb_param& param = info_.params[parameter];
  if (given.size_bytes != param.size_bytes) return false;
  const ValueKind kind = kind_of(given.type, given.lanes);
  if (!is_passed_as(kind, kind_of(param))) return false;
  const ParamType& type = signature()[parameter];
  if (type.kind == KM_SIGNATURE_KIND_UNKNOWN) return true;
  const bool is_pointer = type.kind == KM_SIGNATURE_KIND_POINTER;
  return is_passed_as(kind, is_pointer ? ValueKind::address : kind_of(type.element));
}

/// The type in quotes, "'const float*'"; if it is unknown, the one that PTX declares.
std::string KernelTypes::type_text(uint32_t parameter) const {
  const ParamType& type = signature()[parameter];
  if (type.kind != KM_SIGNATURE_KIND_UNKNOWN) return "'" + type.text() + "'";
  const kmb_param& param = info_.params[parameter];
  const std::string size = counted(param.size_bytes, "byte");
  switch (kind_of(param)) {
    case ValueKind::address:
      return "an address of " + size;
    case ValueKind::floating:
      return "a float of " + size;
    case ValueKind::integer:
      if (param.kind == KM_PARAM_KIND_UNKNOWN) return "an integer or address of " + size;
      return "an integer of " + size;
    case ValueKind::unknown:
      break;
  }
  return "a value of " + size;
}

std::string KernelTypes::describe(uint32_t parameter) const {
  return parameter_text(names_, parameter) + " of kernel '" + source_name(info_.name) + "' is " +
         type_text(parameter);
}

std::string KernelTypes::list() const {
  constexpr uint32_t kMost = 32;
  std::string text;
  for (uint32_t i = 0; i < std::min(info_.param_count, kMost); ++i) {
    text += (i == 0 ? ": " : ", ") + parameter_text(names_, i) + " is " + type_text(i);
  }
  if (info_.param_count > kMost) {
    text += " and " + std::to_string(info_.param_count - kMost) + " more";
  }
  return text;
}

std::string KernelTypes::advice(uint32_t parameter) const {
  const ParamType& type = signature()[parameter];
  const kmb_param& param = info_.params[parameter];
  const ValueKind kind = kind_of(param);
  const std::string size = counted(param.size_bytes, "byte");
  const bool is_pointer = type.kind == KM_SIGNATURE_KIND_POINTER || kind == ValueKind::address;
  if (is_pointer && param.size_bytes == sizeof(uint64_t)) return "give a slice";
  const bool is_value = type.kind == KM_SIGNATURE_KIND_VALUE;
  if (is_value && kind_of(type.element) == ValueKind::unknown) {
    return "give a '" + type.element.name + "' of " + size;
  }
  if (kind == ValueKind::floating || (is_value && kind_of(type.element) == ValueKind::floating)) {
    return "give a float of " + size;
  }
  if (kind == ValueKind::unknown && !is_value) return "give a value of " + size;
  const bool may_be_address = !is_value && param.kind == KM_PARAM_KIND_UNKNOWN;
  return (may_be_address ? "give a slice or an integer of " : "give an integer of ") + size;
}

Status KernelTypes::check_value(uint32_t parameter, const GivenValue& given) const {
  if (parameter >= info_.param_count) {
    return make_error(KM_ERROR_INVALID_LAUNCH, "kernel '%s' has %s; %s is given for parameter %u",
                      source_name(info_.name).c_str(),
                      counted(info_.param_count, "parameter").c_str(), given.text().c_str(),
                      parameter);
  }
  if (fits(parameter, given)) return {};
  const bool is_many = given.type == KM_ELEMENT_TYPE_UNKNOWN && given.size_bytes != 1;
  return Error{KM_ERROR_INVALID_LAUNCH, describe(parameter) + "; " + given.text() +
                                            (is_many ? " were given: " : " was given: ") +
                                            advice(parameter)};
}

}  // namespace km
