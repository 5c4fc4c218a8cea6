// atom and red: threads run one after the other, so nothing comes between.
#include <cstring>
#include <vector>

#include "reference/block.h"
#include "reference/values.h"

namespace km::reference {
namespace {

using ptx::Operand;
using Kind = ptx::Operand::Kind;

Bits of_reals(const Instruction& in, const Format& format, Bits old, Bits operand, bool ftz) {
  const auto a = static_cast<uint64_t>(old), b = static_cast<uint64_t>(operand);
  if (in.has(Modifier::add)) return add_rounded(format, a, b, ftz);
  return min_max(format, a, b, in.has(Modifier::max));
}

/// Both halves of packed types by themselves.
Bits of_elements(const Instruction& in, Type type, Bits old, Bits operand, bool ftz) {
  const Format& format = *format_of(type);
  if (!is_packed(type)) return of_reals(in, format, old, operand, ftz);
  Bits result = 0;
  for (unsigned i = 0; i < 2; ++i) {
    const Bits a = truncate(old >> (16 * i), 16), b = truncate(operand >> (16 * i), 16);
    result |= of_reals(in, format, a, b, ftz) << (16 * i);
  }
  return result;
}

Bits of_integers(const Instruction& in, Type type, Bits old, Bits operand) {
  const unsigned bits = ptx::size_bits(type);
  const SignedBits a = extend(old, bits, ptx::is_signed(type));
  const SignedBits b = extend(operand, bits, ptx::is_signed(type));
  if (in.has(Modifier::add)) return old + operand;
  if (in.has(Modifier::and_)) return old & operand;
  if (in.has(Modifier::or_)) return old | operand;
  if (in.has(Modifier::xor_)) return old ^ operand;
  if (in.has(Modifier::min)) return a < b ? old : operand;
  if (in.has(Modifier::max)) return a > b ? old : operand;
  if (in.has(Modifier::inc)) return old >= operand ? Bits{0} : old + 1;
  return old == 0 || old > operand ? operand : old - 1;  // dec
}

Bits updated(const Instruction& in, Type type, Bits old, Bits operand, bool in_shared) {
  if (in.has(Modifier::exch)) return operand;
  if (format_of(type) == nullptr) return of_integers(in, type, old, operand);
  // By the manual atom.add.f32 flushes subnormals in global memory, and only there.
  const bool flushes = type == Type::f32 && !in_shared && !in.has(Modifier::noftz);
  return of_elements(in, type, old, operand, flushes);
}

}  // namespace

void Block::atomic(Thread& thread, const Step& step) {
  const Instruction& in = *step.in;
  if (in.has(Modifier::async)) {
    return fail(thread, "an instruction that the reference does not know");
  }
  const unsigned at = in.opcode == Opcode::atom ? 1 : 0;
  const Operand& from = in.operands[at + 1];
  const Type type = in.type();
  const uint32_t count = from.kind == Kind::vector ? from.count : 1;
  const uint64_t size = ptx::size_bytes(type);
  const uint64_t address = address_of(thread, ptx::space_of(in), in.operands[at]);
  uint8_t* bytes = find(thread, address, count * size, count * size);
  const bool shared = address >= kSharedBase;
  // Results may go where sources come from.
  std::vector<Bits> operands;
  for (uint32_t i = 0; i < count; ++i) {
    operands.push_back(
        read(thread, from.kind == Kind::vector ? element(thread, from, i) : from, type));
  }
  for (uint32_t i = 0; bytes != nullptr && i < count; ++i) {
    const auto part = [&](const Operand& operand) -> const Operand& {
      return operand.kind == Kind::vector ? element(thread, operand, i) : operand;
    };
    Bits old = 0;
    std::memcpy(&old, bytes + i * size, size);
    const Bits operand = operands[i];
    Bits fresh = 0;
    if (in.has(Modifier::cas)) {
      fresh = old == operand ? read(thread, in.operands[at + 2], type) : old;
    } else {
      fresh = updated(in, type, old, operand, shared);
    }
    std::memcpy(bytes + i * size, &fresh, size);
    if (at == 1) write(thread, part(in.operands[0]), type, old);
  }
}

}  // namespace km::reference
