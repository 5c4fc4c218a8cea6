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

Status CommGroup::add(Stream& stream, const Nccl& library) {
  if (library_ == nullptr) {
    const nccl_library::Status status = library.ncclGroupStart();
    if (status != nccl_library::kSuccess) {
      return nccl_error(library, "ncclGroupStart", status, nullptr);
    }
    library_ = &library;
  }
  streams_.push_back(stream.shared_from_this());
  stream.hold_tickets();
  return {};
}

void CommGroup::keep(Stream& stream, std::vector<std::unique_ptr<Memory>> scratch,
                     std::unique_ptr<ProfiledOperation> operation) {
  calls_.push_back({stream.shared_from_this(), std::move(scratch), std::move(operation)});
}

Status CommGroup::finish(bool is_cancelled) {
  Status ended;
  if (library_ != nullptr) {
    // NCCL has no way to drop a group but a call that fails.
    nccl_library::UniqueId none{};
    if (is_cancelled) {
      library_->ncclAllReduce(&none, &none, 1, nccl_library::kInt8, nccl_library::kSum, nullptr,
                              nullptr);
    }
    const nccl_library::Status status = library_->ncclGroupEnd();
    if (status != nccl_library::kSuccess && status != nccl_library::kInProgress && !is_cancelled) {
      ended = nccl_error(*library_, "ncclGroupEnd", status, nullptr);
    }
  }
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
