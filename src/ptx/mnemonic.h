// From the written mnemonic ("ld.global.nc.v4.f32") to the forms it may mean.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/forms.h"

namespace km::ptx {

struct Mnemonic {
  struct Candidate {
    uint16_t form = 0;
    std::vector<Modifier> modifiers;  // in the order of the form's syntax
  };
  std::string_view text;  // as written; whoever keeps the mnemonic keeps the text, too
  Opcode opcode{};
  bool is_generic = false;  // accesses memory without naming a state space
  std::array<Type, kMaxTypes> types{};
  uint8_t type_count = 0;
  std::array<uint64_t, 8> modifier_bits{};
  std::vector<Candidate> candidates;  // at least one

  // The reason why the text means nothing, and the offset in it.
  std::string error;
  size_t error_offset = 0;

  bool has(Modifier modifier) const {
    const auto bit = static_cast<uint32_t>(modifier);
    return (modifier_bits[bit / 64] >> (bit % 64) & 1) != 0;
  }
};

/// Reads a mnemonic. On failure `error` says what was found and what was expected.
Mnemonic read_mnemonic(std::string_view text);

}  // namespace km::ptx
