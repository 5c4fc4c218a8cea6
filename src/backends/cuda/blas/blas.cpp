#include "backends/cuda/blas/blas.h"

#include <algorithm>

#include "backend/blas_operations.h"
#include "backends/cuda/blas/blas_call.h"
#include "backends/cuda/driver/let_go.h"
#include "backends/cuda/stream/capture.h"
#include "base/memory/host_allocator.h"

namespace km::cuda {
namespace {

// The workspace sizes that NVIDIA recommends: from compute capability 9.0 on, and for older GPUs.
constexpr uint64_t kWorkspaceBytes = uint64_t{32} << 20, kSmallWorkspaceBytes = uint64_t{4} << 20;

Blas* from(kmb_blas* blas) { return reinterpret_cast<Blas*>(blas); }

const char* profile_name(const kmb_blas_call& call) {
  static constexpr struct {
    const char* of_type[4];
  } kNames[] = {
#define KMB_BLAS(routine, s, d, c, z, cublas_s, cublas_d, cublas_c, cublas_z) {{#s, #d, #c, #z}},
#include "backend/blas.def"
#undef KMB_BLAS
  };
  if (call.type == KM_DATA_TYPE_F16) return "hgemm";
  if (call.type == KM_DATA_TYPE_BF16) return "bgemm";
  return kNames[call.routine].of_type[call.type - KM_DATA_TYPE_F32];
}

Status set_stream(Epoch& epoch, const Cublas& library, BlasHandle& handle, cu::CUstream stream) {
  if (handle.stream == stream) return {};
  KM_TRY(
      check_blas(epoch, {library.cublasSetStream_v2(handle.handle, stream), "cublasSetStream_v2"}));
  handle.stream = stream;
  return {};
}

}  // namespace

Blas::~Blas() {
  if (handle_.handle != nullptr) give_blas_handle(*epoch_, handle_);
}

Status Blas::prepare() {
  const Result<const Cublas*> library = Cublas::instance();
  if (!library) return {};
  Result<BlasHandle> taken = take_blas_handle(*epoch_, **library);
  if (taken) handle_ = *taken;
  return epoch_->require_alive();
}

kmb_use Blas::last_use() const { return {to(last_stream_.get()), last_ticket_}; }

/// Calls of one stream share one buffer, because they run one after the other.
Result<uint64_t> Blas::scratch(Stream& stream, uint64_t size_bytes) {
  if (scratch_ && scratch_bytes_ >= size_bytes && last_stream_.get() == &stream) {
    return scratch_->info().address;
  }
  const auto kind = epoch_->gpu().has_pools() ? Memory::Kind::pool : Memory::Kind::device;
  auto made = std::make_unique<Memory>(epoch_, kind, size_bytes);
  KM_TRY(made->allocate(&stream, false));
  if (scratch_) {
    const kmb_use last = last_use();
    memory_destroy(reinterpret_cast<kmb_memory*>(scratch_.release()), &last,
                   last.stream != nullptr ? 1 : 0);
  }
  scratch_ = std::move(made);
  scratch_bytes_ = size_bytes;
  return scratch_->info().address;
}

Status Blas::submit(Stream& stream, const kmb_blas_call& call) {
  KM_ASSIGN(const Cublas* const library, Cublas::instance());
  const std::lock_guard lock(mutex_);
  if (handle_.handle == nullptr) {
    KM_ASSIGN(handle_, take_blas_handle(*epoch_, *library));
  }
  KM_TRY(set_stream(*epoch_, *library, handle_, stream.handle()));
  const auto place = [&](uint64_t size_bytes) { return scratch(stream, size_bytes); };
  const Status queued = queue_blas(*epoch_, *library, handle_, call, place);
  // The stream is recorded even after a failure, because a part of the call may be queued.
  last_stream_ = stream.shared_from_this();
  last_ticket_ = stream.last_ticket() + 1;
  return queued;
}

Result<std::unique_ptr<Memory>> GraphBlas::allocate(uint64_t size_bytes) {
  const auto kind = epoch_->gpu().has_pools() ? Memory::Kind::pool : Memory::Kind::device;
  auto made = std::make_unique<Memory>(epoch_, kind, size_bytes);
  KM_TRY(made->allocate(nullptr, false));
  return made;
}

Status GraphBlas::add_workspace() {
  KM_ASSIGN(const int major,
            epoch_->gpu().attribute(cu::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  KM_ASSIGN(std::unique_ptr<Memory> memory,
            allocate(major >= 9 ? kWorkspaceBytes : kSmallWorkspaceBytes));
  workspaces_.push_back({std::move(memory), 0});
  return {};
}

Status GraphBlas::add_node(uint64_t index, std::span<const uint32_t> dependencies, bool has_call) {
  Place& place = places_.emplace_back();
  if (workspaces_.empty() && !has_call) return {};
  place.before.resize(workspaces_.size());
  for (const uint32_t before : dependencies) {
    const Place& other = places_[before];
    for (size_t i = 0; i < other.before.size(); ++i) {
      place.before[i] = std::max(place.before[i], other.before[i]);
    }
    if (other.workspace == UINT32_MAX) continue;
    place.before[other.workspace] = std::max(place.before[other.workspace], before + 1);
  }
  if (!has_call) return {};
  uint32_t chosen = 0;
  while (chosen < workspaces_.size() && place.before[chosen] != workspaces_[chosen].last) ++chosen;
  if (chosen == workspaces_.size()) KM_TRY(add_workspace());
  workspaces_[chosen].last = static_cast<uint32_t>(index + 1);
  place.workspace = chosen;
  return {};
}

Result<uint64_t> GraphBlas::scratch(Place& place, uint64_t size_bytes) {
  if (place.scratch_bytes < size_bytes) {
    KM_ASSIGN(std::unique_ptr<Memory> memory, allocate(size_bytes));
    place.scratch_address = memory->info().address;
    place.scratch_bytes = size_bytes;
    scratch_.push_back(std::move(memory));
  }
  return place.scratch_address;
}

Status GraphBlas::record(Place& place, cu::CUstream stream, const kmb_blas_call& call) {
  KM_ASSIGN(const Cublas* const library, Cublas::instance());
  KM_ASSIGN(BlasHandle handle, take_blas_handle(*epoch_, *library));
  Status done = set_stream(*epoch_, *library, handle, stream);
  if (done) {
    const Memory& memory = *workspaces_[place.workspace].memory;
    const kmb_memory_info info = memory.info();
    done = check_blas(
        *epoch_, {library->cublasSetWorkspace_v2(
                      handle.handle, reinterpret_cast<cublas::Data>(info.address), info.size_bytes),
                  "cublasSetWorkspace_v2"});
  }
  const auto scratch_place = [&](uint64_t size_bytes) { return scratch(place, size_bytes); };
  if (done) done = queue_blas(*epoch_, *library, handle, call, scratch_place);
  // cuBLAS drops a handle's workspace when the handle gets another stream.
  give_blas_handle(*epoch_, handle);
  return done;
}

Status GraphBlas::capture(uint64_t index, const kmb_blas_call& call, cu::CUgraph* out_graph) {
  return capture_work(
      *epoch_, [&](cu::CUstream stream) { return record(places_[index], stream, call); },
      out_graph);
}

km_status blas_create(kmb_context* context, kmb_blas** out_blas, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(std::shared_ptr<Epoch> epoch, live_epoch(context));
    const Current current(*epoch);
    KM_TRY(require_current(*epoch, current));
    auto made = std::make_unique<Blas>(std::move(epoch));
    KM_TRY(made->prepare());
    *out_blas = reinterpret_cast<kmb_blas*>(made.release());
    return {};
  });
}

void blas_destroy(kmb_blas* handle) {
  const HostMemoryNeeded needed;  // the caller cannot handle a lack of memory
  std::shared_ptr<Blas> blas = share(std::unique_ptr<Blas>(from(handle)));
  const kmb_use last{to(blas->last_stream().get()), blas->last_ticket()};
  when_over(std::span(&last, last.stream != nullptr ? 1 : 0), [blas]() mutable { blas.reset(); });
}

km_status blas_submit(kmb_blas* blas, kmb_stream* stream, const kmb_blas_call* call,
                      uint64_t* out_ticket, kmb_error* error) {
  return enqueue(stream, out_ticket, error, [&](Stream& target) {
    ProfiledOperation operation(target.profile(), target.epoch(), target.handle(),
                                KM_PROFILE_KIND_KERNEL, to(&target), 0, profile_name(*call));
    operation.set_operations(blas_operations(*call));
    return from(blas)->submit(target, *call);
  });
}

}  // namespace km::cuda
