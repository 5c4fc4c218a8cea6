// Operations that a rank asks for together, and the one report of their end.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "comm/operation/operation.h"

namespace km::comm {

/// Hears once, on any thread, that the operations are over, whether they failed or not.
using Resume = void (*)(void* data);

/// The operations of one call on one communicator. Each ends once; the poster holds a share, too,
/// so that an end within post() is told by its result.
class Batch {
 public:
  /// The operations stay where they are until all are over.
  Batch(std::span<const Operation> operations, Resume resume, void* data)
      : operations_(operations),
        left_(static_cast<uint32_t>(operations.size()) + 1),
        resume_(resume),
        data_(data) {}

  std::span<const Operation> operations() const { return operations_; }
  /// Ends one operation.
  void finish_one() {
    if (left_.fetch_sub(1) == 1) resume_(data_);
  }
  /// Ends the poster's share. Returns true if all operations are over, and nobody will hear of it.
  bool end_posting() { return left_.fetch_sub(1) == 1; }

 private:
  const std::span<const Operation> operations_;
  std::atomic<uint32_t> left_;
  const Resume resume_;
  void* const data_;
};
using SharedBatch = std::shared_ptr<Batch>;

}  // namespace km::comm
