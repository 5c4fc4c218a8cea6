// Events, and the places in streams that they and other streams name.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "backends/vulkan/stream/stream.h"

namespace km::vulkan {

/// A place in a stream: the end of the operation with a ticket.
struct Mark {
  std::shared_ptr<Stream> stream;
  uint64_t ticket = 0;
  // Guarded by the scheduler's lock.
  bool is_reached = false;
  std::optional<int64_t> time_ns;

  /// True if the stream has come here, or its context has failed. Needs the scheduler's lock.
  bool is_over() const;
};

class Event {
 public:
  Event(std::shared_ptr<const Workspace> workspace, bool has_timing)
      : workspace_(std::move(workspace)), has_timing_(has_timing) {}

  const Workspace& workspace() const { return *workspace_; }
  bool has_timing() const { return has_timing_; }
  /// The place of the last recording; null: there was none.
  std::shared_ptr<Mark> latest() const;
  /// The step that records the event in a stream, which counts as its place from now on.
  Step record(Stream& stream);

 private:
  void set_latest(std::shared_ptr<Mark> mark);
  Step record_time(const std::shared_ptr<Mark>& mark) const;

  const std::shared_ptr<const Workspace> workspace_;
  const bool has_timing_;
  mutable std::mutex mutex_;
  std::shared_ptr<Mark> latest_;
};

/// The step that waits until a place of any stream is reached; null: for nothing.
Step wait_for_mark(std::shared_ptr<const Mark> mark);

/// The step that calls a host function.
Result<Step> host_call(km_host_callback callback, void* user_data);

}  // namespace km::vulkan
