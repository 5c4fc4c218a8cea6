// Questions about communicators and the library, groups, errors.
#include <cstring>
#include <string>

#include "dropin/nccl/group/group.h"

using namespace km;
using namespace km::nccl;

namespace {

/// Gives a property of a communicator whose start has ended.
template <class T, class Read>
ncclResult_t give_property(ncclComm_t comm, const char* name, T* out, Read&& read) {
  const SharedHandle handle = find_handle(comm);
  if (handle == nullptr) return ncclInvalidArgument;
  const std::shared_ptr<comm::Communicator> communicator = handle->peek();
  if (communicator == nullptr) {
    const ncclResult_t state = handle->state();
    return state == ncclInProgress ? state : tell(handle->failure());
  }
  return give(name, out, read(*handle, *communicator));
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  return call([&] { return give("version", version, static_cast<int>(NCCL_VERSION_CODE)); });
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "a call of CUDA failed (KM_LOG=info,cuda tells which)";
    case ncclSystemError:
      return "a call of the system failed (KM_LOG=info,cuda tells which)";
    case ncclInternalError:
      return "internal error";
    case ncclInvalidArgument:
      return "invalid argument (KM_LOG=info,cuda tells which)";
    case ncclInvalidUsage:
      return "invalid usage (KM_LOG=info,cuda tells why)";
    case ncclRemoteError:
      return "another rank has failed or left";
    case ncclInProgress:
      return "the call is in progress";
    case ncclTimeout:
      return "a rank did not come within the time limit";
    default:
      return "unknown result code";
  }
}

const char* ncclGetLastError(ncclComm_t comm) {
  thread_local std::string text;
  text.clear();
  call([&] {
    const SharedHandle handle = comm == nullptr ? nullptr : find_handle(comm);
    if (handle != nullptr) text = handle->failure().text;
    if (text.empty()) text = frame::last_reason();
    return ncclSuccess;
  });
  return text.c_str();
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* asyncError) {
  return call([&]() -> ncclResult_t {
    const SharedHandle handle = find_handle(comm);
    if (handle == nullptr) return ncclInvalidArgument;
    return give("asyncError", asyncError, handle->state());
  });
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  return call([&] {
    return give_property(comm, "count", count, [](const Handle&, const comm::Communicator& each) {
      return static_cast<int>(each.ranks());
    });
  });
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  return call([&] {
    return give_property(
        comm, "device", device,
        [](const Handle& handle, const comm::Communicator&) { return handle.device().ordinal; });
  });
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  return call([&] {
    return give_property(comm, "rank", rank, [](const Handle&, const comm::Communicator& each) {
      return static_cast<int>(each.rank());
    });
  });
}

ncclResult_t ncclCommMemStats(ncclComm_t comm, ncclCommMemStat_t stat, uint64_t* value) {
  return call([&]() -> ncclResult_t {
    if (stat < ncclStatGpuMemSuspend || stat > ncclStatGpuMemTotal) {
      return invalid("there is no statistic %d", static_cast<int>(stat));
    }
    // Communicators have no memory of devices.
    return give_property(comm, "value", value,
                         [&](const Handle& handle, const comm::Communicator&) -> uint64_t {
                           return stat == ncclStatGpuMemSuspended && handle.is_suspended() ? 1 : 0;
                         });
  });
}

ncclResult_t ncclCommSuspend(ncclComm_t comm, int flags) {
  return call([&]() -> ncclResult_t {
    if (flags != static_cast<int>(NCCL_SUSPEND_MEM)) return invalid("flags is %d: it is 1", flags);
    const SharedHandle handle = find_handle(comm);
    return handle == nullptr ? ncclInvalidArgument : handle->suspend(true);
  });
}

ncclResult_t ncclCommResume(ncclComm_t comm) {
  return call([&]() -> ncclResult_t {
    const SharedHandle handle = find_handle(comm);
    return handle == nullptr ? ncclInvalidArgument : handle->suspend(false);
  });
}

ncclResult_t ncclGroupStart() {
  return call([] { return begin_group(); });
}

ncclResult_t ncclGroupEnd() {
  return call([] { return end_group(); });
}

ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t* simInfo) {
  return call([&]() -> ncclResult_t {
    constexpr unsigned kMagic = 0x74685283;
    ncclSimInfo_t info{};
    const bool is_read = simInfo == nullptr || library::read_host(simInfo, &info);
    if (!is_read || (simInfo != nullptr && info.magic != kMagic)) {
      return invalid("simInfo was not initialized by NCCL_SIM_INFO_INITIALIZER");
    }
    LIB_TRY(simulate_group(&info.estimatedTime));
    return simInfo == nullptr ? ncclSuccess : give("simInfo", simInfo, info);
  });
}

/// Programs set NCCL's own variables for logs; KM_LOG is read once.
void ncclResetDebugInit() {}

}  // extern "C"
