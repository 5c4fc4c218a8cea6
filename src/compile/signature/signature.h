// The CUDA C++ types of a kernel's parameters, which PTX does not record.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelmill/c_api.h"

namespace km {

/// The type of one element: a scalar, a vector of up to four lanes, or a named type.
struct ElementType {
  km_element_type type = KM_ELEMENT_TYPE_UNKNOWN;
  uint32_t lanes = 0;  ///< lanes of a vector such as float4; 1 for a scalar
  std::string name;    ///< CUDA C++ spelling: "float", "float4", "ns::Point"

  /// 0 if it is unknown: for void, pointers and named types.
  uint64_t size_bytes() const;
  bool operator==(const ElementType&) const = default;
};

/// The type of one parameter. For a pointer or reference, `element` is the type that it points to.
struct ParamType {
  km_signature_kind kind = KM_SIGNATURE_KIND_UNKNOWN;
  ElementType element;
  bool is_const = false;  ///< the elements behind a pointer are const

  /// The type in CUDA C++, such as "const float*", or "unknown".
  std::string text() const;
  bool operator==(const ParamType&) const = default;
};
using Signature = std::vector<ParamType>;

/// The size of a scalar or vector; 0 if the type has no vector with this many lanes.
uint64_t element_size_bytes(km_element_type type, uint32_t lanes);
/// A scalar or vector type with its CUDA C++ name, which is empty if there is none.
ElementType element_of(km_element_type type, uint32_t lanes);
/// The type of a name in the global scope: "float", "int4", "__half2", "Point".
ElementType element_named(std::string_view name);
/// The maximum number of lanes of a vector.
constexpr uint32_t kMaxLanes = 4;

/// The parameters encoded in a function's Itanium name ("_Z5saxpyfPKf"). A type that the name does
/// not determine is unknown. Nothing if the name is not of this kind or is nested too deeply.
std::optional<Signature> signature_of_name(std::string_view mangled);
/// The parameters from the name of a variable template's instance whose argument is the function's
/// type ("_Z12km_signatureIFvfPKfEE"). The type alone is not enough, because its substitutions also
/// count the template.
std::optional<Signature> signature_of_instance(std::string_view mangled);

/// Maps kernels whose names do not encode their types to the names of such instances.
using SignatureLines = std::map<std::string, std::string, std::less<>>;

/// Comment lines that carry these names in PTX.
std::string write_signature_lines(const SignatureLines& lines);
/// Finds such lines in PTX, or in any data that contains PTX text.
SignatureLines read_signature_lines(std::string_view ptx);

}  // namespace km
