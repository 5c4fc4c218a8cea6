// Steps: operations that go into a stream one after the other, each in pieces.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "dropin/cudnn/engine/view.h"
#include "dropin/cudnn/frame/library.h"
#include "dropin/library/work.h"

namespace km::cudnn {

/// The memory that a step may access.
class Arrays {
 public:
  Arrays& reads(const char* name, const View& view) { return add(name, view, false); }
  Arrays& writes(const char* name, const View& view) { return add(name, view, true); }
  Arrays& memory(const char* name, const void* address, size_t size_bytes, bool is_written) {
    if (address != nullptr && size_bytes != 0) {
      list_.push_back(library::whole_array(name, address, size_bytes, is_written));
    }
    return *this;
  }
  std::span<const library::BlasArray> list() const { return list_; }

 private:
  Arrays& add(const char* name, const View& view, bool is_written) {
    if (view.owner != nullptr) return *this;
    return memory(name, view.data, static_cast<size_t>(view.span_bytes()), is_written);
  }
  std::vector<library::BlasArray> list_;
};

/// One operation and the memory that it may access.
struct QueuedStep {
  std::shared_ptr<const library::Work> work;
  Arrays arrays;
};

/// Collects the operations of this thread's calls in place of queuing them, while it exists.
class StepCollector {
 public:
  StepCollector() : outer_(std::exchange(current(), this)) {}
  ~StepCollector() { current() = outer_; }
  StepCollector(const StepCollector&) = delete;
  StepCollector& operator=(const StepCollector&) = delete;
  /// The thread's collector; null: there is none.
  static StepCollector*& current() noexcept {
    static thread_local StepCollector* collector = nullptr;
    return collector;
  }

  std::vector<QueuedStep> steps;

 private:
  StepCollector* const outer_;
};

/// Queues an operation in the stream, or hands it to the thread's collector.
inline cudnnStatus_t queue_step(cu::CUstream stream, std::shared_ptr<const library::Work> work,
                                const Arrays& arrays) {
  if (StepCollector* const collector = StepCollector::current()) {
    collector->steps.push_back({std::move(work), arrays});
    return CUDNN_STATUS_SUCCESS;
  }
  return status_of(library::submit(stream, std::move(work), arrays.list()));
}

/// Queues `run(piece, pieces)`, which returns nothing, for `units` equal units of work that take
/// about `unit_ns` each. Pieces get whole units.
template <class Run>
cudnnStatus_t submit_step(cu::CUstream stream, const char* name, const Arrays& arrays,
                          int64_t units, double unit_ns, Run run) {
  if (units == 0) return CUDNN_STATUS_SUCCESS;
  const auto most = static_cast<uint64_t>(library::worker_threads()) * 4;
  const uint64_t pieces = std::clamp<uint64_t>(static_cast<uint64_t>(units), 1, most);
  auto work =
      library::make_work(name, pieces, static_cast<uint64_t>(static_cast<double>(units) * unit_ns),
                         [run = std::move(run), pieces](uint64_t piece) {
                           run(piece, pieces);
                           return cu::CUDA_SUCCESS;
                         });
  return queue_step(stream, std::move(work), arrays);
}

}  // namespace km::cudnn
