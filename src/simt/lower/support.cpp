#include "simt/lower/support.h"

#include <algorithm>

#include "simt/lower/arithmetic.h"

namespace km::simt {

namespace {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

bool plain_width(Type type) {
  const uint32_t bits = ptx::size_bits(type);
  return bits >= 8 && bits <= 64;
}

bool memory_is_supported(const Instruction& instruction) {
  for (Modifier m : {Modifier::async, Modifier::bulk, Modifier::mbarrier}) {
    if (instruction.has(m)) return false;
  }
  return plain_width(instruction.type(instruction.type_count ? instruction.type_count - 1 : 0)) &&
         !instruction.has(Modifier::v8);
}

bool atomic_is_supported(const Instruction& instruction) {
  if (instruction.has(Modifier::async) || instruction.has(Modifier::v2) ||
      instruction.has(Modifier::v4) || instruction.has(Modifier::v8)) {
    return false;
  }
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
      return instruction.has(Modifier::add) || instruction.has(Modifier::exch);
    case Type::b16:
      return instruction.has(Modifier::cas) || instruction.has(Modifier::exch);
    default:
      return false;
  }
}

bool call_is_supported(const ptx::Module& module, const Instruction& instruction) {
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const Operand& operand = instruction.operands[i];
    if (operand.kind != Operand::Kind::symbol || operand.local_symbol) continue;
    const std::string& name = module.symbols[operand.symbol].name;
    return name == "vprintf" || name == "__assertfail";
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
      return true;
    case Opcode::fence:
      return !instruction.has(Modifier::proxy);
    case Opcode::mov:
      return ptx::size_bits(instruction.type()) <= 64;
    case Opcode::cvta:
      return !instruction.has(Modifier::param) && !instruction.has(Modifier::param_entry);
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
    case Opcode::redux:
      return !ptx::is_float(instruction.type());
    case Opcode::bar:
    case Opcode::barrier:
      return !instruction.has(Modifier::cluster);
    case Opcode::call:
      return call_is_supported(module, instruction);
    default:
      return Arithmetic::supports(instruction);
  }
}

}  // namespace

Status check_supported(const ptx::Module& module, const ptx::Function& function) {
  for (const ptx::Symbol& symbol : function.symbols) {
    const bool storage = symbol.space == ptx::Space::global || symbol.space == ptx::Space::constant;
    if (!storage || symbol.is_function) continue;
    return make_error(KM_ERROR_UNSUPPORTED_PTX,
                      "%s:%u:%u: variable '%s' in '%s': the cpu backend of this version has "
                      ".global and .const variables at module scope only",
                      module.name.c_str(), symbol.location.line, symbol.location.column,
                      symbol.name.c_str(), function.name.c_str());
  }
  for (const Instruction& instruction : function.code) {
    if (is_supported(module, instruction)) continue;
    return make_error(KM_ERROR_UNSUPPORTED_PTX,
                      "%s in '%s' is not supported by the cpu backend of this version",
                      describe(module, instruction).c_str(), function.name.c_str());
  }
  return {};
}

}  // namespace km::simt
