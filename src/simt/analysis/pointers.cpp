#include "simt/analysis/pointers.h"

#include <algorithm>
#include <bit>

namespace km::simt {

namespace {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;

struct Place {
  const Operand* operand = nullptr;
  uint64_t size_bytes = 0;
};

Place place_of(const ptx::Instruction& ptx) {
  unsigned address = 1, content = 0;
  if (ptx.opcode == Opcode::st || ptx.opcode == Opcode::red) std::swap(address, content);
  const bool is_access = ptx.opcode == Opcode::ld || ptx.opcode == Opcode::ldu ||
                         ptx.opcode == Opcode::st || ptx.opcode == Opcode::atom ||
                         ptx.opcode == Opcode::red;
  if (!is_access || ptx.type_count == 0) return {};
  if (ptx.opcode == Opcode::atom) content = 2;
  const Operand& value = ptx.operands[content];
  const uint64_t count = value.kind == Operand::Kind::vector ? value.count : 1;
  return {&ptx.operands[address], count * ptx::size_bytes(ptx.types[ptx.type_count - 1])};
}

class Pointers {
 public:
  explicit Pointers(const Kernel& kernel)
      : kernel_(kernel), wanted_(kernel.values.size()), seen_(kernel.values.size()) {}

  std::vector<uint8_t> run() {
    for (const Block& block : kernel_.blocks) {
      for (const Inst& inst : block.insts) {
        const Place place = place_of(*inst.ptx);
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
  /// From an address to the terms it is the sum of. What has been asked for as many bits before
  /// needs no second look.
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
      const auto& home = kernel_.values[value];
      if (home.instruction == kNone) continue;
      const Inst& inst = kernel_.blocks[home.block].insts[home.instruction];
      if (is_parameter(inst)) wanted_[value] = std::max(wanted_[value], bits);
      add_terms(inst);
    }
  }

  bool is_parameter(const Inst& inst) const {
    const auto& ptx = *inst.ptx;
    const Operand& source = ptx.operands[1];
    const auto& params = kernel_.function->params;
    return ptx.opcode == Opcode::ld && inst.guard == kNone && inst.writes.size() == 1 &&
           ptx::is_integer(ptx.type()) && ptx::size_bits(ptx.type()) == 64 &&
           kernel_.function->is_entry && source.local_symbol && source.reg == ptx::kNone &&
           source.symbol != ptx::kNone &&
           std::count(params.begin(), params.end(), source.symbol) != 0;
  }

  void add_terms(const Inst& inst) {
    const auto& ptx = *inst.ptx;
    unsigned first = 1, last = 0;  // none
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
