// Arrays of indices in device memory, which have 32 or 64 bits and count from 0 or 1.
#pragma once

#include "dropin/cusparse/frame/numbers.h"

namespace km::cusparse {

inline uint32_t bytes_of_index(cusparseIndexType_t type) {
  return type == CUSPARSE_INDEX_64I ? 8 : 4;
}

/// Reads indices and subtracts their base.
struct Indices {
  const void* data = nullptr;
  bool is_wide = false;
  int64_t base = 0;

  Indices() = default;
  Indices(const void* array, cusparseIndexType_t type, cusparseIndexBase_t index_base)
      : data(array), is_wide(type == CUSPARSE_INDEX_64I), base(index_base) {}

  /// The value as it is stored.
  int64_t raw(int64_t i) const {
    return is_wide ? read_element<int64_t>(data, i) : read_element<int32_t>(data, i);
  }
  int64_t operator[](int64_t i) const {
    return static_cast<int64_t>(static_cast<uint64_t>(raw(i)) - static_cast<uint64_t>(base));
  }
};

/// Stores indices and adds their base.
struct IndexWriter {
  void* data = nullptr;
  bool is_wide = false;
  int64_t base = 0;

  IndexWriter(void* array, cusparseIndexType_t type, cusparseIndexBase_t index_base)
      : data(array), is_wide(type == CUSPARSE_INDEX_64I), base(index_base) {}

  void set(int64_t i, int64_t value) const {
    if (is_wide) {
      write_element<int64_t>(data, i, value + base);
    } else {
      write_element<int32_t>(data, i, static_cast<int32_t>(value + base));
    }
  }
};

/// True if 0 <= index < end, by one comparison.
inline bool is_within(int64_t index, int64_t end) {
  return static_cast<uint64_t>(index) < static_cast<uint64_t>(end);
}

}  // namespace km::cusparse
