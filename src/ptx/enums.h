// The enumerations of ir.h that the preprocessor generates from the tables, so that an enumerator
// exists exactly if its table has a row for it.
#pragma once

#include "ptx/ir.h"

namespace km::ptx {

enum class Opcode : uint16_t {
#define KM_PTX_OPCODE(name, text) name,
#include "ptx/opcodes.def"
#undef KM_PTX_OPCODE
};

enum class Modifier : uint16_t {
#define KM_PTX_MODIFIER(name, text) name,
#include "ptx/modifiers.def"
#undef KM_PTX_MODIFIER
};

enum class SpecialRegister : uint8_t {
#define KM_PTX_SPECIAL_REGISTER(name, type, components, min_sm) name,
#include "ptx/special_registers.def"
#undef KM_PTX_SPECIAL_REGISTER
};

namespace count {
#define KM_PTX_OPCODE(name, text) +1
constexpr unsigned kOpcodes = 0
#include "ptx/opcodes.def"
    ;
#undef KM_PTX_OPCODE
#define KM_PTX_MODIFIER(name, text) +1
constexpr unsigned kModifiers = 0
#include "ptx/modifiers.def"
    ;
#undef KM_PTX_MODIFIER
#define KM_PTX_SPECIAL_REGISTER(name, type, components, min_sm) +1
constexpr unsigned kSpecialRegisters = 0
#include "ptx/special_registers.def"
    ;
#undef KM_PTX_SPECIAL_REGISTER
}  // namespace count

static_assert(count::kModifiers <= 640, "Instruction::modifier_bits holds 640");

}  // namespace km::ptx
