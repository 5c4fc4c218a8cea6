// Exchanges of rows, as factorizations store them.
#pragma once

#include <cstdint>

namespace km::math {

/// The first of `count` row numbers that is not from 1 to `rows`; null if all are.
template <class Int>
const Int* find_wrong_row(const Int* rows_to_exchange, int64_t count, int64_t rows) {
  for (int64_t i = 0; i < count; ++i) {
    const Int row = rows_to_exchange[i];
    if (row < 1 || row > rows) return rows_to_exchange + i;
  }
  return nullptr;
}

}  // namespace km::math
