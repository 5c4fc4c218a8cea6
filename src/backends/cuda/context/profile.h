// Device times of operations: an event before and one after each, read when both have completed.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/interface.h"
#include "backends/cuda/context/epoch.h"

namespace km::cuda {

class Profile : public std::enable_shared_from_this<Profile> {
 public:
  ~Profile();

  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }
  Status set(bool is_on, const std::shared_ptr<Epoch>& epoch, kmb_profile_callback callback,
             void* user_data, km_release_callback release);

  struct Operation {
    std::shared_ptr<Epoch> epoch;
    kmb_profile_record record{};
    std::string name;
    cu::CUevent begin = nullptr, end = nullptr;
    void destroy_events();
  };
  /// Adds an operation that is queued between its events. Without memory it throws and leaves
  /// `operation` unchanged.
  void add(Operation&& operation);
  /// Reports the operations that are over.
  void collect();

 private:
  Status start_clock(Epoch& epoch);
  void destroy_clock();
  bool read(Operation& operation);
  bool hand_over(Operation& operation);

  std::atomic<bool> is_on_{false};
  std::mutex mutex_;  // guards the members below
  kmb_profile_callback callback_ = nullptr;
  void* user_data_ = nullptr;
  km_release_callback release_ = nullptr;
  std::vector<Operation> queued_;
  bool is_watching_ = false;
  std::shared_ptr<Epoch> clock_epoch_;
  cu::CUevent clock_ = nullptr;  // the event that device times are relative to
  uint64_t clock_ns_ = 0;        // host time of that event
};

/// Records the events around one queued operation; does nothing while no profile runs.
class ProfiledOperation {
 public:
  ProfiledOperation(Profile& profile, const std::shared_ptr<Epoch>& epoch, cu::CUstream stream,
                    km_profile_kind kind, const void* shown_stream, uint64_t size_bytes,
                    const char* name = nullptr, float occupancy = 0) {
    if (profile.is_on()) [[unlikely]]
      begin(profile, epoch, stream, kind, shown_stream, size_bytes, name, occupancy);
  }
  ~ProfiledOperation() {
    if (profile_ != nullptr) [[unlikely]]
      finish();
  }
  /// Records the shape of a launch.
  void set_launch(const kmb_launch& launch) {
    if (profile_ != nullptr) [[unlikely]]
      note_launch(launch);
  }
  /// Records the number of floating-point operations.
  void set_operations(uint64_t operations) {
    if (profile_ != nullptr) [[unlikely]]
      operation_->record.operations = operations;
  }
  void set_of_graph() {
    if (profile_ != nullptr) [[unlikely]]
      operation_->record.is_of_graph = 1;
  }
  ProfiledOperation(const ProfiledOperation&) = delete;
  ProfiledOperation& operator=(const ProfiledOperation&) = delete;

 private:
  void begin(Profile& profile, const std::shared_ptr<Epoch>& epoch, cu::CUstream stream,
             km_profile_kind kind, const void* shown_stream, uint64_t size_bytes, const char* name,
             float occupancy) noexcept;
  void finish() noexcept;
  void note_launch(const kmb_launch& launch) noexcept;

  Profile* profile_ = nullptr;
  cu::CUstream stream_ = nullptr;
  std::unique_ptr<Profile::Operation> operation_;
};

}  // namespace km::cuda
