#include "dropin/nccl/group/group.h"

#include <utility>

#include "comm/operation/exchange.h"
#include "dropin/nccl/group/submit.h"

namespace km::nccl {
namespace {

constexpr float kBytesPerUs = 5000;  // of the estimate: about a core's copies

struct Group {
  int depth = 0;
  ncclResult_t result = ncclSuccess;  // the first failure of a call
  std::vector<Request> requests;
  std::vector<Start> starts;
};
thread_local Group group;

/// Ends a level of the group; the outermost one's calls are given to the caller.
ncclResult_t leave(Group* out) {
  if (group.depth == 0) return misused("there is no group: ncclGroupStart begins one");
  if (--group.depth == 0) *out = std::exchange(group, Group{});
  return ncclSuccess;
}

/// Ends what waits for the end of a group that has failed.
ncclResult_t drop(const Group& ended) {
  for (const Start& each : ended.starts) {
    each.handle->defer_start(false);
    each.handle->finish_start(nullptr, comm::make_failure(comm::FailureKind::kArgument,
                                                          "the group of its start has failed"));
  }
  return ended.result;
}

ncclResult_t run_all_starts(std::vector<Start> starts) {
  std::vector<Start> blocking;
  ncclResult_t result = ncclSuccess;
  for (Start& each : starts) {
    each.handle->defer_start(false);
    if (each.handle->is_blocking()) {
      blocking.push_back(std::move(each));
    } else {
      result = run_in_background(std::move(each));
    }
  }
  LIB_TRY(run_starts(blocking));
  return result;
}

}  // namespace

bool is_in_group() noexcept { return group.depth != 0; }

ncclResult_t begin_group() noexcept {
  ++group.depth;
  return ncclSuccess;
}

ncclResult_t note_in_group(ncclResult_t result) noexcept {
  if (group.depth != 0 && group.result == ncclSuccess && result != ncclInProgress) {
    group.result = result;
  }
  return result;
}

ncclResult_t end_group() {
  Group ended;
  LIB_TRY(leave(&ended));
  if (ended.result != ncclSuccess) return drop(ended);
  const ncclResult_t started = run_all_starts(std::move(ended.starts));
  if (started != ncclSuccess && started != ncclInProgress) return started;
  LIB_TRY(submit(ended.requests));
  return started;
}

ncclResult_t simulate_group(float* out_us) {
  Group ended;
  LIB_TRY(leave(&ended));
  if (ended.result != ncclSuccess || !ended.starts.empty()) return drop(ended);
  uint64_t bytes = 0;
  for (const Request& each : ended.requests) {
    bytes += comm::written_bytes(each.operation.call, each.communicator->ranks());
  }
  *out_us = static_cast<float>(bytes) / kBytesPerUs;
  return ncclSuccess;
}

ncclResult_t request(Request request) {
  if (is_in_group()) {
    group.requests.push_back(std::move(request));
    return ncclSuccess;
  }
  return submit({std::move(request)});
}

ncclResult_t start(Start start) {
  if (is_in_group()) {
    start.handle->defer_start(true);
    group.starts.push_back(std::move(start));
    return ncclSuccess;
  }
  return start.handle->is_blocking() ? run_starts({std::move(start)})
                                     : run_in_background(std::move(start));
}

}  // namespace km::nccl
