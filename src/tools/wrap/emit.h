// The emitters: one for each language, from the same description of the kernels.
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

/// The names of the numbers in one language, by km_element_type; null: it has none of its own, and
/// the wrapper declares one.
struct ScalarNames {
  const char* names[KM_ELEMENT_TYPE_F8_E5M2 + 1];
};

/// Two lines of comment that say how the file was made.
std::string banner(const Wrapper& wrapper, std::string_view mark);
/// "saxpy(int n, float a, const float* x)", as CUDA C++ declares it.
std::string declaration(const WrapKernel& kernel);
/// A name that is no keyword of any of the languages, and none that wrappers use themselves.
std::string safe_name(const std::string& name);
/// "ns_Point" and "ns::Point" give "NsPoint".
std::string camel_name(const std::string& name);

/// True if a parameter or member has numbers of this type.
bool uses_scalar(const Wrapper& wrapper, km_element_type type);
/// The vectors that parameters use, each once, as types of one lane's scalar.
std::vector<WrapType> vectors_of(const Wrapper& wrapper);
/// "float4", "half2", "int3".
std::string vector_name(const WrapType& type);
/// The types of the elements that pointers have, each once, but for `any`.
std::vector<WrapType> element_types(const Wrapper& wrapper);
/// The alignment of a vector in bytes, as CUDA has it.
uint64_t vector_align(const WrapType& type);
bool is_same(const WrapType& left, const WrapType& right);
/// A type that slices of its elements are given, in full.
struct SliceType {
  std::string element;  // "F32"; empty: launches are not to check them
  uint32_t lanes = 0;
  std::string name;  // of a named type
};
SliceType slice_type_of(const Wrapper& wrapper, const WrapType& type);
/// The text with two blanks for each tab.
std::string without_tabs(const std::string& text);
/// The bytes of the object code as numbers, in lines of 20: "127,69,76,".
std::string byte_lines(const std::string& bytes, std::string_view indent);
/// The bytes as a text for quotes, "\x7f\x45"; after every 20th stands `line_end`.
std::string byte_escapes(const std::string& bytes, std::string_view line_end);
/// A number in decimal.
inline std::string decimal(uint64_t number) { return std::to_string(number); }

}  // namespace km::tools
