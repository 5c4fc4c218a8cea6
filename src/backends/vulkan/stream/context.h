// Contexts: each has a VkDevice of its own, so that a fault in one does not reach the others.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/vulkan/device/device.h"
#include "backends/vulkan/stream/stream.h"

namespace km::vulkan {

class Context {
 public:
  static Result<std::unique_ptr<Context>> create(const Device& device);

  const Adapter& adapter() const { return adapter_; }
  Output& output() { return *output_; }
  /// The workspace of the present epoch.
  std::shared_ptr<const Workspace> workspace() const;
  /// workspace(), or the error of a context that has failed.
  Result<std::shared_ptr<const Workspace>> live_workspace() const;
  Result<std::shared_ptr<Stream>> make_stream();
  /// The stream of the backend's own work, made at its first use.
  Result<std::shared_ptr<Stream>> own_stream();
  /// Waits until all streams have come to their end, or have dropped the rest after a failure.
  void drain() const;
  /// Gives the context a new VkDevice, after the end of what the old one runs.
  Status reset();

  std::atomic<bool> is_checked{false};

 private:
  explicit Context(const Adapter& adapter) : adapter_(adapter) {}
  Status renew();
  std::vector<std::shared_ptr<Stream>> streams() const;

  const Adapter& adapter_;
  const std::shared_ptr<Output> output_ = std::make_shared<Output>();
  mutable std::mutex mutex_;  // guards the members below
  std::shared_ptr<const Workspace> workspace_;
  std::vector<std::weak_ptr<Stream>> streams_;
  std::shared_ptr<Stream> own_stream_;
};

}  // namespace km::vulkan
