// Operand values for the comparison: corner cases of each type, then random ones.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ir.h"

namespace km::reference {

/// splitmix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t bound) { return bits() % bound; }

 private:
  uint64_t state_;
};

/// Values of the type that instructions treat in special ways, as bits.
const std::vector<uint64_t>& corners(ptx::Type type);

/// A corner case, or bits of a random kind.
uint64_t any_value(ptx::Type type, Random& random);

/// `count` tuples of operands, column by column: with one or two operands all combinations of
/// corners come first.
std::vector<std::vector<uint64_t>> input_columns(const std::vector<ptx::Type>& types,
                                                 uint64_t count, uint64_t seed);

}  // namespace km::reference
