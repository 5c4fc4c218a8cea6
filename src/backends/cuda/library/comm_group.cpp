// Groups of calls that one thread makes for several streams.
#include <utility>

#include "backends/cuda/library/comm.h"
#include "base/thread/thread_object.h"

namespace km::cuda {
namespace {

struct OpenGroup {
  std::unique_ptr<CommGroup> group;
};

}  // namespace

CommGroup* CommGroup::open() {
  OpenGroup* const found = ThreadObject<OpenGroup>::find();
  return found == nullptr ? nullptr : found->group.get();
}

void CommGroup::begin() { ThreadObject<OpenGroup>::get().group = std::make_unique<CommGroup>(); }

Status CommGroup::end(bool is_cancelled) {
  const std::unique_ptr<CommGroup> ended = std::move(ThreadObject<OpenGroup>::get().group);
  return ended->finish(is_cancelled);
}

Result<NcclGroup> NcclGroup::begin(Comm& comm) {
  const nccl_library::Status status = comm.library().ncclGroupStart();
  if (status == nccl_library::kSuccess) return NcclGroup(comm.shared_from_this());
  return nccl_error(comm.library(), "ncclGroupStart", status, nullptr);
}

Status NcclGroup::end() {
  const std::shared_ptr<Comm> ended = std::move(comm_);
  const nccl_library::Status status = ended->library().ncclGroupEnd();
  if (status == nccl_library::kSuccess || status == nccl_library::kInProgress) return {};
  return nccl_error(ended->library(), "ncclGroupEnd", status, nullptr);
}

void NcclGroup::drop() {
  if (comm_ == nullptr) return;
  comm_->spoil_group();
  static_cast<void>(end());
}

Status CommGroup::add(Stream& stream, const char* call, Comm& comm) {
  if (!group_) {
    KM_ASSIGN(NcclGroup begun, NcclGroup::begin(comm));
    group_.emplace(std::move(begun));
  }
  streams_.reserve(streams_.size() + 1);
  stream.hold_tickets(call);
  streams_.push_back(stream.shared_from_this());
  return {};
}

void CommGroup::keep(Stream& stream, std::vector<std::unique_ptr<Memory>> scratch,
                     std::unique_ptr<ProfiledOperation> operation) {
  calls_.push_back({stream.shared_from_this(), std::move(scratch), std::move(operation)});
}

Status CommGroup::finish(bool is_cancelled) {
  Status ended;
  if (group_ && is_cancelled) group_->drop();
  if (group_ && !is_cancelled) ended = group_->end();
  for (const std::shared_ptr<Stream>& each : streams_) each->release_tickets();
  for (Call& each : calls_) {
    const Current current(*each.stream->epoch());
    each.operation.reset();
    free_scratch(*each.stream, each.stream->last_ticket(), std::move(each.scratch));
  }
  return ended;
}

km_status comm_group_begin(kmb_error* error) {
  return guarded(error, [&]() -> Status {
    CommGroup::begin();
    return {};
  });
}

km_status comm_group_end(int32_t is_cancelled, kmb_error* error) {
  return guarded(error, [&] { return CommGroup::end(is_cancelled != 0); });
}

}  // namespace km::cuda
