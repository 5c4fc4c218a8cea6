// Access, a load or store as its lowering sees it, and the arrangement of the lanes' elements.
#pragma once

#include <optional>

#include "simt/codegen/addresses.h"

namespace km::simt {

/// A load or store of `count` elements per lane.
struct Access {
  ptx::Type type;
  unsigned count = 1;  // elements of a vector form such as .v4
  bool is_volatile = false;
  bool invariant = false;
  bool nontemporal = false;  // a store that may bypass the caches
  // Executed only if lanes are inactive, so a call of a helper is fast enough.
  bool is_rare = false;
};

/// The size of the longest row, the elements of one lane: v8.b32 or v4.b64.
constexpr uint64_t kRowBytes = 32;

/// True if the lanes' elements are contiguous, so that one vector access is enough.
bool is_contiguous(const Address& address, const Access& access, uint32_t lanes);

/// The number of elements from the lowest to the highest one that lanes access, if there are few
/// enough to load them all; otherwise nothing. Gaps between them are smaller than a page, so
/// loading them cannot fault if the ends do not.
std::optional<int64_t> wide_span(const Address& address, const Access& access, uint32_t lanes);

/// True if the elements of each lane form a row that one instruction can load or store.
bool has_rows(const Access& access);

}  // namespace km::simt
