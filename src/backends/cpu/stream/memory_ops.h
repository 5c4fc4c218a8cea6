// Operations of streams on single numbers in memory: writing them, and waiting for them.
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

/// Operations of one call, one after the other. Immutable.
class MemoryOps {
 public:
  /// Starts the thread that watches memory, where a wait is among them.
  static Result<std::shared_ptr<const MemoryOps>> make(std::span<const kmb_memory_op> ops);

  /// Does those from `first` on. Gives the index of the wait that cannot be over yet, or size().
  /// Failures go to the context, and nothing is left to do then.
  size_t run(size_t first, Context& context) const;
  size_t size() const { return ops_.size(); }
  bool has_waits() const { return has_waits_; }

 private:
  explicit MemoryOps(std::span<const kmb_memory_op> ops);
  std::vector<kmb_memory_op> ops_;
  bool has_waits_;
};

/// For the owner of the stream. True when all is done; false: the thread that watches memory goes
/// on with the stream.
bool run_memory_ops(Stream* stream, const std::shared_ptr<const MemoryOps>& ops);

}  // namespace km::cpu
