// Events that several processes record and wait for.
#include "base/arch/constants.h"
#include "base/assert.h"
#include "core/queue/memory_ops.h"
#include "dropin/cuda/ipc/ipc.h"

namespace km::dropin {

using namespace cu;  // NOLINT

namespace {

constexpr uint64_t kPageBytes = arch::kMostPageBytes;
constexpr uint64_t kSlots = 500;

}  // namespace

/// Record n uses slot n modulo kSlots. Two records of one slot complete in order, because the
/// stream of the later one waits for the earlier one.
struct SharedMarks::Page {
  std::atomic<uint64_t> last;  // number of the latest record; 0: none yet
  std::atomic<uint64_t> slots[kSlots];
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

SharedMarks::SharedMarks(File file, Ref<km::Memory> memory, bool is_own)
    : file_(std::move(file)), memory_(std::move(memory)), is_own_(is_own) {
  static_assert(sizeof(Page) <= kPageBytes);
  KM_ASSERT(memory_->size_bytes() == kPageBytes, "the marks are one page");
}

CUresult SharedMarks::create(Context& context, std::unique_ptr<SharedMarks>* out) {
  Result<File> file = create_shared_memory_file("kernelmill-event", kPageBytes);
  if (!file) {
    return fail(CUDA_ERROR_OUT_OF_MEMORY, "cannot create memory for an event to be shared");
  }
  Ref<km::Memory> memory;
  CU_TRY(map_shared(context, *file, kPageBytes, 0, kPageBytes, &memory));
  out->reset(new SharedMarks(std::move(*file), std::move(memory), true));
  return CUDA_SUCCESS;
}

CUresult SharedMarks::import(Context& context, const IpcHandle& handle,
                             std::unique_ptr<SharedMarks>* out) {
  File file(-1);
  CU_TRY(open_file_of(handle, kIpcEvent, &file));
  if (handle.file_size_bytes != kPageBytes) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the handle is not of this version of the library");
  }
  Ref<km::Memory> memory;
  CU_TRY(map_shared(context, file, kPageBytes, 0, kPageBytes, &memory));
  out->reset(new SharedMarks(std::move(file), std::move(memory), false));
  return CUDA_SUCCESS;
}

SharedMarks::Page& SharedMarks::page() const {
  return *reinterpret_cast<Page*>(memory_->address());
}

uint64_t SharedMarks::address_of(uint64_t number) const {
  return reinterpret_cast<uint64_t>(&page().slots[number % kSlots]);
}

/// Queues a wait for record `waited_for` and a write of record `written`; 0 omits either.
CUresult SharedMarks::queue(km::Stream& stream, uint64_t waited_for, uint64_t written) {
  KM_ASSERT(written == 0 || waited_for < written, "a record waits for earlier ones only");
  MemoryOp ops[2];
  size_t count = 0;
  const auto add = [&](kmb_memory_op_kind kind, uint64_t number) {
    if (number == 0) return;
    ops[count] = {{memory_.get(), address_of(number)}, kind, sizeof number, number};
    count += 1;
  };
  add(KMB_MEMORY_WAIT_GEQ, waited_for);
  add(KMB_MEMORY_WRITE, written);
  if (count == 0) return CUDA_SUCCESS;
  CU_CHECK(queue_memory_ops(stream, {ops, count}));
  return CUDA_SUCCESS;
}

CUresult SharedMarks::record(km::Stream& stream) {
  const uint64_t number = page().last.fetch_add(1) + 1;
  const CUresult queued = queue(stream, number > kSlots ? number - kSlots : 0, number);
  if (queued != CUDA_SUCCESS) {
    // A record that could not be queued is marked complete, so that nobody waits for it forever.
    // The slot may already hold a later record's number, which must not decrease.
    std::atomic<uint64_t>& slot = page().slots[number % kSlots];
    uint64_t found = slot.load();
    while (found < number && !slot.compare_exchange_weak(found, number)) {
    }
  }
  return queued;
}

CUresult SharedMarks::wait(km::Stream& stream) { return queue(stream, page().last.load(), 0); }

bool SharedMarks::is_complete() const {
  const uint64_t number = page().last.load();
  return number == 0 || page().slots[number % kSlots].load() >= number;
}

CUresult SharedMarks::handle(IpcHandle* out) const {
  if (!is_own_) {
    return fail(CUDA_ERROR_INVALID_HANDLE, "the event is of another process, which shares it");
  }
  return describe_file(file_.get(), kIpcEvent, out);
}

}  // namespace km::dropin
