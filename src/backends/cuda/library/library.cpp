#include "backends/cuda/library/library.h"

#include "backends/cuda/library/comm.h"
#include "backends/cuda/stream/capture.h"

namespace km::cuda {
namespace {

Result<std::unique_ptr<Memory>> allocate(const std::shared_ptr<Epoch>& epoch, Stream* stream,
                                         uint64_t size_bytes) {
  const auto kind = epoch->gpu().has_pools() ? Memory::Kind::pool : Memory::Kind::device;
  auto made = std::make_unique<Memory>(epoch, kind, size_bytes);
  KM_TRY(made->allocate(stream, false));
  return made;
}

}  // namespace

Status queue_library(const LibraryTarget& target, const kmb_library_call& call) {
  switch (call.kind) {
    case KMB_LIBRARY_FFT:
      return queue_fft(target, call.fft);
    case KMB_LIBRARY_SPARSE:
      return queue_sparse(target, call.sparse);
    case KMB_LIBRARY_SOLVE:
      return queue_solve(target, call.name, call.solve);
    case KMB_LIBRARY_COMM:
      return queue_comm(target, call.name, call.comm);
  }
  return make_error(KM_ERROR_NOT_SUPPORTED, "the cuda backend has no library of kind %d",
                    static_cast<int>(call.kind));
}

GraphLibraries::~GraphLibraries() = default;

Status GraphLibraries::capture(const kmb_library_call& call, cu::CUgraph* out_graph) {
  const BlasScratch scratch = [&](uint64_t size_bytes) -> Result<uint64_t> {
    KM_ASSIGN(std::unique_ptr<Memory> memory, allocate(epoch_, nullptr, size_bytes));
    scratch_.push_back(std::move(memory));
    return scratch_.back()->info().address;
  };
  for (uint64_t i = 0; call.kind == KMB_LIBRARY_COMM && i < call.comm.count; ++i) {
    comms_.push_back(from(call.comm.operations[i].comm)->shared_from_this());
  }
  return capture_work(
      *epoch_, [&](cu::CUstream stream) { return queue_library({*epoch_, stream, scratch}, call); },
      out_graph);
}

void free_scratch(Stream& stream, uint64_t ticket, std::vector<std::unique_ptr<Memory>> scratch) {
  const kmb_use last{to(&stream), ticket};
  for (std::unique_ptr<Memory>& memory : scratch) {
    memory_destroy(reinterpret_cast<kmb_memory*>(memory.release()), &last, 1);
  }
}

km_status library_submit(kmb_stream* stream, const kmb_library_call* call, uint64_t* out_ticket,
                         kmb_error* error) {
  return enqueue(stream, out_ticket, error, [&](Stream& target) {
    auto operation =
        std::make_unique<ProfiledOperation>(target.profile(), target.epoch(), target.handle(),
                                            KM_PROFILE_KIND_KERNEL, to(&target), 0, call->name);
    std::vector<std::unique_ptr<Memory>> used;
    const BlasScratch scratch = [&](uint64_t size_bytes) -> Result<uint64_t> {
      KM_ASSIGN(std::unique_ptr<Memory> memory, allocate(target.epoch(), &target, size_bytes));
      used.push_back(std::move(memory));
      return used.back()->info().address;
    };
    Status queued = queue_library({*target.epoch(), target.handle(), scratch, &target}, *call);
    // A part of the call may be queued even after a failure, so that its memory waits for it.
    CommGroup* const group = CommGroup::open();
    if (group != nullptr) {
      group->keep(target, std::move(used), std::move(operation));
    } else {
      free_scratch(target, target.last_ticket() + 1, std::move(used));
    }
    return queued;
  });
}

}  // namespace km::cuda
