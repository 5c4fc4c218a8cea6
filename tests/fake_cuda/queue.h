// The work of one stream: done at once or, with KM_FAKE_CUDA=async, on a thread of the stream's
// own.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "fake_cuda/state.h"

namespace km::cu {

bool is_async();

struct Work {
  std::function<CUresult(Context&)> run;
  /// Runs in a context that failed, too; without the driver's lock, because it may wait.
  bool is_mark = false;
  /// Of an event, which is over together with the stream's work before it.
  bool is_record = false;
  CUhostFn function = nullptr;  // of the host, instead of `run`
  void* user_data = nullptr;
};

class Queue : public std::enable_shared_from_this<Queue> {
 public:
  static std::shared_ptr<Queue> create(Context& context);

  /// What is done at once tells its result; a fatal one sticks to the context in any case.
  CUresult submit(Work work);
  bool is_idle();
  /// Not with the driver's lock.
  void wait();
  /// The thread ends when the work is done.
  void close();
  /// What has not begun is dropped.
  void abandon();

  /// From now on work is noted, not done.
  void begin_capture();
  bool is_capturing();
  std::vector<Work> end_capture();

 private:
  explicit Queue(Context& context) : context_(context) {}
  CUresult run(const Work& work);
  void loop();

  Context& context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> work_;
  std::vector<Work> captured_;
  bool is_busy_ = false, is_closed_ = false, is_capturing_ = false;
};

void do_memory_ops(const std::vector<CUstreamBatchMemOpParams>& ops);
CUresult check_memory_ops(const std::vector<CUstreamBatchMemOpParams>& ops);

/// Null and a misuse where there is no such stream.
std::shared_ptr<Queue> find_queue(CUstream stream);
/// The same, or the result to return.
#define KM_FAKE_QUEUE(stream)                              \
  const std::shared_ptr<Queue> queue = find_queue(stream); \
  if (!queue) return CUDA_ERROR_INVALID_HANDLE

/// Waits for all streams of a device.
void wait_for_device(int device);

}  // namespace km::cu
