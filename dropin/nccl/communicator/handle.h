// The object that a ncclComm_t stands for.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "comm/group/communicator.h"
#include "dropin/nccl/frame/nccl.h"

namespace km::nccl {

/// The context of a rank's device.
struct RankDevice {
  cu::CUcontext context = nullptr;
  int ordinal = 0;
};
/// The current context, or device 0's primary one.
ncclResult_t current_device(RankDevice* out);

/// A reduction that the program has made.
struct OwnReduction {
  comm::Type type;
  uint8_t scalar[8];
  const void* device_scalar;  // null: `scalar` is the value
};

/// One rank of a communicator as the program holds it. It exists before the other ranks have come,
/// since programs may poll for that.
class Handle {
 public:
  Handle(const RankDevice& device, bool is_blocking) : device_(device), is_blocking_(is_blocking) {}
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  const RankDevice& device() const { return device_; }
  bool is_blocking() const { return is_blocking_; }

  /// Keeps the start for the end of a group, or begins it.
  void defer_start(bool is_deferred);
  /// Ends the start: by a communicator, or a failure.
  void finish_start(std::shared_ptr<comm::Communicator> communicator, const comm::Failure& failure);
  /// ncclInProgress until the start has ended; then what the communicator's state is.
  ncclResult_t state() const;
  /// The reason of a state that is no success.
  comm::Failure failure() const;
  /// The reason why the start failed. A communicator that has started may have failed since then,
  /// which later calls tell.
  comm::Failure start_failure() const;
  /// Waits for the end of the start. Fails if the communicator has failed, is finalized or
  /// suspended.
  ncclResult_t get(std::shared_ptr<comm::Communicator>* out) const;
  /// The communicator, whatever its state; null if the start failed or goes on.
  std::shared_ptr<comm::Communicator> peek() const;

  void finalize();
  bool is_finalized() const;
  ncclResult_t suspend(bool suspends);
  bool is_suspended() const;

  ncclRedOp_t add_reduction(const OwnReduction& reduction);
  bool remove_reduction(ncclRedOp_t op);
  std::optional<OwnReduction> find_reduction(ncclRedOp_t op) const;

  /// Orders the next operation after those before it, which may be in another stream.
  cu::CUresult order_in(const library::Driver& driver, cu::CUstream stream);

  /// The id that the program has got for growing, until it is used.
  std::optional<comm::UniqueId> grow_id;
  std::mutex grow_mutex;

 private:
  const RankDevice device_;
  const bool is_blocking_;
  mutable std::mutex mutex_;  // guards the members below
  mutable std::condition_variable started_;
  bool has_started_ = false, is_deferred_ = false;
  bool is_finalized_ = false, is_suspended_ = false;
  std::shared_ptr<comm::Communicator> communicator_;
  comm::Failure start_failure_;
  std::map<int32_t, OwnReduction> reductions_;
  int32_t next_reduction_ = ncclNumOps;
  std::optional<cu::CUstream> last_stream_;
  cu::CUevent order_event_ = nullptr;
};
using SharedHandle = std::shared_ptr<Handle>;

ncclComm_t add_handle(SharedHandle handle);
/// Null, after a message, if there is no such communicator.
SharedHandle find_handle(ncclComm_t comm);
SharedHandle remove_handle(ncclComm_t comm);

}  // namespace km::nccl
