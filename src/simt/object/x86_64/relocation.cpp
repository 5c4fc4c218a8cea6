#include "simt/object/relocation.h"

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELF.h>

#include <cstring>
#include <limits>

namespace km::simt {

using namespace llvm::ELF;

std::optional<uint64_t> relocated_bytes(uint32_t type) {
  switch (type) {
    case R_X86_64_NONE:
      return 0;
    case R_X86_64_PC64:
      return 8;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
      return 4;
    default:
      return std::nullopt;
  }
}

bool relocate(uint8_t* place, uint32_t type, uint64_t at, uint64_t target) {
  const uint64_t value = target - at;
  const auto distance = static_cast<int64_t>(value);
  const bool is_long = type == R_X86_64_PC64;
  if (!is_long && (distance < std::numeric_limits<int32_t>::min() ||
                   distance > std::numeric_limits<int32_t>::max())) {
    return false;
  }
  std::memcpy(place, &value, is_long ? 8 : 4);  // little endian, as the target is
  return true;
}

std::string relocation_name(uint32_t type) {
  return llvm::object::getELFRelocationTypeName(EM_X86_64, type).str();
}

}  // namespace km::simt
