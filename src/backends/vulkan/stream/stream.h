// Streams: queues of steps whose tickets ascend.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "backends/vulkan/driver/entries.h"
#include "backends/vulkan/stream/step.h"
#include "backends/vulkan/stream/workspace.h"

namespace km::vulkan {

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  explicit Stream(std::shared_ptr<const Workspace> workspace) : workspace_(std::move(workspace)) {}

  const Workspace& workspace() const { return *workspace_; }
  Epoch& epoch() const { return *workspace_->epoch; }

  /// Queues the steps of one operation and returns its ticket.
  Result<uint64_t> add(std::vector<Step> steps);
  Result<uint64_t> add(Step step);
  /// The ticket of the last operation.
  uint64_t last_ticket() const;
  /// True if the operation is over, or the context has failed.
  bool is_over(uint64_t ticket) const;
  /// Waits until all that is queued now is over, calls of the host included. False after the
  /// timeout.
  bool wait(uint64_t timeout_ns) const;
  /// Waits until the operation is over.
  void wait_for(uint64_t ticket) const;

  /// Keeps the object until the backend destroys it.
  std::shared_ptr<Stream> self;

 private:
  friend class Scheduler;
  struct Started {
    Step step;
    bool is_done = false;
  };

  const std::shared_ptr<const Workspace> workspace_;
  // The members below are guarded by the scheduler's lock.
  std::deque<Step> waiting_;
  std::deque<std::shared_ptr<Started>> started_;
  uint64_t added_ticket_ = 0, over_ticket_ = 0;
  bool is_busy_ = false;      // in the scheduler's list
  bool is_starting_ = false;  // a thread starts its steps, in their order
};

/// Runs an entry that queues one operation of the context's stream, made by `make`, which gives a
/// Result of a Step or of several.
template <class Make>
km_status enqueue(kmb_stream* handle, uint64_t* out_ticket, kmb_error* error, Make make) {
  return guarded(error, [&]() -> Status {
    Stream& stream = *from(handle);
    KM_TRY(stream.epoch().require_alive());
    KM_ASSIGN(auto made, make(stream));
    KM_ASSIGN(*out_ticket, stream.add(std::move(made)));
    return {};
  });
}

}  // namespace km::vulkan
