#include "base/memory/place_text.h"

#include "base/text.h"

namespace km {

std::string place_text(uint64_t address, uint64_t begin, uint64_t size_bytes) {
  const std::string allocation =
      "the " + std::to_string(size_bytes) + "-byte allocation at " + hex(begin);
  if (address == begin && size_bytes != 0) return "in " + allocation;
  if (address < begin) return counted(begin - address, "byte") + " before " + allocation;
  const uint64_t offset = address - begin;
  if (offset < size_bytes) return counted(offset, "byte") + " into " + allocation;
  return counted(offset - size_bytes, "byte") + " past the end of " + allocation;
}

uint64_t distance_from(uint64_t address, uint64_t begin, uint64_t size_bytes) {
  if (address < begin) return begin - address;
  return address - begin < size_bytes ? 0 : address - begin - size_bytes;
}

}  // namespace km
