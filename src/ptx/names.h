// Look-up tables between words of the PTX language and enumerators, in both directions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ptx/ir.h"

namespace km::ptx {

struct SpecialRegisterInfo {
  std::string_view name;
  Type type = Type::none;
  uint8_t components = 1;
  uint16_t min_sm = 0;
};

const SpecialRegisterInfo& info_of(SpecialRegister special);

std::optional<Type> find_type(std::string_view text);
std::optional<Modifier> find_modifier(std::string_view text);
std::optional<Opcode> find_opcode(std::string_view text);
std::optional<SpecialRegister> find_special_register(std::string_view text);  // "tid"

/// The modifiers whose text matches `glob`, in which one `*` matches digits.
std::vector<Modifier> find_modifiers(std::string_view glob);

/// ", did you mean 'x'?" with the most similar word; empty if none is similar.
std::string suggest_opcode(std::string_view word);
std::string suggest_directive(std::string_view word);
std::string suggest_special_register(std::string_view word);  // without %
std::string suggest_among(std::string_view word, const std::vector<std::string_view>& candidates,
                          std::string_view prefix);

/// The untyped type of a width: .b32 for 32 bits.
Type bits_type(uint32_t size_bits);

}  // namespace km::ptx
