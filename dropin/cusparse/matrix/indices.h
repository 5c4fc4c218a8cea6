// Arrays of indices in device memory, which have 32 or 64 bits and count from 0 or 1.
#pragma once

#include "dropin/cusparse/frame/numbers.h"
#include "math/sparse/indices.h"

namespace km::cusparse {

using sparse::is_within;

constexpr bool is_wide(cusparseIndexType_t type) { return type == CUSPARSE_INDEX_64I; }
inline uint32_t bytes_of_index(cusparseIndexType_t type) { return is_wide(type) ? 8 : 4; }

/// Reads indices and subtracts their base.
struct Indices : sparse::Indices {
  Indices(const void* array, cusparseIndexType_t type, cusparseIndexBase_t index_base)
      : sparse::Indices{array, cusparse::is_wide(type), index_base} {}
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

}  // namespace km::cusparse
