// Handles of the library's parts, and other objects of programs.
#pragma once

#include <atomic>
#include <memory>

#include "dropin/cusolver/frame/status.h"
#include "dropin/cusolver/version/version.h"

namespace km::cusolver {

using library::HandleKind;

/// The settings that all parts' handles have. The stream belongs to the program; the context is the
/// one that was current at the handle's creation.
struct Handle {
  const Driver* driver = nullptr;
  cu::CUcontext context = nullptr;
  std::atomic<cu::CUstream> stream{nullptr};
};

/// A cusolverDnHandle_t. Nothing is emulated and all results are deterministic, so that the modes
/// are only kept.
struct DnHandle : Handle {
  static constexpr HandleKind kKind = HandleKind::kCusolverDn;
  std::atomic<int> deterministic_mode{CUSOLVER_DETERMINISTIC_RESULTS};
  std::atomic<int> math_mode{CUSOLVER_DEFAULT_MATH};
  std::atomic<int> emulation_strategy{CUBLAS_EMULATION_STRATEGY_DEFAULT};
  std::atomic<int> special_values{CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT};
  std::atomic<int> mantissa_control{CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC};
  std::atomic<int> most_mantissa_bits{0};
  std::atomic<int> mantissa_bit_offset{0};
};
/// A cusolverSpHandle_t.
struct SpHandle : Handle {
  static constexpr HandleKind kKind = HandleKind::kCusolverSp;
};

/// Sets a new handle up for the current context. CUSOLVER_STATUS_NOT_INITIALIZED if the driver is
/// not Kernelmill's.
cusolverStatus_t open_handle(Handle& handle);

/// Gives a new object's id to the program.
template <class T, class Id>
cusolverStatus_t give_object(const char* name, Id* place, std::shared_ptr<T> object) {
  const uint64_t tag = library::handle_tag(T::kKind, static_cast<unsigned>(kVersion / 1000));
  const uint64_t id = library::handle_map<T>().add(std::move(object), tag);
  const cusolverStatus_t given = write_value(name, place, reinterpret_cast<Id>(id));
  if (given != CUSOLVER_STATUS_SUCCESS) library::handle_map<T>().remove(id);
  return given;
}

/// The object of an id; null if it is not live.
template <class T, class Id>
std::shared_ptr<T> find_object(Id id) {
  return library::handle_map<T>().find(reinterpret_cast<uint64_t>(id));
}

/// Ends an object's id. Work that uses the object keeps it.
template <class T, class Id>
cusolverStatus_t end_object(Id id, cusolverStatus_t if_none = CUSOLVER_STATUS_NOT_INITIALIZED) {
  if (library::handle_map<T>().remove(reinterpret_cast<uint64_t>(id)) != nullptr) {
    return CUSOLVER_STATUS_SUCCESS;
  }
  return frame::fail(if_none, "the object is not live");
}

/// Makes a new handle of type T.
template <class T, class Id>
cusolverStatus_t create_handle(Id* out) {
  LIB_REQUIRE(out);
  auto handle = std::make_shared<T>();
  LIB_TRY(open_handle(*handle));
  return give_object("handle", out, std::move(handle));
}

/// Runs a function with a handle of type T, whose context becomes current if the thread has none.
template <class T, class Id, class Body>
cusolverStatus_t call_with(const char* function, Id handle, Body&& body) {
  return call(function, [&]() -> cusolverStatus_t {
    const std::shared_ptr<T> found = find_object<T>(handle);
    if (found == nullptr) {
      return frame::fail(CUSOLVER_STATUS_NOT_INITIALIZED, "the handle is not live");
    }
    if (library::is_in_callback()) {
      return frame::fail(CUSOLVER_STATUS_EXECUTION_FAILED, "host functions may not use a handle");
    }
    cu::CUcontext current = nullptr;
    found->driver->cuCtxGetCurrent(&current);
    if (current == nullptr) found->driver->cuCtxSetCurrent(found->context);
    return body(*found);
  });
}
template <class Body>
cusolverStatus_t call(const char* function, cusolverDnHandle_t handle, Body&& body) {
  return call_with<DnHandle>(function, handle, body);
}
template <class Body>
cusolverStatus_t call(const char* function, cusolverSpHandle_t handle, Body&& body) {
  return call_with<SpHandle>(function, handle, body);
}

}  // namespace km::cusolver
