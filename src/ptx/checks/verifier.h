// The checks of an instruction's operands that the parser and verify() share.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "ptx/forms.h"
#include "ptx/ir.h"

namespace km::ptx {

struct OperandProblem {
  unsigned operand = 0;
  std::string message;  // the operand found and the one expected
};

/// Checks kinds, counts and types of operands against the form's specs.
std::optional<OperandProblem> find_operand_problem(const Module& module, const Function& function,
                                                   const Instruction& instruction,
                                                   const Assignment& assignment);

/// The declared type of a call's argument or result; .b64 if it is unknown.
Type argument_type(const Module& module, const Function& function, const Instruction& call,
                   bool is_result, uint32_t index);

/// Like verify(), without the operand checks, which the parser has made already with better
/// positions.
Status verify_structure(const Module& module);

/// The symbol that an operand of kind symbol or address refers to.
const Symbol& symbol_of(const Module& module, const Function& function, const Operand& operand);

}  // namespace km::ptx
