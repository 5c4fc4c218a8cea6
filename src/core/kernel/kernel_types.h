// The types of a kernel's parameters, and the types of slices that are checked against them.
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

/// An element type in one number: its class in the lowest byte, then the scalar, the lanes, and the
/// hash of a name. Equal for equal types; 0: not known.
using ElementTag = uint64_t;
ElementTag tag_of(const ElementType& element);
/// The type that a tag stands for, but for the name of one that only has a name.
ElementType element_of_tag(ElementTag tag);

/// Checks what km_slice_set_element_type is given. `name` may be null.
Result<ElementType> element_type_of(km_element_type type, uint32_t lanes, const char* name);

/// The slices that fit a parameter: one bit for each class of element types, and one named type.
struct FittingTypes {
  uint64_t classes = ~uint64_t{0};
  ElementTag named = 0;

  static FittingTypes of(const ParamType& param);
  bool has(ElementTag tag) const { return (classes >> (tag & 63) & 1) != 0 || tag == named; }
};

/// An argument that is no slice with a type of its own: a number, a structure, or an address.
struct GivenValue {
  km_element_type type = KM_ELEMENT_TYPE_UNKNOWN;  // UNKNOWN: bytes; POINTER: a slice or an address
  uint32_t lanes = 0;
  uint64_t size_bytes = 0;

  static GivenValue of_bytes(uint64_t size_bytes) {
    return {KM_ELEMENT_TYPE_UNKNOWN, 0, size_bytes};
  }
  static GivenValue address() { return {KM_ELEMENT_TYPE_POINTER, 1, sizeof(uint64_t)}; }
  /// "a slice", "'float'", "4 bytes".
  std::string text() const;
};

/// The facts about one kernel's parameters. Found when they are asked for first, by any thread.
class KernelTypes {
 public:
  /// All live as long. `instance_name`: see signature_of_instance; empty: the kernel's name
  /// may tell the types. `names`: of the parameters.
  KernelTypes(const kmb_function_info& info, std::string_view instance_name,
              const std::vector<std::string>& names)
      : info_(info), instance_name_(instance_name), names_(names) {}

  /// One for each parameter.
  const Signature& signature() const;
  /// True if a slice of this type may be given for the parameter, which exists. False also as long
  /// as nobody has asked for the signature.
  bool takes(uint32_t parameter, ElementTag tag) const {
    const FittingTypes* const fitting = fitting_.load(std::memory_order_acquire);
    return fitting != nullptr && fitting[parameter].has(tag);
  }
  /// Says why takes() is false, if the type does not fit.
  Status check(uint32_t parameter, const ElementType& given) const;
  /// KM_ERROR_INVALID_LAUNCH with the parameter, its type, the argument, and what to give instead,
  /// unless the value has the parameter's size and, as far as both are known, is of its kind:
  /// integer, floating point, address. `parameter` may be beyond the last.
  Status check_value(uint32_t parameter, const GivenValue& given) const;
  /// "parameter 1 'x' of kernel 'saxpy' is 'const float*'".
  std::string describe(uint32_t parameter) const;
  /// All of them, ": parameter 0 'x' is 'const float*', parameter 1 'n' is 'int'"; empty for none.
  std::string list() const;
  /// "give a slice".
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
