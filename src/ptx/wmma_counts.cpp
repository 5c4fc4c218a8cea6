#include "ptx/wmma_counts.h"

#include <algorithm>

#include "ptx/names.h"

namespace km::ptx {
namespace {

struct Shape {
  Modifier name;
  uint32_t m, n, k;
};

constexpr Shape kShapes[] = {
    {Modifier::m16n16k16, 16, 16, 16}, {Modifier::m8n32k16, 8, 32, 16},
    {Modifier::m32n8k16, 32, 8, 16},   {Modifier::m16n16k8, 16, 16, 8},
    {Modifier::m8n8k32, 8, 8, 32},     {Modifier::m8n8k128, 8, 8, 128},
    {Modifier::m8n8k4, 8, 8, 4},
};

constexpr uint32_t kLanes = 32;

/// The number of registers per lane that hold `elements` of a matrix.
uint32_t registers_of(uint32_t elements, Type type, bool is_factor) {
  // Two lanes hold each row or column of an f16 factor, so it takes twice the registers.
  if (type == Type::f16 && is_factor) return 8;
  const uint32_t register_bits = type == Type::f64 ? 64 : 32;
  return std::max(1u, elements * size_bits(type) / kLanes / register_bits);
}

}  // namespace

uint32_t wmma_count(const Instruction& instruction, unsigned index) {
  const auto* shape = std::find_if(std::begin(kShapes), std::end(kShapes),
                                   [&](const Shape& s) { return instruction.has(s.name); });
  if (shape == std::end(kShapes)) return 0;
  const uint32_t a = shape->m * shape->k, b = shape->k * shape->n, c = shape->m * shape->n;
  if (instruction.has(Modifier::load) || instruction.has(Modifier::store)) {
    const bool loads = instruction.has(Modifier::load);
    if (index != (loads ? 0u : 1u)) return 0;
    const bool is_a = instruction.has(Modifier::a), is_b = instruction.has(Modifier::b);
    const Type type = instruction.type();
    return registers_of(is_a ? a : is_b ? b : c, type, is_a || is_b);
  }
  if (index > 3) return 0;
  // The operands are d, a, b, c. Products of f16 matrices write only the types of d and c.
  const bool halves = instruction.type_count == 2;
  const Type types[] = {instruction.types[0], halves ? Type::f16 : instruction.types[1],
                        halves ? Type::f16 : instruction.types[2],
                        halves ? instruction.types[1] : instruction.types[3]};
  const uint32_t elements[] = {c, a, b, c};
  return registers_of(elements[index], types[index], index == 1 || index == 2);
}

bool has_tensor_addresses(const Instruction& instruction) {
  return instruction.opcode == Opcode::tcgen05 && !instruction.has(Modifier::alloc) &&
         !instruction.has(Modifier::commit);
}

uint32_t tensor_count(const Instruction& instruction) {
  constexpr Modifier kCounts[] = {Modifier::x1,  Modifier::x2,  Modifier::x4,  Modifier::x8,
                                  Modifier::x16, Modifier::x32, Modifier::x64, Modifier::x128};
  const bool moves = instruction.has(Modifier::ld) || instruction.has(Modifier::st);
  if (instruction.opcode != Opcode::tcgen05 || !moves) return 0;
  uint32_t count = instruction.has(Modifier::_16x256b)   ? 4
                   : instruction.has(Modifier::_16x128b) ? 2
                                                         : 1;
  for (const Modifier modifier : kCounts) {
    if (instruction.has(modifier)) return count;
    count *= 2;
  }
  return 0;
}

}  // namespace km::ptx
