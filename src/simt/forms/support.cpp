#include "simt/forms/support.h"

#include <algorithm>

#include "ptx/checks/program_check.h"
#include "ptx/forms.h"
#include "simt/arithmetic/supported.h"
#include "simt/forms/image_form.h"
#include "simt/forms/tensor_copy_form.h"
#include "simt/forms/tensor_core_form.h"
#include "simt/forms/tensor_form.h"
#include "simt/forms/wgmma_form.h"

namespace km::simt {

namespace {

using ptx::Family;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

bool memory_is_supported(const Instruction& instruction) {
  if (instruction.has(Modifier::bulk) || instruction.has(Modifier::async)) return true;
  const Type type = instruction.type(instruction.type_count ? instruction.type_count - 1 : 0);
  const uint32_t bits = ptx::size_bits(type);
  return bits >= 8 && bits <= 128;
}

bool atomic_is_supported(const Instruction& instruction) {
  if (instruction.has(Modifier::async)) return true;
  const bool adds = instruction.has(Modifier::add);
  const bool swaps = instruction.has(Modifier::cas) || instruction.has(Modifier::exch);
  switch (instruction.type(0)) {
    case Type::b32:
    case Type::u32:
    case Type::s32:
    case Type::b64:
    case Type::u64:
    case Type::s64:
      return true;
    case Type::f32:
    case Type::f64:
      return adds || instruction.has(Modifier::exch);
    case Type::b16:
    case Type::b128:
      return swaps;
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2:
      return adds || instruction.has(Modifier::min) || instruction.has(Modifier::max);
    default:
      return false;
  }
}

bool copy_is_supported(const Instruction& instruction) {
  if (!instruction.has(Modifier::reduce)) return true;
  const bool orders = instruction.has(Modifier::min) || instruction.has(Modifier::max);
  switch (instruction.type()) {
    case Type::f16:
    case Type::bf16:
      return instruction.has(Modifier::add) || orders;
    case Type::f32:
    case Type::f64:
      return instruction.has(Modifier::add);
    default:
      return true;
  }
}

/// Up to sm_90, matrices have eight rows of 16 bytes.
bool matrix_is_supported(const Instruction& instruction) {
  return instruction.has(Modifier::m8n8) && instruction.type() == Type::b16;
}

bool call_is_supported(const ptx::Module& module, const Instruction& instruction) {
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const Operand& operand = instruction.operands[i];
    if (operand.kind != Operand::Kind::symbol || operand.local_symbol) continue;
    const std::string& name = module.symbols[operand.symbol].name;
    return ptx::is_runtime_function(name);
  }
  return false;
}

bool is_supported(const ptx::Module& module, const Instruction& instruction) {
  switch (ptx::family_of(instruction)) {
    case Family::move:
    case Family::address:
    case Family::mbarrier:
    case Family::barrier:
    case Family::fence:
    case Family::control:
    case Family::policy:
    case Family::hint:
    case Family::warp:
    case Family::cluster_launch:
      return true;
    case Family::load:
    case Family::store:
      return memory_is_supported(instruction);
    case Family::atomic:
      return atomic_is_supported(instruction);
    case Family::async_copy:
      return copy_is_supported(instruction);
    case Family::matrix:
      return arithmetic::tensor_is_supported(instruction);
    case Family::matrix_move:
      return matrix_is_supported(instruction);
    case Family::warpgroup:
      return arithmetic::wgmma_is_supported(instruction);
    case Family::tensor:
      return arithmetic::tensor_copy_is_supported(instruction);
    case Family::tensor_memory:
      return true;
    case Family::tensor_core:
      return arithmetic::tensor_core_is_supported(instruction);
    case Family::image:
      return arithmetic::image_form(instruction).has_value();
    case Family::call:
      return call_is_supported(module, instruction);
    default:
      return lowers_arithmetic(instruction);
  }
}

}  // namespace

Status check_supported(const ptx::Module& module, const ptx::Function& function) {
  for (const Instruction& instruction : function.code) {
    if (is_supported(module, instruction)) continue;
    return make_error(KM_ERROR_UNSUPPORTED_PTX,
                      "%s in '%s' is not supported by the cpu backend of this version",
                      describe(module, instruction).c_str(), function.name.c_str());
  }
  return {};
}

}  // namespace km::simt
