#include "dropin/nccl/communicator/start.h"

#include <climits>
#include <cstddef>
#include <thread>
#include <utility>

#include "base/thread/start_thread.h"
#include "comm/engine/workers.h"

namespace km::nccl {
namespace {

void run(const Start& start) {
  std::shared_ptr<comm::Communicator> made;
  comm::Failure failure =
      frame::run<comm::Failure>([&] { return start.make(&made); },
                                [](bool, const char* text) {
                                  return comm::make_failure(comm::FailureKind::kSystem, "%s", text);
                                });
  start.handle->finish_start(std::move(made), failure);
}

/// A start whose thread could not begin.
void refuse(const Start& start) {
  start.handle->finish_start(
      nullptr, comm::make_failure(comm::FailureKind::kSystem,
                                  "the system has no thread for the start of a communicator"));
}

}  // namespace

ncclResult_t run_starts(const std::vector<Start>& starts) {
  std::vector<std::thread> threads;
  for (size_t i = 1; i < starts.size(); ++i) {
    try {
      threads.emplace_back([&start = starts[i]] { run(start); });
    } catch (const std::system_error&) {
      refuse(starts[i]);
    }
  }
  if (!starts.empty()) run(starts[0]);
  for (std::thread& each : threads) each.join();
  for (const Start& each : starts) LIB_TRY(tell(each.handle->start_failure()));
  return ncclSuccess;
}

ncclResult_t run_in_background(Start start) {
  const SharedHandle handle = start.handle;
  if (!start_thread("km-nccl-start", comm::kThreadStackBytes, -1, [start] { run(start); }))
    refuse(start);
  return handle->state() == ncclInProgress ? ncclInProgress : tell(handle->start_failure());
}

ncclResult_t read_config(const ncclConfig_t* config, bool* out_is_blocking) {
  *out_is_blocking = true;
  if (config == nullptr) return ncclSuccess;
  // Older programs have shorter structures, whose first members are the same.
  constexpr size_t kLeastBytes = offsetof(ncclConfig_t, cgaClusterSize);
  struct Begin {
    size_t size;
    unsigned int magic, version;
    int blocking;
  } begin;
  if (!library::read_host(&begin, config, sizeof begin)) {
    return invalid("the configuration at %p cannot be read", static_cast<const void*>(config));
  }
  if (begin.magic != NCCL_API_MAGIC || begin.size < kLeastBytes) {
    return invalid("the configuration was not initialized by NCCL_CONFIG_INITIALIZER");
  }
  if (begin.blocking != INT_MIN && begin.blocking != 0 && begin.blocking != 1) {
    return invalid("blocking is %d: it is 0 or 1", begin.blocking);
  }
  *out_is_blocking = begin.blocking != 0;
  return ncclSuccess;
}

}  // namespace km::nccl
