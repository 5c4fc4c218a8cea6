#include "simt/analysis/memory/pointers.h"

#include <algorithm>
#include <bit>

namespace km::simt {

namespace {

using ptx::Opcode;
using ptx::Operand;

class Pointers {
 public:
  explicit Pointers(const Kernel& kernel)
      : kernel_(kernel), wanted_(kernel.values.size()), seen_(kernel.values.size()) {}

  std::vector<uint8_t> run() {
    for (const BasicBlock& block : kernel_.blocks) {
      for (const Inst& inst : block.insts) {
        const MemoryPlace place = memory_place(*inst.ptx);
        const bool is_register = place.size_bytes > 1 && place.operand->reg != ptx::kNone &&
                                 place.operand->symbol == ptx::kNone;
        if (!is_register || !std::has_single_bit(place.size_bytes)) continue;
        open_.push_back(inst.read(place.operand->reg));
        follow(static_cast<uint8_t>(std::countr_zero(place.size_bytes)));
      }
    }
    return std::move(wanted_);
  }

 private:
  /// Follows an address to the terms of its sum. A value that was visited for as many bits before
  /// is skipped.
  void follow(uint8_t bits) {
    while (!open_.empty()) {
      const ValueId value = open_.back();
      open_.pop_back();
      if (kernel_.values[value].block == kNone || seen_[value] >= bits) continue;
      seen_[value] = bits;
      if (const Phi* phi = kernel_.phi_of(value)) {
        open_.insert(open_.end(), phi->inputs.begin(), phi->inputs.end());
        continue;
      }
      const Inst* const inst = kernel_.instruction_of(value);
      if (inst == nullptr) continue;
      if (is_pointer(*inst)) wanted_[value] = std::max(wanted_[value], bits);
      add_terms(*inst);
    }
  }

  bool is_pointer(const Inst& inst) const {
    const auto& ptx = *inst.ptx;
    const Operand& source = ptx.operands[1];
    return ptx.opcode == Opcode::ld && inst.guard == kNone && inst.writes.size() == 1 &&
           ptx::is_integer(ptx.type()) && ptx::size_bits(ptx.type()) == 64 &&
           kernel_.function->is_entry && source.reg == ptx::kNone && kernel_.is_parameter(source);
  }

  void add_terms(const Inst& inst) {
    const auto& ptx = *inst.ptx;
    unsigned first = 1, last = 0;  // an empty range
    if (ptx.opcode == Opcode::mov || ptx.opcode == Opcode::cvta) last = 1;
    if (ptx.opcode == Opcode::add) last = 2;
    if (ptx.opcode == Opcode::mad) first = last = 3;
    for (unsigned i = first; i <= last && i < ptx.operand_count; ++i) {
      const Operand& term = ptx.operands[i];
      if (term.kind == Operand::Kind::reg && !term.negated) open_.push_back(inst.read(term.reg));
    }
  }

  const Kernel& kernel_;
  std::vector<uint8_t> wanted_, seen_;
  std::vector<ValueId> open_;
};

}  // namespace

std::vector<uint8_t> wanted_alignments(const Kernel& kernel) { return Pointers(kernel).run(); }

}  // namespace km::simt
