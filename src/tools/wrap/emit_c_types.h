// The type declarations that C and C++ share.
#pragma once

#include <string>

#include "tools/wrap/emit.h"

namespace km::tools {

/// The prefix of type names: the module's name in C, which has no namespaces.
struct CStyle {
  std::string prefix;     // "saxpy_", or empty
  const char* assertion;  // "_Static_assert", or "static_assert"
};

std::string c_type_name(const Wrapper& wrapper, const WrapType& type, const CStyle& style);
/// Declarations of numbers without a native type, vectors and structures.
std::string c_type_texts(const Wrapper& wrapper, const CStyle& style);
/// True for numbers without a native C type, which wrappers declare themselves.
bool is_own_scalar(km_element_type type);
/// The text as string literals, one per line.
std::string c_literal(const std::string& text);

}  // namespace km::tools
