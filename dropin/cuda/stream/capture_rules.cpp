#include "dropin/cuda/stream/capture_rules.h"

#include "core/stream/stream_capture.h"

#include <algorithm>
#include <thread>

#include "base/assert.h"

namespace km::dropin {

using namespace cu;  // NOLINT

namespace {

struct Captured {
  Stream* stream;
  std::thread::id thread;
  CUstreamCaptureMode mode;

  bool is_mine() const { return thread == std::this_thread::get_id(); }
  /// True if the capture forbids unsafe calls on the calling thread.
  bool forbids(CUstreamCaptureMode own_mode) const {
    if (mode == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
    if (is_mine()) return true;
    return mode == CU_STREAM_CAPTURE_MODE_GLOBAL && own_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
  }
};

struct AllCaptured {
  std::mutex mutex;
  std::vector<Captured> list;
  std::atomic<size_t> count{0};  // mirrors the list's size so that most calls need no lock

  void remove(const Stream& stream) {
    KM_ASSERT(count.load(std::memory_order_relaxed) == list.size(), "the count matches the list");
    [[maybe_unused]] const size_t gone =
        std::erase_if(list, [&](const Captured& each) { return each.stream == &stream; });
    KM_ASSERT(gone <= 1, "a stream has one capture at a time");
    count.store(list.size(), std::memory_order_relaxed);
  }
};

AllCaptured& all() {
  static AllCaptured& made = *new AllCaptured;  // never destroyed: calls may come during exit
  return made;
}

}  // namespace

CUstreamCaptureMode& thread_capture_mode() {
  static thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return mode;
}

CUresult require_no_capture_of(const char* what) {
  AllCaptured& captured = all();
  if (captured.count.load(std::memory_order_relaxed) == 0) [[likely]]
    return CUDA_SUCCESS;
  const CUstreamCaptureMode mode = thread_capture_mode();
  if (mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  bool is_forbidden = false;
  const std::lock_guard lock(captured.mutex);
  for (const Captured& each : captured.list) {
    if (!each.forbids(mode) || !each.stream->core().is_capturing()) continue;
    is_forbidden = true;
    static_cast<void>(refuse_capture(each.stream->core(), "calling a function beside"));
  }
  if (!is_forbidden) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
              "%s is not possible while a stream is captured in another mode than relaxed; the "
              "capture is invalid now",
              what);
}

void note_capture_begin(Stream& stream, CUstreamCaptureMode mode) {
  AllCaptured& captured = all();
  const std::lock_guard lock(captured.mutex);
  captured.remove(stream);
  captured.list.push_back({&stream, std::this_thread::get_id(), mode});
  captured.count.store(captured.list.size(), std::memory_order_relaxed);
}

CUresult require_capturing_thread(const Stream& stream) {
  AllCaptured& captured = all();
  const std::lock_guard lock(captured.mutex);
  for (const Captured& each : captured.list) {
    if (each.stream != &stream || each.mode == CU_STREAM_CAPTURE_MODE_RELAXED || each.is_mine()) {
      continue;
    }
    return fail(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
                "the capture was begun by another thread, not in relaxed mode");
  }
  return CUDA_SUCCESS;
}

void note_capture_end(const Stream& stream) {
  AllCaptured& captured = all();
  if (captured.count.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(captured.mutex);
  captured.remove(stream);
}

}  // namespace km::dropin
