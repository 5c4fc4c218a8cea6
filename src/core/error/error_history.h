// The failures of a context: the latest ones, and how often each status occurred.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "kernelmill/c_api.h"

namespace km {

/// Failures of one call for one reason, one right after the other.
struct ErrorRecord {
  uint64_t id = 0;
  km_status status = KM_SUCCESS;
  int64_t first_ns = 0, last_ns = 0;  // since the Unix epoch
  uint64_t count = 0;
  int64_t native_code = 0;
  const char* call = "";  // static
  std::string text;

  /// The record in the form of the C ABI.
  km_error_record info() const;
};

class ErrorHistory {
 public:
  /// `call` is static. The text is left out where there is no memory for it.
  void add(const char* call, km_status status, std::string_view text, int64_t native_code) noexcept;
  /// The newest first.
  std::vector<ErrorRecord> records() const;
  /// Statuses that occurred since the last clear(), in the order of their values.
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
