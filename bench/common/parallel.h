// Loops over all threads for contestants whose compiler has no OpenMP of its own; parallel.cpp is
// built by one that has.
#pragma once

#include <cstdint>

namespace km::bench {

using RangeBody = void (*)(const void* context, int64_t first, int64_t last);

/// Calls body(context, first, last) on all threads until [0, count) is done; chunks of `chunk` go
/// to whoever is free, or with 0 each thread gets one equal part.
void parallel_ranges(int64_t count, int64_t chunk, RangeBody body, const void* context);

/// Calls body(i) for all i in [0, count).
template <class Body>
void parallel_for(int64_t count, int64_t chunk, const Body& body) {
  const RangeBody range = [](const void* context, int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) (*static_cast<const Body*>(context))(i);
  };
  parallel_ranges(count, chunk, range, &body);
}

}  // namespace km::bench
