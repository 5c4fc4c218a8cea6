#include "dropin/cupti/activity/activity.h"

#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "dropin/cupti/activity/records.h"

namespace km::cupti {
namespace {

constexpr int32_t kOperationKinds[] = {CUPTI_ACTIVITY_KIND_KERNEL,
                                       CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                       CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};

/// True on a thread that is inside one of the program's functions for buffers.
bool& is_handing_over() {
  thread_local bool inside = false;
  return inside;
}

/// One of the program's buffers while records are written into it.
class Buffer {
 public:
  Buffer(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete)
      : complete_(complete) {
    request(&bytes_, &size_bytes_, &most_records_);
    if (bytes_ == nullptr) size_bytes_ = 0;
  }
  ~Buffer() {
    if (bytes_ != nullptr) complete_(nullptr, 0, bytes_, size_bytes_, used_bytes_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// False if the record finds no room.
  bool add(const std::vector<std::byte>& record) {
    if (record.size() > size_bytes_ - used_bytes_) return false;
    if (most_records_ != 0 && records_ == most_records_) return false;
    if (!library::write_host(bytes_ + used_bytes_, record.data(), record.size())) return false;
    used_bytes_ += record.size();
    ++records_;
    return true;
  }
  bool is_empty() const { return records_ == 0; }

 private:
  const CUpti_BuffersCallbackCompleteFunc complete_;
  uint8_t* bytes_ = nullptr;
  size_t size_bytes_ = 0, most_records_ = 0;
  size_t used_bytes_ = 0, records_ = 0;
};

}  // namespace

Activity& Activity::instance() {
  union Forever {
    Activity activity;
    Forever() : activity() {}
    ~Forever() {}  // threads of the engine may end work during exit
  };
  static Forever forever;
  return forever.activity;
}

bool Activity::follows_operations() const {
  for (const int32_t kind : kOperationKinds) {
    if (is_on(kind)) return true;
  }
  return false;
}

bool Activity::is_used() const {
  for (const std::atomic<bool>& each : is_on_) {
    if (each.load(std::memory_order_relaxed)) return true;
  }
  return false;
}

CUptiResult Activity::use_buffers(CUpti_BuffersCallbackRequestFunc request,
                                  CUpti_BuffersCallbackCompleteFunc complete) {
  if (request == nullptr || complete == nullptr) {
    return invalid("%s is null",
                   request == nullptr ? "funcBufferRequested" : "funcBufferCompleted");
  }
  const std::lock_guard lock(mutex_);
  request_ = request;
  complete_ = complete;
  start_worker();
  return CUPTI_SUCCESS;
}

void Activity::add(int32_t kind, const void* record, size_t size_bytes) {
  Record bytes(record_bytes(kind, cuda_major()));
  KM_ASSERT(size_bytes <= bytes.size(), "a record has the size of its kind");
  std::memcpy(bytes.data(), record, size_bytes);
  const std::lock_guard lock(mutex_);
  if (waiting_bytes_ > kMostBytes) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  waiting_bytes_ += bytes.size();
  waiting_.push_back(std::move(bytes));
  if (waiting_bytes_ > kManyBytes) changed_.notify_one();
}

std::deque<Activity::Record> Activity::take_waiting() {
  const std::lock_guard lock(mutex_);
  waiting_bytes_ = 0;
  return std::exchange(waiting_, {});
}

void Activity::flush() {
  if (is_handing_over()) return;
  const std::lock_guard order(handing_over_);
  std::deque<Record> records = take_waiting();
  if (!records.empty()) hand_over(records);
}

/// The caller must hold handing_over_.
void Activity::hand_over(std::deque<Record>& records) {
  CUpti_BuffersCallbackRequestFunc request;
  CUpti_BuffersCallbackCompleteFunc complete;
  {
    const std::lock_guard lock(mutex_);
    request = request_;
    complete = complete_;
  }
  if (request == nullptr) {
    dropped_.fetch_add(records.size(), std::memory_order_relaxed);
    return;
  }
  is_handing_over() = true;
  while (!records.empty()) {
    Buffer buffer(request, complete);
    while (!records.empty() && buffer.add(records.front())) records.pop_front();
    if (!buffer.is_empty()) continue;
    // A buffer in which no record fits: the program wants none.
    dropped_.fetch_add(records.size(), std::memory_order_relaxed);
    records.clear();
  }
  is_handing_over() = false;
}

void Activity::set_period(uint32_t period_ms) {
  const std::lock_guard lock(mutex_);
  period_ms_ = period_ms;
  changed_.notify_one();
}

/// The caller must hold the lock.
void Activity::start_worker() {
  if (has_worker_) return;
  has_worker_ = true;
  std::thread([this] { work(); }).detach();
}

void Activity::work() {
  constexpr uint32_t kIdleMs = 60'000;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      const auto period = std::chrono::milliseconds(period_ms_ != 0 ? period_ms_ : kIdleMs);
      const bool has_many =
          changed_.wait_for(lock, period, [&] { return waiting_bytes_ > kManyBytes; });
      if (!has_many && period_ms_ == 0) continue;
    }
    flush();
  }
}

const char* Activity::keep_name(const char* text) {
  const std::lock_guard lock(mutex_);
  return names_.emplace(text).first->c_str();
}

CUptiResult next_record(const uint8_t* buffer, size_t valid_bytes, CUpti_Activity** record) {
  const uint8_t* last = nullptr;
  if (!library::read_host(&last, record, sizeof last)) return invalid("record is not readable");
  size_t offset = 0;
  if (last != nullptr) {
    offset = static_cast<size_t>(last - buffer);
    int32_t kind = 0;
    if (last < buffer || offset >= valid_bytes || !library::read_host(&kind, last, sizeof kind) ||
        record_bytes(kind, cuda_major()) == 0) {
      return invalid("record is not one of the buffer");
    }
    offset += record_bytes(kind, cuda_major());
  }
  if (offset >= valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  const uint8_t* const next = buffer + offset;
  return library::write_host(record, &next, sizeof next) ? CUPTI_SUCCESS
                                                         : invalid("record is not writable");
}

}  // namespace km::cupti
