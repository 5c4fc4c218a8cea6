#include "dropin/cuda/graph/library_call.h"

#include <map>
#include <mutex>

#include "base/log.h"
#include "core/blas/blas.h"
#include "core/graph/graph_operation.h"

namespace km::dropin {
namespace {

/// The host function that stands for every call of a library. If a program calls it directly, it
/// only logs a warning, because only a graph can run the library's work.
void run_by_graphs_alone(void*) {
  log(LogLevel::kWarn, "cuda", "a captured call of a library was called outside of a graph");
}

/// Calls of libraries whose parameters programs have read.
class ReadCalls {
 public:
  void* note(const SharedWork& work) {
    const std::lock_guard lock(mutex_);
    if (calls_.size() >= 2 * live_ + kFew) {
      std::erase_if(calls_, [](const auto& entry) { return entry.second.expired(); });
      live_ = calls_.size();
    }
    calls_[work.get()] = work;
    return const_cast<GraphWork*>(work.get());
  }
  SharedWork find(const void* user_data) {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(static_cast<const GraphWork*>(user_data));
    return found == calls_.end() ? nullptr : found->second.lock();
  }

 private:
  static constexpr size_t kFew = 64;

  std::mutex mutex_;  // guards the members below
  std::map<const GraphWork*, std::weak_ptr<const GraphWork>> calls_;
  size_t live_ = 0;  // number of live entries at the last removal of ended ones
};

ReadCalls& read_calls() {
  static ReadCalls& made = *new ReadCalls;  // never destroyed: calls may come during exit
  return made;
}

const km::Context* context_of(const GraphWork& work) {
  if (const auto* const blas = work.as<BlasOperation>()) return &blas->engine->context();
  if (const auto* const call = work.as<LibraryOperation>()) return &call->holder->context();
  return work.as<TaskOperation>()->context;
}

}  // namespace

bool is_library_work(const GraphWork& work) {
  return work.as<BlasOperation>() != nullptr || work.as<LibraryOperation>() != nullptr ||
         work.as<TaskOperation>() != nullptr;
}

CUDA_HOST_NODE_PARAMS read_library_call(const SharedWork& work) {
  return {&run_by_graphs_alone, read_calls().note(work)};
}

bool is_library_call(CUhostFn function) { return function == &run_by_graphs_alone; }

CUresult library_call_of(const Context& context, const void* user_data, SharedWork* out) {
  SharedWork work = read_calls().find(user_data);
  if (work == nullptr) {
    return fail(CUDA_ERROR_INVALID_VALUE, "no node holds this call of a library any longer");
  }
  if (context_of(*work) != context.core().get()) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the call of a library belongs to another context");
  }
  *out = std::move(work);
  return CUDA_SUCCESS;
}

}  // namespace km::dropin
