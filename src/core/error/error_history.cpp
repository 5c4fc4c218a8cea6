#include "core/error/error_history.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/assert.h"
#include "base/thread/clock.h"
#include "core/error/status.h"

namespace km {
namespace {

constexpr size_t kTextBytes = sizeof km_error_record::message - 1;

/// Truncates the text to the size of a record, without splitting a UTF-8 character.
std::string_view cut(std::string_view text) {
  size_t size = std::min(text.size(), kTextBytes);
  while (size < text.size() && size > 0 && (text[size] & 0xC0) == 0x80) --size;
  return text.substr(0, size);
}

}  // namespace

km_error_record ErrorRecord::info() const {
  km_error_record info{};
  info.status = status;
  info.id = id;
  info.time_ns = first_ns;
  info.last_time_ns = last_ns;
  info.count = count;
  info.native_code = native_code;
  const StatusText* known = status_text(status);
  info.category = known != nullptr ? known->category : KM_ERROR_CATEGORY_NONE;
  std::strncpy(info.call, call, sizeof info.call - 1);
  KM_ASSERT(text.size() < sizeof info.message, "a record's text was cut when it was kept");
  std::memcpy(info.message, text.data(), text.size());
  return info;
}

void ErrorHistory::add(const char* call, km_status status, std::string_view text,
                       int64_t native_code) noexcept {
  const std::string_view kept = cut(text);
  const int64_t now = wall_clock_ns();
  const std::lock_guard lock(mutex_);
  count(status, now);
  ErrorRecord& newest = ring_[last_id_ % ring_.size()];
  if (last_id_ > cleared_id_ && newest.status == status && newest.native_code == native_code &&
      std::strcmp(newest.call, call) == 0 && newest.text == kept) {
    newest.last_ns = now;
    ++newest.count;
    return;
  }
  ErrorRecord& next = ring_[++last_id_ % ring_.size()];
  next.id = last_id_;
  next.status = status;
  next.first_ns = next.last_ns = now;
  next.count = 1;
  next.native_code = native_code;
  next.call = call;
  try {
    next.text.assign(kept);
  } catch (const std::bad_alloc&) {
    next.text.clear();
  }
}

void ErrorHistory::count(km_status status, int64_t now_ns) {
  km_error_count* const end = counts_.data() + count_size_;
  km_error_count* at = std::find_if(
      counts_.data(), end, [status](const km_error_count& one) { return one.status == status; });
  if (at == end) {
    if (count_size_ == counts_.size()) return;  // cannot happen: there is room for every status
    ++count_size_;
    const StatusText* known = status_text(status);
    *at = {status, known != nullptr ? known->category : KM_ERROR_CATEGORY_NONE, 0, 0};
  }
  ++at->count;
  at->last_time_ns = now_ns;
}

std::vector<ErrorRecord> ErrorHistory::records() const {
  std::vector<ErrorRecord> found;
  const std::lock_guard lock(mutex_);
  KM_ASSERT(cleared_id_ <= last_id_, "a cleared error was recorded before");
  const uint64_t size = std::min<uint64_t>(last_id_ - cleared_id_, ring_.size());
  for (uint64_t back = 0; back < size; ++back) {
    found.push_back(ring_[(last_id_ - back) % ring_.size()]);
  }
  return found;
}

std::vector<km_error_count> ErrorHistory::counts() const {
  const std::lock_guard lock(mutex_);
  std::vector<km_error_count> found(counts_.begin(), counts_.begin() + count_size_);
  std::sort(found.begin(), found.end(),
            [](const km_error_count& a, const km_error_count& b) { return a.status < b.status; });
  return found;
}

void ErrorHistory::clear() {
  const std::lock_guard lock(mutex_);
  cleared_id_ = last_id_;
  count_size_ = 0;
}

}  // namespace km
