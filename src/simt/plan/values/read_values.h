// The values that something reads.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/kernel.h"

namespace km::simt {

/// For each value: does an instruction, a phi or a branch read it. Compilers leave it to the
/// assembler to see that nobody reads the old value of an atomic operation.
class ReadValues {
 public:
  explicit ReadValues(const Kernel& kernel);

  /// True if a result of the instruction is read.
  bool has_readers(const Inst& inst) const;

 private:
  std::vector<uint8_t> is_read_;  // by value
};

}  // namespace km::simt
