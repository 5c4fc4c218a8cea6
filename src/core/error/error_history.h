// The latest failures of a context, and the number of times that each status occurred.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "kernelmill/c_api.h"

namespace km {

/// Consecutive failures of one function for one reason.
struct ErrorRecord {
  uint64_t id = 0;
  km_status status = KM_SUCCESS;
  int64_t first_ns = 0, last_ns = 0;  // since the Unix epoch
  uint64_t count = 0;
  int64_t native_code = 0;
  const char* call = "";  // has static lifetime
  std::string text;

  /// Converts the record to the C ABI's struct.
  km_error_record info() const;
};

class ErrorHistory {
 public:
  /// `call` must have static lifetime. Without memory for the text, the record has none.
  void add(const char* call, km_status status, std::string_view text, int64_t native_code) noexcept;
  /// The records, newest first.
  std::vector<ErrorRecord> records() const;
  /// The statuses since the last clear(), sorted by value.
  std::vector<km_error_count> counts() const;
  void clear();

 private:
  static constexpr size_t kStatusLimit = 64;

  void count(km_status status, int64_t now_ns);

  mutable std::mutex mutex_;
  std::array<ErrorRecord, KM_CONTEXT_ERROR_CAPACITY> ring_;
  uint64_t last_id_ = 0;  // record n lies at ring_[n % capacity]
  uint64_t cleared_id_ = 0;
  std::array<km_error_count, kStatusLimit> counts_{};
  size_t count_size_ = 0;
};

}  // namespace km
