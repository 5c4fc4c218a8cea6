// Arrays of indices, which have 32 or 64 bits and count from 0 or 1, and whose values are checked
// when they are read.
#pragma once

#include "base/result.h"
#include "math/sparse/numbers.h"

namespace km::sparse {

/// Reads indices and subtracts their base.
struct Indices {
  const void* data = nullptr;
  bool is_wide = false;
  int64_t base = 0;

  /// The value as it is stored.
  int64_t raw(int64_t i) const {
    return is_wide ? read_element<int64_t>(data, i) : read_element<int32_t>(data, i);
  }
  int64_t operator[](int64_t i) const {
    return static_cast<int64_t>(static_cast<uint64_t>(raw(i)) - static_cast<uint64_t>(base));
  }
};

/// True if 0 <= index < end, by one comparison.
inline bool is_within(int64_t index, int64_t end) {
  return static_cast<uint64_t>(index) < static_cast<uint64_t>(end);
}

/// The error of an index, counted from 0, that is not one of `end`.
Error bad_index(const char* what, int64_t index, int64_t end);
/// Likewise, of what belongs to row, column or element `line`.
Error bad_index_of(const char* what, const char* line_name, int64_t line, int64_t index,
                   int64_t end);

/// The first of `count` items that piece `piece` of `pieces` has.
inline int64_t first_of_piece(int64_t count, uint64_t piece, uint64_t pieces) {
  const auto share = static_cast<unsigned __int128>(count) * piece / pieces;
  return static_cast<int64_t>(share);
}

/// The number of pieces for work of `steps` even steps on so many threads: 1 if it is short.
uint64_t pieces_of(int64_t steps, uint32_t threads) noexcept;

/// a * b, or a number that no array has if the product does not fit.
int64_t checked_product(int64_t a, int64_t b) noexcept;

}  // namespace km::sparse
