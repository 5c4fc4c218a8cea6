// Finds the possible forms of a written mnemonic ("ld.global.nc.v4.f32").
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
    std::vector<Modifier> modifiers;  // sorted in the order of the form's syntax
  };
  std::string_view text;  // a view of the caller's text, which must outlive the mnemonic
  Opcode opcode{};
  bool is_generic = false;  // accesses memory without naming a state space
  std::array<Type, kMaxTypes> types{};
  uint8_t type_count = 0;
  std::array<uint64_t, 10> modifier_bits{};
  std::vector<Candidate> candidates;  // never empty

  // The reason why the mnemonic is invalid, and its offset in the text.
  std::string error;
  size_t error_offset = 0;

  bool has(Modifier modifier) const {
    const auto bit = static_cast<uint32_t>(modifier);
    return (modifier_bits[bit / 64] >> (bit % 64) & 1) != 0;
  }
};

/// Reads a mnemonic. On failure `error` has the word found and the words expected.
Mnemonic read_mnemonic(std::string_view text);

}  // namespace km::ptx
