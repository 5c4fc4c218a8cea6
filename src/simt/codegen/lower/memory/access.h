// Loads and stores as their lowerings see them: type, size, and how lanes lie.
#pragma once

#include <optional>

#include "simt/codegen/addresses.h"

namespace km::simt {

/// A load or store of `count` elements in each lane.
struct Access {
  ptx::Type type;
  unsigned count = 1;  // elements of .v2, .v4
  bool is_volatile = false;
  bool invariant = false;
  bool nontemporal = false;  // a store that may go past the caches
  bool is_rare = false;      // made only if lanes are missing: by a function, not in place
};

/// The largest row of one lane: v8.b32, v4.b64.
constexpr uint64_t kRowBytes = 32;

/// True if lanes lie side by side: one vector access.
bool is_contiguous(const Address& address, const Access& access, uint32_t lanes);

/// Elements from the lowest one touched to the end of the highest, if the gaps are small enough to
/// read over (gaps below a page cannot fault if their ends do not).
std::optional<int64_t> wide_span(const Address& address, const Access& access, uint32_t lanes);

/// True if each lane's elements are a row that is loaded or stored at once.
bool has_rows(const Access& access);

}  // namespace km::simt
