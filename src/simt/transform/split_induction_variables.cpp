#include "simt/transform/split_induction_variables.h"

#include <algorithm>
#include <optional>

#include "simt/transform/make_instruction.h"

namespace km::simt {

namespace {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::RegisterId;

/// An induction variable: `address = phi(first, next)` with `next = address + step`.
struct Moving {
  BlockId header;
  // Index of the phi in the header; index of the back edge among its predecessors.
  size_t phi, latch;
  ValueId address, first, next;
};

bool is_register(const Operand& operand) {
  return operand.kind == Operand::Kind::reg && !operand.negated;
}

class StepParter {
 public:
  StepParter(Kernel& kernel, ptx::Function& function)
      : kernel_(kernel),
        function_(function),
        loops_(find_loops(kernel.graph(), DominatorTree(kernel.graph(), 0))) {}

  void run() {
    for (uint32_t loop = 0; loop < loops_.loops.size(); ++loop) {
      if (!kernel_.has_barrier(loops_.loops[loop].nodes)) continue;
      const BasicBlock& header = kernel_.blocks[loops_.loops[loop].header];
      for (size_t phi = 0; phi < header.phis.size(); ++phi) {
        if (const auto moving = find_moving(loop, phi)) part(*moving);
      }
    }
  }

 private:
  bool is_made_in(uint32_t loop, ValueId value) const {
    const BlockId block = kernel_.values[value].block;
    return block != kNone && loops_.contains(loop, block);
  }

  std::optional<Moving> find_moving(uint32_t loop, size_t phi_index) const {
    const BlockId header = loops_.loops[loop].header;
    const BasicBlock& block = kernel_.blocks[header];
    const Phi& phi = block.phis[phi_index];
    const ptx::Type type = kernel_.values[phi.result].type;
    if (block.preds.size() != 2 || ptx::is_float(type) || ptx::size_bits(type) != 64) return {};
    const size_t latch = loops_.contains(loop, block.preds[0]) ? 0 : 1;
    if (loops_.contains(loop, block.preds[1 - latch])) return {};
    const Moving moving{header,           phi_index, latch, phi.result, phi.inputs[1 - latch],
                        phi.inputs[latch]};
    const Inst* const step = kernel_.instruction_of(moving.next);
    if (step == nullptr || !is_made_in(loop, moving.next) || !is_step(*step, moving.address, loop))
      return {};
    if (is_same_for_all(moving.first, kDepth) || !is_used_well(moving, loop)) return {};
    return moving;
  }

  /// True if the instruction adds a value that is uniform over all threads and iterations to
  /// `address`.
  bool is_step(const Inst& inst, ValueId address, uint32_t loop) const {
    const auto& ptx = *inst.ptx;
    const bool plain = ptx.opcode == Opcode::add && ptx::is_integer(ptx.type()) &&
                       ptx::size_bits(ptx.type()) == 64 && !ptx.has(Modifier::cc) &&
                       inst.guard == kNone && inst.writes.size() == 1;
    if (!plain) return false;
    const auto *a = &ptx.operands[1], *b = &ptx.operands[2];
    if (!is_register(*a)) std::swap(a, b);
    if (!is_register(*a)) return false;
    if (b->kind == Operand::Kind::immediate) return inst.read(a->reg) == address;
    if (!is_register(*b)) return false;
    if (inst.read(a->reg) != address) std::swap(a, b);
    const ValueId step = inst.read(b->reg);
    return inst.read(a->reg) == address && step != address && !is_made_in(loop, step) &&
           is_same_for_all(step, kDepth);
  }

  /// True if the value is computed from values that are the same for all threads. Shapes are not
  /// used, since they are those of one block size.
  bool is_same_for_all(ValueId value, unsigned depth) const {
    if (kernel_.values[value].block == kNone) return true;
    const Inst* const inst = kernel_.instruction_of(value);
    if (inst == nullptr || inst->guard != kNone || depth == 0) return false;
    const auto& ptx = *inst->ptx;
    if (ptx.opcode == Opcode::ld) return kernel_.loads_parameter(*inst);
    if (!is_arithmetic(ptx.opcode)) return false;
    for (unsigned i = 1; i < ptx.operand_count; ++i) {
      if (!is_same_for_all(ptx.operands[i])) return false;
    }
    return std::all_of(inst->reads.begin(), inst->reads.end(),
                       [&](const auto& read) { return is_same_for_all(read.second, depth - 1); });
  }

  static bool is_arithmetic(Opcode opcode) {
    switch (opcode) {
      case Opcode::mov:
      case Opcode::cvt:
      case Opcode::cvta:
      case Opcode::add:
      case Opcode::sub:
      case Opcode::mul:
      case Opcode::mad:
      case Opcode::shl:
      case Opcode::shr:
        return true;
      default:
        return false;
    }
  }

  /// Operands that are registers are checked by their values.
  static bool is_same_for_all(const Operand& operand) {
    if (operand.kind == Operand::Kind::special) {
      return operand.special == ptx::SpecialRegister::ntid ||
             operand.special == ptx::SpecialRegister::ctaid ||
             operand.special == ptx::SpecialRegister::nctaid;
    }
    return operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::immediate;
  }

  /// True if only the loop uses the address, and its next value is used only at its definition or
  /// through the phi.
  bool is_used_well(const Moving& moving, uint32_t loop) const {
    const BlockId home = kernel_.values[moving.next].block;
    for (BlockId b = 0; b < kernel_.blocks.size(); ++b) {
      if (!loops_.contains(loop, b) && is_used(moving, moving.address, b)) return false;
      if (b != home && is_used(moving, moving.next, b)) return false;
    }
    return true;
  }

  /// True if the block's instructions read the value, or a phi of it other than the address.
  bool is_used(const Moving& moving, ValueId value, BlockId block) const {
    bool used = false;
    visit_uses(kernel_, moving, block, [&](const ValueId& use) { used |= use == value; });
    return used;
  }

  template <class AnyKernel, class Visit>
  static void visit_uses(AnyKernel& kernel, const Moving& moving, BlockId block, Visit visit) {
    for (auto& inst : kernel.blocks[block].insts) {
      for (auto& read : inst.reads) visit(read.second);
      for (auto& old : inst.old_values) visit(old);
    }
    for (const BlockId succ : kernel.blocks[block].succs) {
      auto& behind = kernel.blocks[succ];
      for (auto& phi : behind.phis) {
        if (phi.result == moving.address) continue;
        for (size_t i = 0; i < behind.preds.size(); ++i) {
          if (behind.preds[i] == block) visit(phi.inputs[i]);
        }
      }
    }
  }

  void part(const Moving& moving) {
    const ptx::Type type = kernel_.values[moving.address].type;
    const auto reg = static_cast<RegisterId>(function_.registers.size());
    function_.registers.push_back({"%step" + std::to_string(reg), type});
    const BlockId home = kernel_.values[moving.next].block;
    // An undefined register reads as 0.
    const ValueId none = add_value({type, reg, kNone, kNone, kNone});
    const auto phi_index = static_cast<uint32_t>(moving.phi);
    const ValueId distance = add_value({type, reg, moving.header, kNone, phi_index});
    const ValueId moved = add_value({type, reg, home, 0, kNone});
    const ptx::Instruction& like = *kernel_.instruction_of(moving.next)->ptx;
    count_steps(moving, distance, moved);
    add_sums(moving, distance, like);
    Phi& phi = kernel_.blocks[moving.header].phis[moving.phi];
    phi.result = distance;
    phi.inputs[moving.latch] = moved;
    phi.inputs[1 - moving.latch] = none;
    forget(moving.address);
    renumber();
  }

  ValueId add_value(const Value& value) {
    kernel_.values.push_back(value);
    return static_cast<ValueId>(kernel_.values.size() - 1);
  }
  void forget(ValueId value) {
    Value& forgotten = kernel_.values[value];
    forgotten.block = forgotten.instruction = forgotten.phi = kNone;
  }

  /// Adds the step to the distance; also to the address, but only in blocks that read it.
  void count_steps(const Moving& moving, ValueId distance, ValueId moved) {
    const BlockId home = kernel_.values[moving.next].block;
    const uint32_t index = kernel_.values[moving.next].instruction;
    auto& insts = kernel_.blocks[home].insts;
    Inst step = insts[index];
    for (auto& read : step.reads) {
      if (read.second == moving.address) read.second = distance;
    }
    step.writes[0].second = moved;
    if (is_used(moving, moving.next, home)) {
      insts.insert(insts.begin() + index, std::move(step));
    } else {
      insts[index] = std::move(step);
      forget(moving.next);
    }
  }

  /// Adds the distance to the address at the start of every block that reads it.
  void add_sums(const Moving& moving, ValueId distance, const ptx::Instruction& like) {
    const Value address = kernel_.values[moving.address];
    const RegisterId by = kernel_.values[distance].reg;
    const Operand first = register_operand(address.reg);
    auto add = make_instruction("add.u64", {first, first, register_operand(by)}, like);
    kernel_.synthesized.push_back(std::make_shared<const ptx::Instruction>(std::move(add)));
    for (BlockId b = 0; b < kernel_.blocks.size(); ++b) {
      if (!is_used(moving, moving.address, b)) continue;
      const ValueId here = add_value({address.type, address.reg, b, 0, kNone});
      visit_uses(kernel_, moving, b, [&](ValueId& use) {
        if (use == moving.address) use = here;
      });
      Inst sum;
      sum.ptx = kernel_.synthesized.back().get();
      sum.reads = {{address.reg, moving.first}, {by, distance}};
      sum.writes = {{address.reg, here}};
      auto& insts = kernel_.blocks[b].insts;
      insts.insert(insts.begin(), std::move(sum));
    }
  }

  void renumber() {
    for (BasicBlock& block : kernel_.blocks) {
      for (uint32_t i = 0; i < block.insts.size(); ++i) {
        for (const auto& write : block.insts[i].writes) {
          kernel_.values[write.second].instruction = i;
        }
      }
    }
  }

  static constexpr unsigned kDepth = 8;  // maximum depth of the expression of a step

  Kernel& kernel_;
  ptx::Function& function_;
  const LoopForest loops_;
};

}  // namespace

void split_induction_variables(Kernel& kernel, ptx::Function& function) {
  if (kernel.has_barrier() && kernel.irreducible == nullptr) StepParter(kernel, function).run();
}

}  // namespace km::simt
