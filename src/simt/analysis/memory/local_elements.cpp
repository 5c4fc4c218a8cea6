#include "simt/analysis/memory/local_elements.h"

#include <algorithm>
#include <vector>

#include "simt/analysis/memory/memory_access.h"

namespace km::simt {

namespace {

using ptx::Opcode;
using ptx::Operand;
using ptx::Space;

constexpr uint64_t kMostElementBytes = 8;

/// Follows the addresses of local memory through a kernel.
class LocalElements {
 public:
  explicit LocalElements(const Kernel& kernel)
      : kernel_(kernel), is_address_(kernel.values.size()) {}

  uint64_t run() {
    do {
      has_changed_ = is_unknown_ = false;
      for (const BasicBlock& block : kernel_.blocks) {
        for (const Phi& phi : block.phis) visit(phi);
        for (const Inst& inst : block.insts) visit(inst);
      }
    } while (has_changed_ && !is_refused_);
    return is_refused_ || is_unknown_ ? 0 : element_bytes_;
  }

 private:
  bool names_local(const Operand& operand) const {
    if (operand.symbol == ptx::kNone) return false;
    const ptx::Symbol& symbol = kernel_.symbol_of(operand);
    return !symbol.is_function && symbol.space == Space::local;
  }

  bool is_address(const Inst& inst, const Operand& operand) const {
    if (names_local(operand)) return true;
    return std::any_of(inst.reads.begin(), inst.reads.end(), [&](const auto& read) {
      return read.first == operand.reg && is_address_[read.second];
    });
  }

  /// True if an operand, or an element of it, is an address in local memory.
  bool holds_address(const Inst& inst, const Operand& operand) const {
    if (is_address(inst, operand)) return true;
    for (uint32_t i = 0; i < operand.count; ++i) {
      if (is_address(inst, kernel_.function->operand_pool[operand.first + i])) return true;
    }
    return false;
  }

  void mark(ValueId value) {
    has_changed_ = has_changed_ || !is_address_[value];
    is_address_[value] = true;
  }

  void visit(const Phi& phi) {
    const auto& inputs = phi.inputs;
    if (std::any_of(inputs.begin(), inputs.end(), [&](ValueId v) { return is_address_[v]; })) {
      mark(phi.result);
    }
  }

  void visit(const Inst& inst) {
    const auto access = memory_access(kernel_, inst);
    const bool is_plain = inst.ptx->opcode == Opcode::ld || inst.ptx->opcode == Opcode::st;
    if (access && is_plain && access->space == Space::local) return visit(inst, *access);
    const auto& olds = inst.old_values;
    bool uses = std::any_of(olds.begin(), olds.end(), [&](ValueId v) { return is_address_[v]; });
    for (unsigned i = 0; i < inst.ptx->operand_count && !uses; ++i) {
      uses = holds_address(inst, inst.ptx->operands[i]);
    }
    if (!uses || inst.ptx->opcode == Opcode::setp) return;
    is_refused_ = is_refused_ || !is_sum(inst);
    for (const auto& [reg, value] : inst.writes) mark(value);
  }

  void visit(const Inst& inst, const MemoryAccess& access) {
    const auto& ptx = *inst.ptx;
    const uint64_t size_bytes = ptx::size_bytes(ptx.types[ptx.type_count - 1]);
    if (element_bytes_ == 0) element_bytes_ = size_bytes;
    const bool stores_address = ptx.opcode == Opcode::st && holds_address(inst, ptx.operands[1]);
    if (size_bytes != element_bytes_ || size_bytes > kMostElementBytes || stores_address) {
      is_refused_ = true;
    }
    is_unknown_ = is_unknown_ || !is_address(inst, *access.place);
  }

  /// True if the result is an address in local memory as far from the thread's begin as the
  /// operand, plus what the instruction adds.
  bool is_sum(const Inst& inst) const {
    const auto& ptx = *inst.ptx;
    if (ptx.type_count == 0 || ptx::size_bits(ptx.type()) != 64) return false;
    switch (ptx.opcode) {
      case Opcode::mov:
        return ptx.operands[0].kind == Operand::Kind::reg &&
               (ptx.operands[1].kind == Operand::Kind::reg || names_local(ptx.operands[1]));
      case Opcode::add:
        return !both_are_addresses(inst);
      case Opcode::sub:
        return !is_address(inst, ptx.operands[2]);
      case Opcode::selp:
        return true;
      case Opcode::cvta:
        return ptx.has(ptx::Modifier::local) && ptx.has(ptx::Modifier::to);
      default:
        return false;
    }
  }

  bool both_are_addresses(const Inst& inst) const {
    return is_address(inst, inst.ptx->operands[1]) && is_address(inst, inst.ptx->operands[2]);
  }

  const Kernel& kernel_;
  std::vector<bool> is_address_;
  uint64_t element_bytes_ = 0;
  bool has_changed_ = false;  // a pass has found addresses that were not known before
  bool is_refused_ = false;   // something else is done with an address than an access
  bool is_unknown_ = false;   // an access is at an address that comes from elsewhere, so far
};

}  // namespace

uint64_t local_element_bytes(const Kernel& kernel) { return LocalElements(kernel).run(); }

}  // namespace km::simt
