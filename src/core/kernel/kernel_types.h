// The types of a kernel's parameters, which types of slices are checked against.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backend/interface.h"
#include "base/result.h"
#include "compile/signature/signature.h"

namespace km {

/// An element type in one number, so that a launch compares types cheaply: the class in the lowest
/// byte, then the scalar, the lanes and the hash of a name. 0: unknown.
using ElementTag = uint64_t;
ElementTag tag_of(const ElementType& element);
/// The type of a tag; a type that only has a name comes back without it.
ElementType element_of_tag(ElementTag tag);

/// Checks the arguments of km_slice_set_element_type. `name` may be null.
Result<ElementType> element_type_of(km_element_type type, uint32_t lanes, const char* name);

/// The slices that fit a parameter: a bit for each class of element types, and one named type.
struct FittingTypes {
  uint64_t classes = ~uint64_t{0};
  ElementTag named = 0;

  static FittingTypes of(const ParamType& param);
  bool has(ElementTag tag) const { return (classes >> (tag & 63) & 1) != 0 || tag == named; }
};

/// An argument that is not a typed slice: a number, a structure or an address.
struct GivenValue {
  // UNKNOWN: bytes; POINTER: an untyped slice or an address.
  km_element_type type = KM_ELEMENT_TYPE_UNKNOWN;
  uint32_t lanes = 0;
  uint64_t size_bytes = 0;

  static GivenValue of_bytes(uint64_t size_bytes) {
    return {KM_ELEMENT_TYPE_UNKNOWN, 0, size_bytes};
  }
  static GivenValue address() { return {KM_ELEMENT_TYPE_POINTER, 1, sizeof(uint64_t)}; }
  /// The argument in messages: "a slice", "'float'", "4 bytes".
  std::string text() const;
};

/// The types of one kernel's parameters, found at the first request by any thread.
class KernelTypes {
 public:
  /// The arguments must live as long as this object. `instance_name` is for
  /// signature_of_instance(); if it is empty, the kernel's name is parsed. `names` are the
  /// parameters' names.
  KernelTypes(const kmb_function_info& info, std::string_view instance_name,
              const std::vector<std::string>& names)
      : info_(info), instance_name_(instance_name), names_(names) {}

  /// The types, one for each parameter.
  const Signature& signature() const;
  /// True if a slice of this type fits the parameter, which must exist. False until signature() was
  /// called once, so callers then use check().
  bool takes(uint32_t parameter, ElementTag tag) const {
    const FittingTypes* const fitting = fitting_.load(std::memory_order_acquire);
    return fitting != nullptr && fitting[parameter].has(tag);
  }
  /// Returns the reason if a slice of this type does not fit the parameter.
  Status check(uint32_t parameter, const ElementType& given) const;
  /// Fails with KM_ERROR_INVALID_LAUNCH unless the value has the parameter's size and, if both are
  /// known, its kind: integer, floating point or address. The message has the parameter, its type,
  /// the argument and advice. `parameter` may be out of range.
  Status check_value(uint32_t parameter, const GivenValue& given) const;
  /// A parameter in messages: "parameter 1 'x' of kernel 'saxpy' is 'const float*'".
  std::string describe(uint32_t parameter) const;
  /// All parameters in messages: ": parameter 0 'x' is 'const float*', parameter 1 'n' is 'int'";
  /// empty without parameters.
  std::string list() const;
  /// The advice in messages: "give a slice".
  std::string advice(uint32_t parameter) const;

 private:
  void find() const;
  bool fits(uint32_t parameter, const GivenValue& given) const;
  std::string type_text(uint32_t parameter) const;
  bool agrees(const ParamType& type, const kmb_param& param) const;

  const kmb_function_info& info_;
  const std::string_view instance_name_;
  const std::vector<std::string>& names_;
  mutable std::once_flag found_;
  mutable Signature signature_;
  mutable std::unique_ptr<FittingTypes[]> owned_fitting_;
  mutable std::atomic<const FittingTypes*> fitting_{nullptr};
};

}  // namespace km
