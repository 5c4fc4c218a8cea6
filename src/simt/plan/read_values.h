// The values that have readers.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/kernel/kernel.h"

namespace km::simt {

/// For each value: whether an instruction, a phi or a branch reads it. Compilers leave it to the
/// assembler to detect atomic operations whose old value is not used.
class ReadValues {
 public:
  explicit ReadValues(const Kernel& kernel);

  /// True if a result of the instruction is read.
  bool has_readers(const Inst& inst) const;

 private:
  std::vector<uint8_t> is_read_;  // by value
};

}  // namespace km::simt
