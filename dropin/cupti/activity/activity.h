// The activity API: which kinds of records are made, the records that wait for the program, and the
// buffers in which it gets them.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "dropin/cupti/frame/cupti.h"

namespace km::cupti {

/// The major version of CUDA whose records the library makes.
int cuda_major() noexcept;

constexpr int32_t kMostKinds = 64;

/// Records that wait, one behind the other. Threads of the engine only add to them: functions of
/// the program run on threads of its own and on one of this library.
class Activity {
 public:
  static Activity& instance();

  bool is_on(int32_t kind) const {
    return kind >= 0 && kind < kMostKinds &&
           is_on_[static_cast<size_t>(kind)].load(std::memory_order_relaxed);
  }
  /// True if a kind is on whose records are of operations of the device.
  bool follows_operations() const;
  /// True if any kind is on.
  bool is_used() const;
  void set_on(int32_t kind, bool on) {
    is_on_[static_cast<size_t>(kind)].store(on, std::memory_order_relaxed);
  }
  void set_all_off() {
    for (std::atomic<bool>& each : is_on_) each.store(false, std::memory_order_relaxed);
  }

  /// Sets the program's functions. CUPTI_ERROR_INVALID_PARAMETER if one is null.
  CUptiResult use_buffers(CUpti_BuffersCallbackRequestFunc request,
                          CUpti_BuffersCallbackCompleteFunc complete);
  /// Adds a record of a kind, with zeros behind it up to the size of the kind's records.
  void add(int32_t kind, const void* record, size_t size_bytes);
  /// Hands all records over. Called inside one of the program's functions it does nothing.
  void flush();
  /// Hands records over every so many milliseconds; 0: when many wait.
  void set_period(uint32_t period_ms);
  /// The number of records that got no room since the last call.
  size_t take_dropped() { return dropped_.exchange(0, std::memory_order_relaxed); }
  /// A copy of the text that stays valid for ever: records have pointers to names.
  const char* keep_name(const char* text);

 private:
  using Record = std::vector<std::byte>;
  static constexpr size_t kManyBytes = 8 << 20;    // wait before they are handed over
  static constexpr size_t kMostBytes = 512 << 20;  // further ones are dropped

  std::deque<Record> take_waiting();
  void hand_over(std::deque<Record>& records);
  void start_worker();
  void work();

  std::array<std::atomic<bool>, kMostKinds> is_on_{};
  std::atomic<size_t> dropped_{0};

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<Record> waiting_;
  size_t waiting_bytes_ = 0;
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
  uint32_t period_ms_ = 0;
  bool has_worker_ = false;
  std::unordered_set<std::string> names_;

  std::mutex handing_over_;  // held while the program's functions run: records keep their order
};

/// The record behind `record` in a buffer of the program, or the first one if it is null.
/// CUPTI_ERROR_MAX_LIMIT_REACHED behind the last.
CUptiResult next_record(const uint8_t* buffer, size_t valid_bytes, CUpti_Activity** record);

}  // namespace km::cupti
