#include "fake_cublas/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/cpu/blas/blas.h"
#include "fake_cublas/control.h"
#include "fake_cublas/halves.h"
#include "fake_cuda/control.h"

namespace km::fake_cublas {
namespace {

struct Driver {
  decltype(&cu::cuLaunchHostFunc) launch_host = nullptr;
  decltype(&cu::cuStreamIsCapturing) is_capturing = nullptr;
  // Of the scripted driver only.
  decltype(&fake_cuda_enter) enter = nullptr;
  decltype(&fake_cuda_add_object) add_object = nullptr;
  decltype(&fake_cuda_has_object) has_object = nullptr;
  decltype(&fake_cuda_remove_object) remove_object = nullptr;
};

/// The driver that the library uses.
const Driver& driver() {
  static const Driver found = [] {
    Driver made;
    const char* path = std::getenv("KM_CUDA_DRIVER");
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) std::abort();
    const auto find = [&](const char* name, auto* out) {
      *out = reinterpret_cast<std::remove_pointer_t<decltype(out)>>(dlsym(library, name));
    };
    find("cuLaunchHostFunc", &made.launch_host);
    find("cuStreamIsCapturing", &made.is_capturing);
    find("fake_cuda_enter", &made.enter);
    find("fake_cuda_add_object", &made.add_object);
    find("fake_cuda_has_object", &made.has_object);
    find("fake_cuda_remove_object", &made.remove_object);
    return made;
  }();
  return found;
}

/// While cuBLAS is at work, the driver's calls are its own affair.
class Inside {
 public:
  Inside() {
    if (driver().enter != nullptr) driver().enter(1);
  }
  ~Inside() {
    if (driver().enter != nullptr) driver().enter(-1);
  }
};

constexpr const char* kKind = "cuBLAS handle";

struct Library {
  std::mutex mutex;
  std::map<Handle, uint64_t> live;  // with the scripted driver's object
  int64_t calls = 0, until_failure = -1, misuses = 0;
  Status failure = cublas::kSuccess;
  std::string failed_call;
  struct Record;
  std::map<Record*, std::unique_ptr<Record>> records;  // of calls to be made, and of graphs
};

Library& library() {
  static Library the;
  return the;
}

struct Library::Record {
  kmb_blas_call call;
};

uint64_t element_bytes(km_data_type type) {
  constexpr uint64_t kBytes[] = {0, 4, 8, 8, 16};
  return kBytes[type];
}

void run(const kmb_blas_call& call) {
  if (call.type == KM_DATA_TYPE_F16 || call.type == KM_DATA_TYPE_BF16) return multiply_halves(call);
  const Result<const cpu::OpenBlas*> openblas = cpu::OpenBlas::instance();
  if (!openblas) std::abort();
  if (call.routine == KMB_BLAS_IAMAX) {
    uint64_t index = 0;
    kmb_blas_call other = call;
    other.c.address = reinterpret_cast<uint64_t>(&index);
    cpu::run_openblas(**openblas, other);
    const auto found = static_cast<int32_t>(index + 1);
    std::memcpy(reinterpret_cast<void*>(call.c.address), &found, sizeof found);
    return;
  }
  for (uint64_t i = 0; i < call.batch_count; ++i) {
    kmb_blas_call one = call;
    const uint64_t bytes = element_bytes(call.type);
    one.a.address += i * call.a.stride * bytes;
    one.b.address += i * call.b.stride * bytes;
    one.c.address += i * call.c.stride * bytes;
    cpu::run_openblas(**openblas, one);
  }
}

void run_record(void* data) { run(static_cast<Library::Record*>(data)->call); }

void run_and_drop_record(void* data) {
  run_record(data);
  const std::lock_guard lock(library().mutex);
  library().records.erase(static_cast<Library::Record*>(data));
}

/// A call's record lives until it has run; that of a captured one, to the end.
Status enqueue(cu::CUstream stream, const kmb_blas_call& call) {
  const Inside inside;
  cu::CUstreamCaptureStatus capture = cu::CU_STREAM_CAPTURE_STATUS_NONE;
  if (driver().is_capturing(stream, &capture) != cu::CUDA_SUCCESS) return cublas::kInternalError;
  auto made = std::make_unique<Library::Record>(call);
  Library::Record* const record = made.get();
  {
    const std::lock_guard lock(library().mutex);
    library().records.emplace(record, std::move(made));
  }
  const bool is_captured = capture == cu::CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (driver().launch_host(stream, is_captured ? run_record : run_and_drop_record, record) ==
      cu::CUDA_SUCCESS) {
    return cublas::kSuccess;
  }
  const std::lock_guard lock(library().mutex);
  library().records.erase(record);
  return cublas::kExecutionFailed;
}

Status begin_locked(const char* name, Handle handle, bool needs_handle) {
  Library& l = library();
  ++l.calls;
  if (l.until_failure >= 0 && l.until_failure-- == 0) {
    l.failed_call = name;
    return l.failure;
  }
  if (!needs_handle) return cublas::kSuccess;
  const auto found = l.live.find(handle);
  if (found != l.live.end() &&
      (driver().has_object == nullptr || driver().has_object(kKind, found->second) != 0)) {
    return cublas::kSuccess;
  }
  ++l.misuses;
  return cublas::kNotInitialized;
}

}  // namespace

Status begin(const char* name, Handle handle) {
  const std::lock_guard lock(library().mutex);
  return begin_locked(name, handle, true);
}

Status queue(const char* name, Handle handle, kmb_blas_routine routine, km_data_type type,
             const std::function<bool(kmb_blas_call&)>& fill) {
  kmb_blas_call call{};
  call.routine = routine;
  call.type = type;
  call.layout = KM_BLAS_LAYOUT_COLUMNS;
  call.batch_count = 1;
  if (const Status bad = begin(name, handle)) return bad;
  const bool has_result = routine >= KMB_BLAS_DOT && routine <= KMB_BLAS_IAMAX;
  const auto expected = has_result ? cublas::kDevice : cublas::kHost;
  if (handle->mode != expected) return cublas::kNotSupported;  // the library uses no other
  if (!fill(call)) return cublas::kInvalidValue;
  return enqueue(handle->stream, call);
}

}  // namespace km::fake_cublas

namespace km::cublas {

using fake_cublas::begin;
using fake_cublas::library;

extern "C" {

Status cublasCreate_v2(Handle* out) {
  const std::lock_guard lock(library().mutex);
  if (const Status bad = fake_cublas::begin_locked(__func__, nullptr, false)) return bad;
  const auto add = fake_cublas::driver().add_object;
  *out = new Context;
  library().live.emplace(*out, add != nullptr ? add(fake_cublas::kKind) : 0);
  return kSuccess;
}

Status cublasDestroy_v2(Handle handle) {
  const std::lock_guard lock(library().mutex);
  const Status bad = fake_cublas::begin_locked(__func__, handle, true);
  const auto found = library().live.find(handle);
  if (found == library().live.end()) return bad;
  const auto remove = fake_cublas::driver().remove_object;
  if (remove != nullptr) remove(fake_cublas::kKind, found->second);
  library().live.erase(found);
  delete handle;
  return bad;
}

Status cublasGetProperty(Property property, int* out) {
  *out = property == kMajorVersion ? 12 : 9;
  return kSuccess;
}

Status cublasSetMathMode(Handle handle, Math mode) {
  if (const Status bad = begin(__func__, handle)) return bad;
  return mode == kNoReducedReduction ? kSuccess : kInvalidValue;
}

Status cublasSetPointerMode_v2(Handle handle, PointerMode mode) {
  if (const Status bad = begin(__func__, handle)) return bad;
  handle->mode = mode;
  return kSuccess;
}

Status cublasSetStream_v2(Handle handle, Data stream) {
  if (const Status bad = begin(__func__, handle)) return bad;
  handle->stream = static_cast<cu::CUstream>(const_cast<void*>(stream));
  return kSuccess;
}

Status cublasSetWorkspace_v2(Handle handle, Data workspace, unsigned long size_bytes) {
  if (const Status bad = begin(__func__, handle)) return bad;
  // It has to be aligned.
  return workspace != nullptr && reinterpret_cast<uintptr_t>(workspace) % 256 == 0 &&
                 size_bytes >= (4U << 20)
             ? kSuccess
             : kInvalidValue;
}

void fake_cublas_fail(int64_t index, int32_t status) {
  const std::lock_guard lock(library().mutex);
  library().until_failure = index;
  library().failure = static_cast<Status>(status);
  library().failed_call.clear();
}

int64_t fake_cublas_calls(void) {
  const std::lock_guard lock(library().mutex);
  return library().calls;
}

const char* fake_cublas_failed_call(void) {
  static thread_local std::string copy;
  const std::lock_guard lock(library().mutex);
  return (copy = library().failed_call).c_str();
}

int64_t fake_cublas_misuses(void) {
  const std::lock_guard lock(library().mutex);
  return library().misuses;
}
}

}  // namespace km::cublas
