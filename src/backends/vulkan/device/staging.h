// Mapped buffers for one operation each, which are used again: sources and destinations of copies,
// and what a launch reads.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/vulkan/device/buffer.h"

namespace km::vulkan {

class StagingPool : public std::enable_shared_from_this<StagingPool> {
 public:
  explicit StagingPool(std::shared_ptr<Epoch> epoch) : epoch_(std::move(epoch)) {}

  /// A buffer of at least this size, which comes back to the pool with its last reference.
  Result<std::shared_ptr<Buffer>> take(uint64_t size_bytes);

 private:
  void give_back(std::unique_ptr<Buffer> buffer);

  const std::shared_ptr<Epoch> epoch_;
  std::mutex mutex_;                                               // guards the members below
  std::map<uint64_t, std::vector<std::unique_ptr<Buffer>>> free_;  // by size
  uint64_t free_bytes_ = 0;
};

}  // namespace km::vulkan
