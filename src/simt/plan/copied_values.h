// CopiedValues, the loaded values of which a kernel only makes copies.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/kernel/kernel.h"

namespace km::simt {

/// For each value: whether anything but a store or a move reads it. Copies of structures read their
/// padding, which nobody has written, and that is no defect.
class CopiedValues {
 public:
  explicit CopiedValues(const Kernel& kernel);

  /// True if all results of the instruction are only stored, as they are or after moves.
  bool are_only_copied(const Inst& inst) const;

 private:
  void mark_uses(const Kernel& kernel);
  std::vector<uint8_t> is_used_;
};

}  // namespace km::simt
