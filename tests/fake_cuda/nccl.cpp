// A scripted NCCL that moves no data. Its groups are as NVIDIA's: a call with a wrong argument ends
// its group with an error that drops all, but one without a communicator leaves no trace.
#include "cuda/nccl.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "fake_cuda/nccl_control.h"

namespace km::nccl_library {

struct Communicator {
  int rank, ranks;
  bool is_aborted = false;
};

namespace {

constexpr std::chrono::seconds kPatience(20);  // no test hangs here

struct Library {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<Comm, std::shared_ptr<Communicator>> live;
  int64_t launched = 0;
  int left_to_meet = 0;
  bool are_splits_held = false;
  int64_t held_splits = 0;
};
Library& library() {
  static Library the;
  return the;
}

struct Group {
  int64_t depth = 0, operations = 0;
  Status failure = kSuccess;
};
thread_local Group t_group;

Comm add(int rank, int ranks) {
  auto made = std::make_shared<Communicator>(Communicator{rank, ranks});
  const Comm handle = made.get();
  library().live.emplace(handle, std::move(made));
  return handle;
}

Status end_group() {
  if (t_group.depth == 0) return kInvalidUsage;
  if (--t_group.depth != 0) return kSuccess;
  const Group ended = std::exchange(t_group, {});
  if (ended.failure != kSuccess) return ended.failure;
  const std::lock_guard lock(library().mutex);
  library().launched += ended.operations;
  return kSuccess;
}

/// Adds an operation to the thread's group, or to one of its own.
Status add_operation(Comm comm, bool is_good) {
  {
    const std::lock_guard lock(library().mutex);
    if (library().live.count(comm) == 0) return kInvalidArgument;
  }
  ++t_group.depth;
  if (is_good) ++t_group.operations;
  if (!is_good) t_group.failure = kInvalidArgument;
  const Status ended = end_group();
  return is_good ? ended : kInvalidArgument;
}

bool is_known(DataType type) { return type >= kInt8 && type <= kE5m2; }
bool has_rank(Comm comm, int rank) {
  const std::lock_guard lock(library().mutex);
  const auto found = library().live.find(comm);
  return found == library().live.end() || (rank >= 0 && rank < found->second->ranks);
}

void meet() {
  Library& all = library();
  std::unique_lock lock(all.mutex);
  if (all.left_to_meet == 0) return;
  if (--all.left_to_meet == 0) all.changed.notify_all();
  all.changed.wait_for(lock, kPatience, [&] { return all.left_to_meet == 0; });
}

Status end(Comm comm) {
  const std::lock_guard lock(library().mutex);
  const auto found = library().live.find(comm);
  if (found == library().live.end()) return kInvalidArgument;
  found->second->is_aborted = true;
  library().live.erase(found);
  library().changed.notify_all();
  return kSuccess;
}

}  // namespace
}  // namespace km::nccl_library

using namespace km::nccl_library;

extern "C" {

Status ncclGetVersion(int* out) {
  *out = 22809;
  return kSuccess;
}
const char* ncclGetLastError(Comm) { return ""; }
Status ncclGetUniqueId(UniqueId* out) {
  *out = {};
  return kSuccess;
}
Status ncclCommInitRank(Comm* out, int ranks, UniqueId, int rank) {
  const std::lock_guard lock(library().mutex);
  *out = add(rank, ranks);
  return kSuccess;
}
Status ncclCommSplit(Comm comm, int color, int, Comm* out, Data) {
  Library& all = library();
  std::unique_lock lock(all.mutex);
  const auto found = all.live.find(comm);
  if (found == all.live.end()) return kInvalidArgument;
  const std::shared_ptr<Communicator> parent = found->second;
  if (all.are_splits_held) {
    ++all.held_splits;
    all.changed.wait_for(lock, kPatience, [&] { return parent->is_aborted; });
    --all.held_splits;
    return parent->is_aborted ? kInternalError : kSystemError;
  }
  *out = color < 0 ? nullptr : add(parent->rank, parent->ranks);
  return kSuccess;
}
Status ncclCommAbort(Comm comm) { return end(comm); }
Status ncclCommDestroy(Comm comm) { return end(comm); }
Status ncclCommCount(Comm comm, int* out) {
  *out = comm->ranks;
  return kSuccess;
}
Status ncclCommUserRank(Comm comm, int* out) {
  *out = comm->rank;
  return kSuccess;
}
Status ncclCommGetAsyncError(Comm, Status* out) {
  *out = kSuccess;
  return kSuccess;
}
Status ncclGroupStart() {
  ++t_group.depth;
  return kSuccess;
}
Status ncclGroupEnd() { return end_group(); }
Status ncclAllGather(Data, Data, Size, DataType type, Comm comm, Stream) {
  return add_operation(comm, is_known(type));
}
Status ncclAllReduce(Data, Data, Size, DataType type, Reduction, Comm comm, Stream) {
  return add_operation(comm, is_known(type));
}
Status ncclBroadcast(Data, Data, Size, DataType type, int root, Comm comm, Stream) {
  meet();
  return add_operation(comm, is_known(type) && has_rank(comm, root));
}
Status ncclReduce(Data, Data, Size, DataType type, Reduction, int root, Comm comm, Stream) {
  return add_operation(comm, is_known(type) && has_rank(comm, root));
}
Status ncclReduceScatter(Data, Data, Size, DataType type, Reduction, Comm comm, Stream) {
  return add_operation(comm, is_known(type));
}
Status ncclSend(Data, Size, DataType type, int peer, Comm comm, Stream) {
  return add_operation(comm, is_known(type) && has_rank(comm, peer));
}
Status ncclRecv(Data, Size, DataType type, int peer, Comm comm, Stream) {
  return add_operation(comm, is_known(type) && has_rank(comm, peer));
}
Status ncclRedOpCreatePreMulSum(Reduction* out, Data, DataType, Residence, Comm) {
  *out = kSum;
  return kSuccess;
}
Status ncclRedOpDestroy(Reduction, Comm) { return kSuccess; }

int64_t fake_nccl_launched() {
  const std::lock_guard lock(library().mutex);
  return library().launched;
}
int64_t fake_nccl_depth() { return t_group.depth; }
int64_t fake_nccl_live() {
  const std::lock_guard lock(library().mutex);
  return static_cast<int64_t>(library().live.size());
}
void fake_nccl_meet(int threads) {
  const std::lock_guard lock(library().mutex);
  library().left_to_meet = threads;
}
void fake_nccl_hold_splits(int are_held) {
  const std::lock_guard lock(library().mutex);
  library().are_splits_held = are_held != 0;
}
int64_t fake_nccl_held_splits() {
  const std::lock_guard lock(library().mutex);
  return library().held_splits;
}

}  // extern "C"
