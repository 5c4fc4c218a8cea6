#include "simt/codegen/lower/memory/access.h"

#include <algorithm>
#include <bit>

namespace km::simt {

bool is_contiguous(const Address& address, const Access& access, uint32_t lanes) {
  if (address.offsets == nullptr || access.count != 1) return false;
  const auto size = static_cast<int64_t>(ptx::size_bytes(access.type));
  for (uint32_t l = 0; l < lanes; ++l) {
    if ((*address.offsets)[l] != size * l) return false;
  }
  return true;
}

std::optional<int64_t> wide_span(const Address& address, const Access& access, uint32_t lanes) {
  if (address.offsets == nullptr || access.is_volatile) return std::nullopt;
  const auto size = static_cast<int64_t>(ptx::size_bytes(access.type));
  int64_t high = 0;
  for (uint32_t l = 0; l < lanes; ++l) {
    const int64_t offset = (*address.offsets)[l];
    if (offset < 0 || offset % size != 0) return std::nullopt;
    high = std::max(high, offset);
  }
  const int64_t elements = high / size + access.count;
  if (elements > int64_t{4} * lanes) return std::nullopt;
  return elements;
}

bool has_rows(const Access& access) {
  const uint64_t size = access.count * ptx::size_bytes(access.type);
  return access.count > 1 && std::has_single_bit(access.count) && size <= kRowBytes &&
         !access.is_volatile;
}

}  // namespace km::simt
