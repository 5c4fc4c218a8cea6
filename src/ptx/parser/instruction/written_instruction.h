// Details of an instruction's text that its typed form does not hold.
#pragma once

#include <array>

#include "ptx/forms.h"
#include "ptx/mnemonic.h"
#include "ptx/parser/lexer.h"

namespace km::ptx {

/// The written form of one operand.
struct OperandNote {
  bool is_sum = false;           // %r+1, which cannot be a result
  bool is_element = false;       // name[index]: an address without brackets
  Space space = Space::generic;  // state space of an array element with its address in a register
};

/// The current instruction: its mnemonic, and the position of each operand.
struct WrittenInstruction {
  Token mnemonic_token;
  const Mnemonic* mnemonic = nullptr;
  std::array<Token, kMaxOperands> operand_tokens;
  std::array<OperandNote, kMaxOperands> notes;
  unsigned current_operand = 0;  // index of the operand that is parsed or rewritten
  bool has_unified_address = false;

  /// The note on the current operand.
  OperandNote& note() { return notes[current_operand]; }
};

}  // namespace km::ptx
