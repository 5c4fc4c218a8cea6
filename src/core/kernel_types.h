// The types of a kernel's parameters, and the types of slices that are checked against them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "backend/interface.h"
#include "base/result.h"
#include "compile/signature/signature.h"

namespace km {

/// An element type in one number: the scalar in the lowest byte, its lanes in the next, and the
/// hash of a name in the rest. Equal for equal types; 0: not known.
using ElementTag = uint64_t;
ElementTag tag_of(const ElementType& element);
constexpr ElementTag kTagWithoutName = 0xFFFF;
/// The type that a tag stands for, but for the name of one that only has a name.
ElementType element_of_tag(ElementTag tag);

/// Checks what km_slice_set_element_type is given. `name` may be null.
Result<ElementType> element_type_of(km_element_type type, uint32_t lanes, const char* name);

/// The facts about one kernel's parameters. Found when they are asked for first, by any thread.
class KernelTypes {
 public:
  /// Both live as long. `instance_name`: see signature_of_instance; empty: the kernel's name
  /// may tell the types.
  KernelTypes(const kmb_function_info& info, std::string_view instance_name)
      : info_(info), instance_name_(instance_name) {}

  /// One for each parameter.
  const Signature& signature() const;
  /// True if a slice of this type may be given for the parameter, which exists.
  bool takes(uint32_t parameter, ElementTag tag) const {
    const ElementTag* const tags = tags_.load(std::memory_order_acquire);
    if (tags == nullptr) return false;
    const ElementTag expected = tags[parameter];
    return expected == 0 || expected == tag || (expected & kTagWithoutName) == tag;
  }
  /// Applies all rules, for types that takes() does not say yes to.
  Status check(uint32_t parameter, const ElementType& given) const;

 private:
  void find() const;
  bool agrees(const ParamType& type, const kmb_param& param) const;

  const kmb_function_info& info_;
  const std::string_view instance_name_;
  mutable std::once_flag found_;
  mutable Signature signature_;
  mutable std::unique_ptr<ElementTag[]> owned_tags_;  // of pointers; 0: any slice
  mutable std::atomic<const ElementTag*> tags_{nullptr};
};

}  // namespace km
