#include "simt/object/relocation.h"

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELF.h>

#include <cstring>

namespace km::simt {
namespace {

using namespace llvm::ELF;

constexpr uint64_t kPageMask = 4095;  // of addresses in pages that instructions name

bool fits(int64_t value, unsigned bits) {
  const int64_t limit = int64_t{1} << (bits - 1);
  return value >= -limit && value < limit;
}

/// Replaces the bits of an instruction that `mask` selects.
void insert(uint8_t* place, uint32_t mask, uint32_t field) {
  uint32_t word = 0;
  std::memcpy(&word, place, sizeof word);  // little endian, as the target is
  word = (word & ~mask) | (field & mask);
  std::memcpy(place, &word, sizeof word);
}

/// The immediate of ADR and ADRP: its two lowest bits lie apart.
bool insert_address(uint8_t* place, int64_t value) {
  constexpr uint32_t kLow = 0x3u << 29, kHigh = 0x7ffffu << 5;
  if (!fits(value, 21)) return false;
  const auto bits = static_cast<uint32_t>(value);
  insert(place, kLow | kHigh, (bits & 3) << 29 | (bits >> 2 & 0x7ffff) << 5);
  return true;
}

/// The immediate of a branch: a count of instructions of `bits` bits that begins at bit `shift`.
bool insert_branch(uint8_t* place, int64_t distance, unsigned bits, unsigned shift) {
  if ((distance & 3) != 0 || !fits(distance, bits + 2)) return false;
  const uint32_t mask = ((1u << bits) - 1) << shift;
  insert(place, mask, static_cast<uint32_t>(distance >> 2) << shift);
  return true;
}

/// The offset in its page of what a load or store of 1 << `scale` bytes accesses.
bool insert_offset(uint8_t* place, uint64_t target, unsigned scale) {
  const auto offset = static_cast<uint32_t>(target & kPageMask);
  if ((offset & ((1u << scale) - 1)) != 0) return false;
  insert(place, 0xfffu << 10, (offset >> scale) << 10);
  return true;
}

bool store(uint8_t* place, int64_t value, unsigned bytes) {
  if (bytes < 8 && !fits(value, 8 * bytes)) return false;
  std::memcpy(place, &value, bytes);
  return true;
}

}  // namespace

std::optional<uint64_t> relocated_bytes(uint32_t type) {
  switch (type) {
    case R_AARCH64_NONE:
      return 0;
    case R_AARCH64_PREL16:
      return 2;
    case R_AARCH64_PREL64:
      return 8;
    case R_AARCH64_PREL32:
    case R_AARCH64_ADR_PREL_LO21:
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
    case R_AARCH64_LDST16_ABS_LO12_NC:
    case R_AARCH64_LDST32_ABS_LO12_NC:
    case R_AARCH64_LDST64_ABS_LO12_NC:
    case R_AARCH64_LDST128_ABS_LO12_NC:
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
    case R_AARCH64_CONDBR19:
      return 4;
    default:
      return std::nullopt;
  }
}

bool relocate(uint8_t* place, uint32_t type, uint64_t at, uint64_t target) {
  const auto distance = static_cast<int64_t>(target - at);
  // Images begin at a page, so that distances between pages are those of offsets.
  const auto pages = static_cast<int64_t>((target & ~kPageMask) - (at & ~kPageMask)) >> 12;
  switch (type) {
    case R_AARCH64_PREL16:
      return store(place, distance, 2);
    case R_AARCH64_PREL32:
      return store(place, distance, 4);
    case R_AARCH64_PREL64:
      return store(place, distance, 8);
    case R_AARCH64_ADR_PREL_LO21:
      return insert_address(place, distance);
    case R_AARCH64_ADR_PREL_PG_HI21:
      return insert_address(place, pages);
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
      return insert_offset(place, target, 0);
    case R_AARCH64_LDST16_ABS_LO12_NC:
      return insert_offset(place, target, 1);
    case R_AARCH64_LDST32_ABS_LO12_NC:
      return insert_offset(place, target, 2);
    case R_AARCH64_LDST64_ABS_LO12_NC:
      return insert_offset(place, target, 3);
    case R_AARCH64_LDST128_ABS_LO12_NC:
      return insert_offset(place, target, 4);
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
      return insert_branch(place, distance, 26, 0);
    default:  // R_AARCH64_CONDBR19: relocated_bytes() knows no other
      return insert_branch(place, distance, 19, 5);
  }
}

std::string relocation_name(uint32_t type) {
  return llvm::object::getELFRelocationTypeName(EM_AARCH64, type).str();
}

}  // namespace km::simt
