// The types of a kernel's parameters as CUDA C++ has them, which PTX does not say.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelmill/c_api.h"

namespace km {

/// The type of one element: a scalar, a vector of up to four, or something with a name.
struct ElementType {
  km_element_type type = KM_ELEMENT_TYPE_UNKNOWN;
  uint32_t lanes = 0;  ///< of a vector such as float4; 1 for a scalar
  std::string name;    ///< as CUDA C++ spells it: "float", "float4", "ns::Point"

  /// 0 if it is not known: of void, of pointers' targets and of what only has a name.
  uint64_t size_bytes() const;
  bool operator==(const ElementType&) const = default;
};

/// The type of one parameter. Of a pointer or reference, `element` is the type it points to.
struct ParamType {
  km_signature_kind kind = KM_SIGNATURE_KIND_UNKNOWN;
  ElementType element;
  bool is_const = false;  ///< the elements behind a pointer are

  /// "const float*"; "unknown".
  std::string text() const;
  bool operator==(const ParamType&) const = default;
};
using Signature = std::vector<ParamType>;

/// The size of a scalar or vector; 0: there is none of that type with so many lanes.
uint64_t element_size_bytes(km_element_type type, uint32_t lanes);
/// A scalar type or vector with the name that CUDA C++ has for it; empty for a type that has none.
ElementType element_of(km_element_type type, uint32_t lanes);
/// The type that a name of the global scope stands for: "float", "int4", "__half2", "Point".
ElementType element_named(std::string_view name);
/// The most lanes that a vector has.
constexpr uint32_t kMaxLanes = 4;

/// The parameters that the Itanium name of a function encodes ("_Z5saxpyfPKf"). A type that the
/// name alone does not tell is unknown. Nothing if it is no such name or nested too deeply.
std::optional<Signature> signature_of_name(std::string_view mangled);
/// The parameters by the name of a variable template's instance whose argument is the function's
/// type
/// ("_Z12km_signatureIFvfPKfEE"). The type alone would not do: its abbreviations count the
/// template.
std::optional<Signature> signature_of_instance(std::string_view mangled);

/// Kernels whose names do not tell their types, with the names of such instances.
using SignatureLines = std::map<std::string, std::string, std::less<>>;

/// The lines of comment by which PTX carries them.
std::string write_signature_lines(const SignatureLines& lines);
/// Finds such lines in PTX, or in other data that holds PTX as it is.
SignatureLines read_signature_lines(std::string_view ptx);

}  // namespace km
