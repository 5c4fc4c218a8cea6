#include "simt/forms/support.h"

#include <algorithm>

#include "ptx/program_check.h"
#include "simt/arithmetic/arithmetic.h"
#include "simt/forms/image_form.h"
#include "simt/forms/tensor_form.h"

namespace km::simt {

namespace {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

bool memory_is_supported(const Instruction& instruction) {
  if (instruction.has(Modifier::bulk)) return false;
  if (instruction.has(Modifier::async)) {
    return instruction.has(Modifier::mbarrier_complete_tx_bytes);
  }
  const Type type = instruction.type(instruction.type_count ? instruction.type_count - 1 : 0);
  const uint32_t bits = ptx::size_bits(type);
  return bits >= 8 && bits <= 128;
}

bool atomic_is_supported(const Instruction& instruction) {
  if (instruction.has(Modifier::async)) {
    return instruction.has(Modifier::mbarrier_complete_tx_bytes);
  }
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
  for (Modifier m : {Modifier::tensor, Modifier::cp_mask}) {
    if (instruction.has(m)) return false;
  }
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

/// Eight rows of 16 bytes: what there is up to sm_90.
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
  switch (instruction.opcode) {
    case Opcode::bra:
    case Opcode::brx:
    case Opcode::ret:
    case Opcode::exit:
    case Opcode::trap:
    case Opcode::activemask:
    case Opcode::elect:
    case Opcode::vote:
    case Opcode::membar:
    case Opcode::nanosleep:
    case Opcode::prefetch:
    case Opcode::prefetchu:
    case Opcode::discard:
    case Opcode::applypriority:
    case Opcode::pmevent:
    case Opcode::isspacep:
    case Opcode::fence:
    case Opcode::mbarrier:
    case Opcode::mapa:
    case Opcode::getctarank:
    case Opcode::createpolicy:
    case Opcode::griddepcontrol:
    case Opcode::brkpt:
    case Opcode::setmaxnreg:
    case Opcode::mov:
    case Opcode::cvta:
    case Opcode::bar:
    case Opcode::barrier:
      return true;
    case Opcode::cp:
      return copy_is_supported(instruction);
    case Opcode::mma:
    case Opcode::wmma:
      return arithmetic::tensor_is_supported(instruction);
    case Opcode::ldmatrix:
    case Opcode::stmatrix:
    case Opcode::movmatrix:
      return matrix_is_supported(instruction);
    case Opcode::ld:
    case Opcode::ldu:
    case Opcode::st:
      return memory_is_supported(instruction);
    case Opcode::atom:
    case Opcode::red:
      return atomic_is_supported(instruction);
    case Opcode::shfl:
    case Opcode::match:
      return true;
    case Opcode::tex:
    case Opcode::tld4:
    case Opcode::txq:
    case Opcode::suld:
    case Opcode::sust:
    case Opcode::sured:
    case Opcode::suq:
    case Opcode::istypep:
      return arithmetic::image_form(instruction).has_value();
    case Opcode::redux:
      return !ptx::is_float(instruction.type());
    case Opcode::call:
      return call_is_supported(module, instruction);
    default:
      return Arithmetic::supports(instruction);
  }
}

/// True for instructions that programs use on devices of compute capability 9.0, and that CPU
/// devices lack.
bool is_of_newer_device(const Instruction& instruction) {
  return instruction.opcode == Opcode::wgmma || instruction.opcode == Opcode::tensormap ||
         (instruction.opcode == Opcode::cp && instruction.has(Modifier::tensor));
}

constexpr const char* kNewerDeviceText =
    "; CPU devices report compute capability 8.9, for which programs have kernels without it, "
    "unless KM_CPU_CC raises it: compile for compute_89";

}  // namespace

Status check_supported(const ptx::Module& module, const ptx::Function& function) {
  for (const Instruction& instruction : function.code) {
    if (is_supported(module, instruction)) continue;
    return make_error(KM_ERROR_UNSUPPORTED_PTX,
                      "%s in '%s' is not supported by the cpu backend of this version%s",
                      describe(module, instruction).c_str(), function.name.c_str(),
                      is_of_newer_device(instruction) ? kNewerDeviceText : "");
  }
  return {};
}

}  // namespace km::simt
