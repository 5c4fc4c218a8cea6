// Properties of opcodes that the engine needs before lowering.
#include <algorithm>

#include "ptx/forms.h"
#include "ptx/place.h"
#include "simt/kernel/kernel.h"
#include "simt/kernel/warpgroup_rules.h"

namespace km::simt {

using ptx::Family;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;

bool writes_first_operand(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::st:
    case Opcode::red:
    case Opcode::bra:
    case Opcode::brx:
    case Opcode::ret:
    case Opcode::exit:
    case Opcode::trap:
    case Opcode::brkpt:
    case Opcode::membar:
    case Opcode::fence:
    case Opcode::prefetch:
    case Opcode::prefetchu:
    case Opcode::discard:
    case Opcode::applypriority:
    case Opcode::nanosleep:
    case Opcode::pmevent:
    case Opcode::call:
    case Opcode::cp:
    case Opcode::setmaxnreg:
    case Opcode::stmatrix:
    case Opcode::griddepcontrol:
    case Opcode::sust:
    case Opcode::sured:
    case Opcode::tensormap:
      return false;
    case Opcode::multimem:
      return instruction.has(Modifier::ld_reduce);
    case Opcode::clusterlaunchcontrol:
      return instruction.has(Modifier::query_cancel);
    case Opcode::wgmma:
      return instruction.has(Modifier::mma_async);
    case Opcode::tcgen05:
      return instruction.has(Modifier::ld);
    case Opcode::wmma:
      return !instruction.has(Modifier::store);
    case Opcode::bar:
    case Opcode::barrier:
      return instruction.has(Modifier::red);
    default:
      return true;
  }
}

bool writes_second_operand(const Instruction& instruction) {
  return instruction.opcode == Opcode::tcgen05 && instruction.has(Modifier::ld) &&
         instruction.has(Modifier::red);
}

bool updates_first_operand(const Instruction& instruction) {
  return instruction.opcode == Opcode::wgmma && instruction.has(Modifier::mma_async);
}

bool is_warpgroup_wait(const Instruction& instruction) {
  return instruction.opcode == Opcode::wgmma && instruction.has(Modifier::wait_group);
}

bool is_cluster_wait(const Instruction& instruction) {
  return instruction.opcode == Opcode::barrier && instruction.has(Modifier::cluster) &&
         instruction.has(Modifier::wait);
}

bool is_strong_access(const Instruction& instruction) {
  return instruction.has(Modifier::volatile_) || instruction.has(Modifier::relaxed) ||
         instruction.has(Modifier::acquire) || instruction.has(Modifier::release) ||
         instruction.has(Modifier::mmio);
}

bool is_shared_access(const Instruction& instruction) {
  const ptx::Family family = ptx::family_of(instruction);
  if (family == ptx::Family::atomic) return true;
  if (family != ptx::Family::load && family != ptx::Family::store) return false;
  return !instruction.has(Modifier::param) && !instruction.has(Modifier::param_entry) &&
         !instruction.has(Modifier::param_func) && !instruction.has(Modifier::const_) &&
         !instruction.has(Modifier::local);
}

/// barrier.cluster.arrive does not count: with one block per cluster, the wait alone is enough.
bool is_barrier(const Instruction& instruction) {
  if (is_warpgroup_wait(instruction)) return true;
  bool barrier = instruction.opcode == Opcode::bar || instruction.opcode == Opcode::barrier;
  if (barrier && instruction.has(Modifier::cluster)) return is_cluster_wait(instruction);
  return barrier && !instruction.has(Modifier::warp);
}

bool is_block_barrier(const Instruction& instruction) {
  if (!is_barrier(instruction) || instruction.has(Modifier::arrive)) return false;
  if (is_warpgroup_wait(instruction)) return false;
  if (is_cluster_wait(instruction)) return true;
  const bool reduces = instruction.has(Modifier::red);
  const unsigned first = reduces ? 1 : 0;
  const unsigned expected = first + 1 + (reduces ? 1 : 0);
  const ptx::Operand& id = instruction.operands[first];
  return id.kind == ptx::Operand::Kind::immediate && id.bits == 0 &&
         instruction.operand_count == expected;
}

bool meets_cluster(const ptx::Function& function) {
  return std::any_of(function.code.begin(), function.code.end(), [](const Instruction& one) {
    return is_cluster_wait(one) || one.opcode == Opcode::mapa ||
           one.has(Modifier::shared_cluster) || one.has(Modifier::multicast_cluster_all) ||
           (one.opcode == Opcode::tcgen05 &&
            (one.has(Modifier::cta_group_2) || one.has(Modifier::multicast_cluster)));
  });
}

MemoryPlace memory_place(const Instruction& instruction) {
  if (instruction.has(Modifier::bulk)) return {};
  unsigned address = 1, content = 0;
  switch (instruction.opcode) {
    case Opcode::ld:
    case Opcode::ldu:
      break;
    case Opcode::atom:
      content = 2;
      break;
    case Opcode::st:
    case Opcode::red:
      std::swap(address, content);
      break;
    default:
      return {};
  }
  const ptx::Operand& value = instruction.operands[content];
  const uint64_t count = value.kind == ptx::Operand::Kind::vector ? value.count : 1;
  const ptx::Type type = instruction.types[instruction.type_count - 1];
  return {&instruction.operands[address], count * ptx::size_bytes(type)};
}

bool Kernel::is_parameter(const ptx::Operand& operand) const {
  const auto& params = function->params;
  return operand.symbol != ptx::kNone && operand.local_symbol &&
         std::binary_search(params.begin(), params.end(), operand.symbol);  // sorted by symbol
}

bool Kernel::loads_parameter(const Inst& inst) const {
  return inst.ptx->opcode == Opcode::ld && inst.reads.empty() &&
         is_parameter(inst.ptx->operands[1]);
}

bool is_word_conversion(const ptx::Instruction& instruction) {
  const auto is_word = [](ptx::Type type) {
    return ptx::is_integer(type) && ptx::size_bits(type) >= 32;
  };
  return instruction.opcode == ptx::Opcode::cvt && !instruction.has(ptx::Modifier::sat) &&
         is_word(instruction.types[0]) && is_word(instruction.types[1]);
}

namespace {

bool is_matrix_operation(const Instruction& instruction) {
  const Family family = ptx::family_of(instruction);
  return family == Family::matrix || family == Family::matrix_move || family == Family::warpgroup ||
         family == Family::tensor_memory;
}

}  // namespace

bool is_warp_operation(const Instruction& instruction) {
  if (is_warpgroup_wait(instruction)) return false;
  switch (ptx::family_of(instruction)) {
    case Family::warp:
      return true;
    case Family::barrier:
      return instruction.has(Modifier::warp);
    default:
      return is_matrix_operation(instruction);
  }
}

bool is_warp_sync(const Instruction& instruction) {
  if (ptx::family_of(instruction) == Family::barrier) return instruction.has(Modifier::warp);
  return is_warp_operation(instruction) && instruction.has(Modifier::sync);
}

bool has_member_mask(const Instruction& instruction) {
  return is_warp_sync(instruction) && !is_matrix_operation(instruction);
}

bool has_effects(const Instruction& instruction) {
  if (instruction.opcode == Opcode::div || instruction.opcode == Opcode::rem) return true;
  switch (ptx::family_of(instruction)) {
    case Family::load:
    case Family::atomic:
    case Family::call:
    case Family::barrier:
    case Family::warpgroup:
    case Family::multimem:
    case Family::tensor_core:
      return true;
    case Family::image:
      return instruction.opcode != Opcode::istypep;
    case Family::mbarrier:
      return !instruction.has(Modifier::pending_count);
    default:
      return is_warp_operation(instruction) || !writes_first_operand(instruction);
  }
}

bool changes_memory(const Instruction& instruction) {
  if (is_warp_operation(instruction)) {
    return instruction.opcode == Opcode::stmatrix || instruction.opcode == Opcode::wmma ||
           instruction.opcode == Opcode::tcgen05;
  }
  switch (instruction.opcode) {
    case Opcode::ld:
    case Opcode::ldu:
    case Opcode::div:
    case Opcode::rem:
    case Opcode::membar:
    case Opcode::fence:
    case Opcode::prefetch:
    case Opcode::prefetchu:
    case Opcode::nanosleep:
    case Opcode::pmevent:
    case Opcode::bra:
    case Opcode::ret:
    case Opcode::exit:
      return false;
    case Opcode::sust:
    case Opcode::sured:
      return true;
    default:
      return ptx::family_of(instruction) != Family::image && has_effects(instruction);
  }
}

bool reads_constants(const Instruction& instruction) {
  return instruction.opcode == Opcode::ldu || instruction.has(Modifier::nc);
}

bool orders_nothing(const Instruction& instruction) {
  if (is_warp_operation(instruction)) return !is_matrix_operation(instruction);
  switch (instruction.opcode) {
    case Opcode::div:
    case Opcode::rem:
    case Opcode::bra:
    case Opcode::brx:
    case Opcode::ret:
    case Opcode::exit:
    case Opcode::trap:
    case Opcode::bar:
      return true;
    case Opcode::barrier:
      return !instruction.has(Modifier::cluster);
    default:
      return !has_effects(instruction);
  }
}

std::string describe(const ptx::Module& module, const Instruction& instruction) {
  std::string text = ptx::text_place(module.name, instruction.location) + ": '";
  text += ptx::text_of(instruction.opcode);
  for (Modifier modifier : instruction.modifiers) {
    text += '.';
    text += ptx::text_of(modifier);
  }
  for (unsigned i = 0; i < instruction.type_count; ++i) {
    text += '.';
    text += ptx::text_of(instruction.types[i]);
  }
  return text + "'";
}

}  // namespace km::simt
