#include "simt/kernel/shared_memory.h"

#include <algorithm>
#include <initializer_list>

namespace km::simt {
namespace {

using ptx::Operand;
using ptx::SpecialRegister;

bool reads_any(const ptx::Function& function, std::initializer_list<SpecialRegister> list) {
  const auto is_listed = [&](const Operand& operand) {
    return operand.kind == Operand::Kind::special &&
           std::find(list.begin(), list.end(), operand.special) != list.end();
  };
  return std::any_of(function.code.begin(), function.code.end(),
                     [&](const ptx::Instruction& each) {
                       const auto* const first = each.operands.begin();
                       return std::any_of(first, first + each.operand_count, is_listed);
                     }) ||
         std::any_of(function.operand_pool.begin(), function.operand_pool.end(), is_listed);
}

}  // namespace

bool reserves_shared(const ptx::Function& function) {
  return reads_any(
      function,
      {SpecialRegister::reserved_smem_offset_begin, SpecialRegister::reserved_smem_offset_end,
       SpecialRegister::reserved_smem_offset_cap, SpecialRegister::reserved_smem_offset_0,
       SpecialRegister::reserved_smem_offset_1});
}

bool reads_shared_size(const ptx::Function& function) {
  return reads_any(function, {SpecialRegister::total_smem_size, SpecialRegister::aggr_smem_size});
}

}  // namespace km::simt
