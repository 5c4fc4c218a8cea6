// WrittenInstruction: the text of an instruction, as far as its typed form does not hold it.
#pragma once

#include <array>

#include "ptx/forms.h"
#include "ptx/mnemonic.h"
#include "ptx/parser/lexer.h"

namespace km::ptx {

/// OperandNote tells how an operand was written.
struct OperandNote {
  bool is_sum = false;           // %r+1: no place for a result
  bool is_element = false;       // name[index]: an address without brackets
  Space space = Space::generic;  // of an element whose address is in a register
};

/// WrittenInstruction is the instruction being read: its mnemonic, and the place of each operand.
struct WrittenInstruction {
  Token mnemonic_token;
  const Mnemonic* mnemonic = nullptr;
  std::array<Token, kMaxOperands> operand_tokens;
  std::array<OperandNote, kMaxOperands> notes;
  unsigned current_operand = 0;  // the one being read or rewritten
  bool has_unified_address = false;

  /// note() is the note on the current operand.
  OperandNote& note() { return notes[current_operand]; }
};

}  // namespace km::ptx
