// Structures of the API that the generated tables only name.
#pragma once

#include "dropin/cusparse/generated/api.h"

/// The arrays of a sparse matrix. The member that counts depends on the format.
struct cusparseSpMatPointers_t {
  cusparseFormat_t format;
  union {
    void* arrays[3];  // offsets or row indices, indices, values; ELL: no offsets
    void* reserved[8];
  } data;
};

/// The sizes of a sparse matrix. Their meaning depends on the format.
struct cusparseSpMatSizes_t {
  cusparseFormat_t format;
  union {
    int64_t sizes[5];
    int64_t reserved[8];
  } data;
};
