// Memory and events shared with other processes of this machine.
#include <cstring>

#include "dropin/cuda/ipc/ipc.h"
#include "dropin/cuda/stream/stream.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

template <class Given>
IpcHandle read_handle(const Given& given) {
  IpcHandle handle;
  std::memcpy(&handle, given.reserved, sizeof handle);
  return handle;
}

template <class Wanted>
void write_handle(const IpcHandle& handle, Wanted* out) {
  *out = {};
  std::memcpy(out->reserved, &handle, sizeof handle);
}

CUresult share_memory(CUipcMemHandle* out, CUdeviceptr address) {
  CU_REQUIRE(out);
  CU_CURRENT(context);
  static_cast<void>(context);
  uint64_t begin = 0;
  Allocation found;
  if (!Driver::instance().find(address, &begin, &found) || found.kind != AllocationKind::kDevice ||
      found.pool_id != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "0x%llx is not in memory of cuMemAlloc: only that can be shared by a handle",
                address);
  }
  CU_ASSIGN(const kmb_shared_memory shared, found.memory->share());
  IpcHandle handle;
  CU_TRY(describe_file(shared.file, kIpcMemory, &handle));
  handle.offset_bytes = shared.offset_bytes;
  handle.size_bytes = found.size_bytes;
  write_handle(handle, out);
  return CUDA_SUCCESS;
}

CUresult open_memory(CUdeviceptr* out, const CUipcMemHandle& given, unsigned flags) {
  CU_REQUIRE(out);
  CU_CURRENT(context);
  if ((flags & ~unsigned{CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS}) != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u", flags);
  }
  return ImportedMemory::instance().open(*context, read_handle(given), out);
}

}  // namespace

extern "C" {

CUresult cuIpcGetMemHandle(CUipcMemHandle* out, CUdeviceptr address) {
  return guard(__func__, [&] { return share_memory(out, address); });
}

CUresult cuIpcOpenMemHandle(CUdeviceptr* out, CUipcMemHandle handle, unsigned int flags) {
  return guard(__func__, [&] { return open_memory(out, handle, flags); });
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* out, CUipcMemHandle handle, unsigned int flags) {
  return guard(__func__, [&] { return open_memory(out, handle, flags); });
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    static_cast<void>(context);
    return ImportedMemory::instance().close(address);
  });
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* out, CUevent event_handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_GET(Event, event, event_handle);
    if (event->shared() == nullptr) {
      return fail(CUDA_ERROR_INVALID_VALUE,
                  "the event was made without CU_EVENT_INTERPROCESS, which shared ones need");
    }
    IpcHandle handle;
    CU_TRY(event->shared()->handle(&handle));
    write_handle(handle, out);
    return CUDA_SUCCESS;
  });
}

CUresult cuIpcOpenEventHandle(CUevent* out, CUipcEventHandle given) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_CURRENT(context);
    std::unique_ptr<SharedMarks> marks;
    CU_TRY(SharedMarks::import(*context, read_handle(given), &marks));
    Ref<dropin::Event> event;
    CU_TRY(
        dropin::Event::create(*context, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING, &event));
    event->share(std::move(marks));
    return publish_in(*context, std::move(event), out);
  });
}

}  // extern "C"

}  // namespace km::cu
