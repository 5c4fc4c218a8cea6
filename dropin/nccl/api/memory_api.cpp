// Memory, its registration, and reductions of the program's own.
#include <cstring>
#include <utility>

#include "dropin/nccl/group/operation.h"

using namespace km;
using namespace km::nccl;

namespace {

/// Memory that a program has registered with a communicator.
struct Registration {
  Handle* owner;
  void* address;
};
/// A window of ncclCommWindowRegister: its id is of another kind than a registration's.
struct Window {
  Handle* owner;
  void* address;
};

/// The memory has to be one allocation's.
ncclResult_t check_memory(const void* address, size_t size_bytes) {
  const library::Driver* const driver = library::driver();
  if (driver == nullptr) return status_of(cu::CUDA_ERROR_NOT_INITIALIZED);
  cu::CUdeviceptr begin = 0;
  size_t there = 0;
  const auto place = reinterpret_cast<cu::CUdeviceptr>(address);
  const cu::CUresult found = driver->cuMemGetAddressRange_v2(&begin, &there, place);
  if (found == cu::CUDA_SUCCESS && size_bytes <= there - (place - begin)) return ncclSuccess;
  return invalid("%zu bytes at %p are not inside one allocation", size_bytes, address);
}

template <class T>
ncclResult_t add_registration(library::HandleKind kind, ncclComm_t comm, void* address,
                              size_t size_bytes, uint64_t* out) {
  const SharedHandle handle = find_handle(comm);
  if (handle == nullptr) return ncclInvalidArgument;
  std::shared_ptr<comm::Communicator> communicator;
  LIB_TRY(handle->get(&communicator));
  LIB_TRY(check_memory(address, size_bytes));
  *out = library::handle_map<T>().add(std::make_shared<T>(T{handle.get(), address}),
                                      library::handle_tag(kind, 2));
  return ncclSuccess;
}

template <class T>
std::shared_ptr<T> find_registration(ncclComm_t comm, const void* id) {
  const SharedHandle handle = find_handle(comm);
  const std::shared_ptr<T> found = library::handle_map<T>().find(reinterpret_cast<uint64_t>(id));
  return found == nullptr || handle == nullptr || found->owner != handle.get() ? nullptr : found;
}

template <class T>
ncclResult_t remove_registration(ncclComm_t comm, const void* id) {
  if (find_registration<T>(comm, id) == nullptr) {
    return invalid("%p is no registration of the communicator", id);
  }
  library::handle_map<T>().remove(reinterpret_cast<uint64_t>(id));
  return ncclSuccess;
}

}  // namespace

extern "C" {

ncclResult_t ncclMemAlloc(void** ptr, size_t size) {
  return call([&]() -> ncclResult_t {
    LIB_REQUIRE(ptr);
    if (size == 0) return give("ptr", ptr, static_cast<void*>(nullptr));  // as cudaMalloc does
    RankDevice device;
    LIB_TRY(current_device(&device));
    cu::CUdeviceptr address = 0;
    LIB_CHECK(library::driver()->cuMemAlloc_v2(&address, size));
    return give("ptr", ptr, reinterpret_cast<void*>(address));
  });
}

ncclResult_t ncclMemFree(void* ptr) {
  return call([&]() -> ncclResult_t {
    if (ptr == nullptr) return ncclSuccess;  // as cudaFree does
    const library::Driver* const driver = library::driver();
    if (driver == nullptr) return status_of(cu::CUDA_ERROR_NOT_INITIALIZED);
    LIB_CHECK(driver->cuMemFree_v2(reinterpret_cast<cu::CUdeviceptr>(ptr)));
    return ncclSuccess;
  });
}

ncclResult_t ncclCommRegister(const ncclComm_t comm, void* buff, size_t size, void** handle) {
  return call([&]() -> ncclResult_t {
    LIB_REQUIRE(handle);
    uint64_t id = 0;
    LIB_TRY(add_registration<Registration>(library::HandleKind::kNcclRegistration, comm, buff, size,
                                           &id));
    return give("handle", handle, reinterpret_cast<void*>(id));
  });
}

ncclResult_t ncclCommDeregister(const ncclComm_t comm, void* handle) {
  return call([&] { return remove_registration<Registration>(comm, handle); });
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* buff, size_t size, ncclWindow_t* win,
                                    [[maybe_unused]] int winFlags) {
  return call([&]() -> ncclResult_t {
    LIB_REQUIRE(win);
    uint64_t id = 0;
    LIB_TRY(add_registration<Window>(library::HandleKind::kNcclWindow, comm, buff, size, &id));
    return give("win", win, reinterpret_cast<ncclWindow_t>(id));
  });
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t win) {
  return call([&] { return remove_registration<Window>(comm, win); });
}

ncclResult_t ncclWinGetUserPtr(ncclComm_t comm, ncclWindow_t win, void** outUserPtr) {
  return call([&]() -> ncclResult_t {
    const std::shared_ptr<Window> found = find_registration<Window>(comm, win);
    if (found == nullptr) {
      return invalid("%p is no window of the communicator", static_cast<void*>(win));
    }
    return give("outUserPtr", outUserPtr, found->address);
  });
}

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t datatype,
                                      ncclScalarResidence_t residence, ncclComm_t comm) {
  return call([&]() -> ncclResult_t {
    LIB_REQUIRE(op);
    LIB_REQUIRE(scalar);
    OwnReduction own{};
    LIB_TRY(read_type(datatype, &own.type));
    if (residence == ncclScalarDevice) {
      own.device_scalar = scalar;
    } else if (residence != ncclScalarHostImmediate) {
      return invalid("there is no residence %d", static_cast<int>(residence));
    } else if (!library::read_host(own.scalar, scalar, comm::size_bytes(own.type))) {
      return invalid("scalar cannot be read at %p", scalar);
    }
    const SharedHandle handle = find_handle(comm);
    if (handle == nullptr) return ncclInvalidArgument;
    return give("op", op, handle->add_reduction(own));
  });
}

ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  return call([&]() -> ncclResult_t {
    const SharedHandle handle = find_handle(comm);
    if (handle == nullptr) return ncclInvalidArgument;
    if (handle->remove_reduction(op)) return ncclSuccess;
    return invalid("the communicator has no reduction %d of the program's own",
                   static_cast<int>(op));
  });
}

}  // extern "C"
