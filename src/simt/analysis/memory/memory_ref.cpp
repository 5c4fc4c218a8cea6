#include "simt/analysis/memory/memory_ref.h"

#include <optional>

#include "ptx/forms.h"

namespace km::simt {

namespace {

using ptx::Opcode;
using ptx::Operand;
using ptx::Space;

constexpr unsigned kMostSteps = 24;  // limit of steps from an address to its root
// All names of dynamic shared memory mean the same place.
constexpr uint32_t kDynamicShared = kNone - 1;

class RootFinder {
 public:
  explicit RootFinder(const Kernel& kernel) : kernel_(kernel) {}

  void follow(ValueId value, MemoryRef& ref) {
    for (; left_ > 0; --left_) {
      const Inst* const inst = kernel_.instruction_of(value);
      if (inst == nullptr || inst->guard != kNone || inst->writes.size() != 1) break;
      const std::optional<ValueId> next = step(*inst, ref);
      if (ref.root == MemoryRef::Root::symbol) return;
      if (!next) break;
      value = *next;
    }
    ref.root = MemoryRef::Root::value;
    ref.id = value;
  }

  void take_symbol(const Operand& operand, MemoryRef& ref) const {
    const ptx::Symbol& symbol = kernel_.symbol_of(operand);
    const bool is_dynamic = symbol.unsized && symbol.space == Space::shared;
    ref.root = MemoryRef::Root::symbol;
    ref.id = is_dynamic ? kDynamicShared : operand.symbol;
    ref.local_symbol = operand.local_symbol && !is_dynamic;
    ref.offset += operand.offset;
    if (ref.space == Space::generic) ref.space = symbol.space;
  }

 private:
  /// The value that the result of `inst` is relative to; none if the result is a root itself or
  /// `ref` got a symbol.
  std::optional<ValueId> step(const Inst& inst, MemoryRef& ref) {
    const auto& ptx = *inst.ptx;
    const Operand& source = ptx.operands[1];
    switch (ptx.opcode) {
      case Opcode::cvta:
        if (!ptx.has(ptx::Modifier::to) && ref.space == Space::generic) {
          ref.space = ptx::space_of(ptx);
        }
        [[fallthrough]];
      case Opcode::mov:
        if (source.kind == Operand::Kind::symbol) take_symbol(source, ref);
        if (source.kind != Operand::Kind::reg) return std::nullopt;
        return inst.read(source.reg);
      case Opcode::add:
        return step_of_sum(inst, ref);
      default:
        return std::nullopt;
    }
  }

  std::optional<ValueId> step_of_sum(const Inst& inst, MemoryRef& ref) {
    const Operand &a = inst.ptx->operands[1], &b = inst.ptx->operands[2];
    if (a.kind == Operand::Kind::reg && b.kind == Operand::Kind::immediate) {
      ref.offset += static_cast<int64_t>(b.bits);
      return inst.read(a.reg);
    }
    for (const Operand* side : {&a, &b}) {
      if (side->kind == Operand::Kind::symbol) take_symbol(*side, ref);
      if (side->kind == Operand::Kind::reg && left_ > 1) look_for_symbol(inst, *side, ref);
      if (ref.root != MemoryRef::Root::symbol) continue;
      ref.exact = false;
      break;
    }
    return std::nullopt;
  }

  /// Makes a symbol the root; the other term of the sum is then an index into it.
  void look_for_symbol(const Inst& inst, const Operand& side, MemoryRef& ref) {
    MemoryRef inner;
    inner.space = ref.space;
    --left_;
    follow(inst.read(side.reg), inner);
    if (inner.root != MemoryRef::Root::symbol) return;
    ref.root = inner.root;
    ref.id = inner.id;
    ref.local_symbol = inner.local_symbol;
    ref.space = inner.space;
  }

  const Kernel& kernel_;
  unsigned left_ = kMostSteps;
};

bool overlap_exactly(const MemoryRef& a, const MemoryRef& b) {
  const bool apart = a.offset + static_cast<int64_t>(a.size_bytes) <= b.offset ||
                     b.offset + static_cast<int64_t>(b.size_bytes) <= a.offset;
  return !apart;
}

bool spaces_may_meet(Space a, Space b) {
  return a == b || a == Space::generic || b == Space::generic;
}

}  // namespace

MemoryRef memory_ref(const Kernel& kernel, const Inst& inst, const Operand& address,
                     uint64_t size_bytes) {
  MemoryRef ref;
  ref.space = ptx::space_of(*inst.ptx);
  ref.size_bytes = size_bytes;
  ref.exact = true;
  RootFinder finder(kernel);
  if (address.symbol != ptx::kNone) {
    finder.take_symbol(address, ref);
    ref.exact = address.reg == ptx::kNone;
  } else if (address.reg != ptx::kNone) {
    ref.offset = address.offset;
    finder.follow(inst.read(address.reg), ref);
  }
  return ref;
}

bool surely_overlap(const MemoryRef& a, const MemoryRef& b) {
  return a.same_root(b) && a.exact && b.exact && overlap_exactly(a, b);
}

bool may_overlap(const MemoryRef& a, const MemoryRef& b, bool stable) {
  if (!spaces_may_meet(a.space, b.space)) return false;
  const bool symbols = a.root == MemoryRef::Root::symbol && b.root == MemoryRef::Root::symbol;
  if (!a.same_root(b)) return !symbols;
  if (!symbols && !stable) return true;
  return !a.exact || !b.exact || overlap_exactly(a, b);
}

}  // namespace km::simt
