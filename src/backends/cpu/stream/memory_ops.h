// Stream operations that write single numbers in memory or wait for them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "backend/interface.h"
#include "base/result.h"

namespace km::cpu {

class Context;
class Stream;

/// The operations of one call, which run in order. Immutable.
class MemoryOps {
 public:
  /// Starts the thread that polls memory if one of the operations is a wait.
  static Result<std::shared_ptr<const MemoryOps>> make(std::span<const kmb_memory_op> ops);

  /// Runs the operations from `first` on. Returns the index of a wait that is not over, or size().
  /// A failure goes to the context and ends the operations.
  size_t run(size_t first, Context& context) const;
  size_t size() const { return ops_.size(); }
  bool has_waits() const { return has_waits_; }
  std::span<const kmb_memory_op> ops() const { return ops_; }

 private:
  explicit MemoryOps(std::span<const kmb_memory_op> ops);
  std::vector<kmb_memory_op> ops_;
  bool has_waits_;
};

/// Called by the owner of the stream. Returns true if all operations are over; if false, the
/// polling thread owns the stream.
bool run_memory_ops(Stream* stream, const std::shared_ptr<const MemoryOps>& ops);

}  // namespace km::cpu
