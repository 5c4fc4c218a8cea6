// Reductions of several buffers, element by element, in the order of the ranks.
#pragma once

#include <cstdint>
#include <span>

#include "comm/operation/operation.h"

namespace km::comm {

/// One rank's elements.
struct Source {
  const void* data;
  const void* scalar;  // for kScaledSum
};

/// One place of the result.
struct Destination {
  void* data;
  bool bypasses_caches = false;  // nobody reads it soon
};

/// Reduces elements [first, first + count) of all sources, and writes them to the same places of
/// all destinations, which may be sources, too. f16, bf16 and numbers of 8 bits are reduced in f32
/// and rounded once. The result of an element does not depend on the range.
void reduce(Type type, Reduction reduction, std::span<const Source> sources,
            std::span<const Destination> destinations, uint64_t first, uint64_t count);

}  // namespace km::comm
