// The declarations of types that C and C++ have in common.
#pragma once

#include <string>

#include "tools/wrap/emit.h"

namespace km::tools {

/// How the names of types begin: with the module's in C, which has no namespaces.
struct CStyle {
  std::string prefix;     // "saxpy_", or nothing
  const char* assertion;  // "_Static_assert", or "static_assert"
};

std::string c_type_name(const Wrapper& wrapper, const WrapType& type, const CStyle& style);
/// Numbers without a type of their own, vectors and structures.
std::string c_type_texts(const Wrapper& wrapper, const CStyle& style);
/// True for numbers that C has no type of its own for, so that wrappers declare one.
bool is_own_scalar(km_element_type type);
/// The text in quotes, a line each.
std::string c_literal(const std::string& text);

}  // namespace km::tools
