// Entry points of the PTX front end.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernelmill/function.h"
#include "ptx/ir.h"

namespace km::ptx {

/// Parses and verifies PTX text. Messages contain `name` ("name:line:column: ..."). Any input
/// results in a module or an error (KM_ERROR_INVALID_PTX); time and memory are linear in its size.
Result<std::shared_ptr<const Module>> parse(std::string_view text, std::string_view name);

/// Checks the properties that the parser does not ensure: operand types and widths, labels,
/// symbols, spaces, guards. parse() calls it; other callers need it for modules that they build
/// themselves.
Status verify(const Module& module);

/// The type of a kernel's parameter, as far as its declaration determines it.
km_param_type param_type(const Symbol& symbol);

/// Prints a module so that parse(print(m)) equals m.
std::string print(const Module& module);
std::string print(const Module& module, const Function& function, const Instruction& instruction);

}  // namespace km::ptx
