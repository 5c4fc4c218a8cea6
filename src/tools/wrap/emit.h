// The emitters, one per language, which share one description of the kernels.
#pragma once

#include <string>
#include <string_view>

#include "tools/wrap/model.h"

namespace km::tools {

std::string emit_c(const Wrapper& wrapper);
std::string emit_cpp(const Wrapper& wrapper);
std::string emit_rust(const Wrapper& wrapper);
std::string emit_go(const Wrapper& wrapper);
std::string emit_zig(const Wrapper& wrapper);

/// The names of the number types in one language, indexed by km_element_type; null: the wrapper
/// declares a type of its own.
struct ScalarNames {
  const char* names[KM_ELEMENT_TYPE_F8_E5M2 + 1];
};

/// Two comment lines that say how the file was generated.
std::string banner(const Wrapper& wrapper, std::string_view mark);
/// "saxpy(int n, float a, const float* x)", in CUDA C++.
std::string declaration(const WrapKernel& kernel);
/// A variant of the name that is neither a keyword of any of the languages nor used by wrappers
/// themselves.
std::string safe_name(const std::string& name);
/// "ns_Point" and "ns::Point" give "NsPoint".
std::string camel_name(const std::string& name);

/// True if a parameter or member has numbers of this type.
bool uses_scalar(const Wrapper& wrapper, km_element_type type);
/// The vectors that parameters use, each once, with the scalar type of a lane.
std::vector<WrapType> vectors_of(const Wrapper& wrapper);
/// "float4", "half2", "int3".
std::string vector_name(const WrapType& type);
/// The element types of pointers, each once, except `any`.
std::vector<WrapType> element_types(const Wrapper& wrapper);
/// The alignment of a vector in bytes, by CUDA's rules.
uint64_t vector_align(const WrapType& type);
bool is_same(const WrapType& left, const WrapType& right);
/// The complete element type of a slice.
struct SliceType {
  std::string element;  // "F32"; empty: launches do not check it
  uint32_t lanes = 0;
  std::string name;  // name of a named type
};
SliceType slice_type_of(const Wrapper& wrapper, const WrapType& type);
/// Replaces each tab by two blanks.
std::string without_tabs(const std::string& text);
/// The object code as decimal bytes, 20 per line: "127,69,76,".
std::string byte_lines(const std::string& bytes, std::string_view indent);
/// The bytes as a string literal's text, "\x7f\x45", with `line_end` after every 20th.
std::string byte_escapes(const std::string& bytes, std::string_view line_end);
/// A number in decimal.
inline std::string decimal(uint64_t number) { return std::to_string(number); }

}  // namespace km::tools
