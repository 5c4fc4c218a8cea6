// The conditions on which streams wait for a number in memory.
#pragma once

#include <cstdint>

#include "backend/interface.h"

namespace km {

/// True if the number that was found, of the operation's size, ends its wait.
inline bool is_over(const kmb_memory_op& op, uint64_t found) {
  const uint64_t mask = op.value_size_bytes == 8 ? UINT64_MAX : UINT32_MAX;
  const uint64_t sign = mask / 2 + 1;
  const uint64_t value = op.value & mask;
  switch (op.kind) {
    case KMB_MEMORY_WAIT_GEQ:
      return ((found - value) & sign) == 0;
    case KMB_MEMORY_WAIT_EQ:
      return found == value;
    case KMB_MEMORY_WAIT_AND:
      return (found & value) != 0;
    case KMB_MEMORY_WAIT_NOR:
      return (~(found | value) & mask) != 0;
    case KMB_MEMORY_WRITE:
      break;
  }
  return true;
}

}  // namespace km
