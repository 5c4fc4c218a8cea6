// Objects made from LLVM assembly, for tests of what comes after code generation.
#pragma once

#include <string>

#include "simt/object/target.h"

namespace km::simt::testing {

/// Compiles the text with emit_object, for the least machine unless one is given; a syntax error in
/// it is a KM_ERROR_INTERNAL.
Result<Object> object_from_text(const std::string& text, const Machine& machine = Machine());

/// A km_meta definition to append to a module's text.
std::string meta_text(Mode mode = Mode::run_to_completion, uint64_t scratch_bytes = 0,
                      uint32_t stack_bytes = 0);

}  // namespace km::simt::testing
