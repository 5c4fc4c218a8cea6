#include "simt/analysis/thread_index_evaluator.h"

namespace km::simt {

namespace {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::SpecialRegister;
using ptx::Type;

using Result = std::optional<uint64_t>;

uint64_t truncated(uint64_t value, Type type) {
  const uint32_t bits = ptx::size_bits(type);
  return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1);
}

int64_t as_signed(uint64_t value, Type type) {
  const uint32_t unused = 64 - std::min(64u, ptx::size_bits(type));
  return static_cast<int64_t>(value << unused) >> unused;
}

template <class T>
Result compared(const ptx::Instruction& ptx, T a, T b) {
  if (ptx.has(Modifier::eq)) return a == b;
  if (ptx.has(Modifier::ne)) return a != b;
  if (ptx.has(Modifier::lt) || ptx.has(Modifier::lo)) return a < b;
  if (ptx.has(Modifier::le) || ptx.has(Modifier::ls)) return a <= b;
  if (ptx.has(Modifier::gt) || ptx.has(Modifier::hi)) return a > b;
  if (ptx.has(Modifier::ge) || ptx.has(Modifier::hs)) return a >= b;
  return {};
}

Result computed(const ptx::Instruction& ptx, uint64_t a, uint64_t b) {
  const Type type = ptx.types[0];
  switch (ptx.opcode) {
    case Opcode::and_:
      return a & b;
    case Opcode::or_:
      return a | b;
    case Opcode::xor_:
      return a ^ b;
    case Opcode::add:
      return ptx.has(Modifier::sat) ? Result() : Result(a + b);
    case Opcode::sub:
      return ptx.has(Modifier::sat) ? Result() : Result(a - b);
    case Opcode::mul:
      return ptx.has(Modifier::lo) ? Result(a * b) : Result();
    case Opcode::shl:
      return b < ptx::size_bits(type) ? a << b : 0;
    case Opcode::shr:
      if (b >= ptx::size_bits(type)) return {};
      return ptx::is_signed(type) ? static_cast<uint64_t>(as_signed(a, type) >> b) : a >> b;
    case Opcode::setp:
      if (ptx.operand_count != 3 || ptx.operands[0].kind != Operand::Kind::reg) return {};
      if (ptx.type_count != 1) return {};
      return ptx::is_signed(type) ? compared(ptx, as_signed(a, type), as_signed(b, type))
                                  : compared(ptx, a, b);
    default:
      return {};
  }
}

bool is_plain_integer(Type type) { return ptx::is_integer(type) || type == Type::pred; }

}  // namespace

Result ThreadIndexEvaluator::special(const Operand& operand, uint32_t thread) const {
  if (operand.component > 2) return {};
  switch (operand.special) {
    case SpecialRegister::tid: {
      const uint32_t row = thread / block_[0];
      const std::array<uint32_t, 3> index{thread % block_[0], row % block_[1], row / block_[1]};
      return index[operand.component];
    }
    case SpecialRegister::ntid:
      return block_[operand.component];
    case SpecialRegister::laneid:
      return thread % kWarpLanes;
    default:
      return {};
  }
}

Result ThreadIndexEvaluator::operand(const Inst& inst, unsigned index, uint32_t thread,
                                     unsigned* left) const {
  const Operand& operand = inst.ptx->operands[index];
  switch (operand.kind) {
    case Operand::Kind::reg: {
      if (operand.negated && inst.ptx->types[0] != Type::pred) return {};
      const Result value = of(inst.read(operand.reg), thread, left);
      return value && operand.negated ? Result(*value ^ 1) : value;
    }
    case Operand::Kind::immediate:
      return operand.bits;
    case Operand::Kind::special:
      return special(operand, thread);
    default:
      return {};
  }
}

Result ThreadIndexEvaluator::of(ValueId value, uint32_t thread, unsigned* left) const {
  const Value& v = kernel_.values[value];
  if (v.block == kNone || v.instruction == kNone || *left == 0) return {};
  --*left;
  const Inst& inst = kernel_.blocks[v.block].insts[v.instruction];
  const ptx::Instruction& ptx = *inst.ptx;
  if (inst.guard != kNone || ptx.type_count == 0 || !is_plain_integer(ptx.types[0])) return {};
  auto input = [&](unsigned index) {
    const Result content = operand(inst, index, thread, left);
    return content ? Result(truncated(*content, ptx.types[ptx.type_count - 1])) : content;
  };
  const Result a = input(1);
  if (!a) return {};
  switch (ptx.opcode) {
    case Opcode::mov:
      return ptx.operands[0].kind == Operand::Kind::reg ? a : Result();
    case Opcode::cvt:
      if (ptx.type_count != 2 || !is_plain_integer(ptx.types[1]) || ptx.has(Modifier::sat))
        return {};
      return truncated(
          ptx::is_signed(ptx.types[1]) ? static_cast<uint64_t>(as_signed(*a, ptx.types[1])) : *a,
          ptx.types[0]);
    case Opcode::not_:
      return truncated(~*a, v.type == Type::pred ? Type::pred : ptx.types[0]);
    default:
      break;
  }
  if (ptx.operand_count < 3) return {};
  const Result b = input(2);
  if (!b) return {};
  const Result result = computed(ptx, *a, *b);
  return result && ptx.opcode != Opcode::setp ? Result(truncated(*result, v.type)) : result;
}

}  // namespace km::simt
