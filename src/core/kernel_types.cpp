#include "core/kernel_types.h"

#include <cstring>

#include "base/hash.h"

namespace km {
namespace {

constexpr size_t kMaxNameBytes = 4095;

bool is_float(km_element_type type) {
  return type == KM_ELEMENT_TYPE_F32 || type == KM_ELEMENT_TYPE_F64;
}

bool is_byte(km_element_type type) {
  return type == KM_ELEMENT_TYPE_CHAR || type == KM_ELEMENT_TYPE_I8 || type == KM_ELEMENT_TYPE_U8;
}

bool is_address(const ElementType& type) {
  return type.lanes == 1 && (type.type == KM_ELEMENT_TYPE_POINTER ||
                             type.type == KM_ELEMENT_TYPE_I64 || type.type == KM_ELEMENT_TYPE_U64);
}

/// True if elements of the type `given` are what a pointer to `expected` points to.
bool fits_pointer(const ElementType& expected, const ElementType& given) {
  if (expected.type == KM_ELEMENT_TYPE_VOID || expected.type == KM_ELEMENT_TYPE_UNKNOWN) {
    return true;
  }
  if (expected.type == KM_ELEMENT_TYPE_POINTER) return is_address(given);
  if (expected.type == KM_ELEMENT_TYPE_CHAR) return is_byte(given.type) && given.lanes == 1;
  if (expected.type != given.type || expected.lanes != given.lanes) return false;
  return given.type != KM_ELEMENT_TYPE_NAMED || given.name.empty() || given.name == expected.name;
}

/// True if an address can be passed as a value of this type: in an integer, or a structure.
bool can_be_address(const ElementType& value) {
  return value.type == KM_ELEMENT_TYPE_NAMED || is_address(value);
}

}  // namespace

ElementTag tag_of(const ElementType& element) {
  if (element.type == KM_ELEMENT_TYPE_UNKNOWN) return 0;
  // Names of scalars have several spellings; they are the same type.
  const ElementTag name =
      element.type == KM_ELEMENT_TYPE_NAMED ? hash128(element.name).low << 16 : 0;
  return name | element.lanes << 8 | static_cast<ElementTag>(element.type);
}

ElementType element_of_tag(ElementTag tag) {
  const auto type = static_cast<km_element_type>(tag & 0xFF);
  if (type == KM_ELEMENT_TYPE_NAMED) return {type, 1, ""};
  return element_of(type, static_cast<uint32_t>(tag >> 8 & 0xFF));
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

/// A signature that does not agree with the PTX is dropped: the name is not that of the code's
/// source.
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
  owned_tags_ = std::make_unique<ElementTag[]>(info_.param_count);
  for (uint32_t i = 0; i < info_.param_count; ++i) {
    const ParamType& type = signature_[i];
    const bool is_any =
        type.element.type == KM_ELEMENT_TYPE_VOID || type.kind == KM_SIGNATURE_KIND_UNKNOWN;
    owned_tags_[i] = is_any ? 0 : tag_of(type.element);
  }
  tags_.store(owned_tags_.get(), std::memory_order_release);
}

const Signature& KernelTypes::signature() const {
  std::call_once(found_, [this] { find(); });
  return signature_;
}

Status KernelTypes::check(uint32_t parameter, const ElementType& given) const {
  const ParamType& type = signature()[parameter];
  if (type.kind == KM_SIGNATURE_KIND_UNKNOWN) return {};
  const bool fits = type.kind == KM_SIGNATURE_KIND_POINTER ? fits_pointer(type.element, given)
                                                           : can_be_address(type.element);
  if (fits) return {};
  const std::string name = given.name.empty() ? "a type without a name" : "'" + given.name + "'";
  return make_error(
      KM_ERROR_INVALID_LAUNCH,
      "parameter %u of kernel '%s' is '%s'; the slice given for it has elements of %s", parameter,
      info_.name, type.text().c_str(), name.c_str());
}

}  // namespace km
