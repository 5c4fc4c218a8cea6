// Generators of cuRAND, and the frame around its functions.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/process/fork.h"
#include "dropin/curand/generated/api.h"
#include "dropin/curand/generator/capture.h"
#include "dropin/curand/kernels/parameters.h"
#include "dropin/frame/call.h"
#include "dropin/library/driver.h"
#include "dropin/library/handles.h"
#include "dropin/library/host_memory.h"

namespace km::curand {

/// One generator; a call at a time changes it.
struct Generator {
  /// Leaves its memory to free_left_memory(), and to the graphs that have captured its calls.
  ~Generator();
  bool is_quasi() const { return kind >= kSobol32; }
  bool is_wide() const { return kind >= kSobol64; }
  bool is_scrambled() const { return kind == kScrambledSobol32 || kind == kScrambledSobol64; }
  /// Drops what has been generated; the next call begins at the offset. Graphs that have captured
  /// calls go on with the states that they have.
  void restart() {
    generated = 0;
    is_ready = false;
    if (counter != 0) set_aside();
  }
  /// Leaves device memory to those who may still use it: calls make it anew.
  void set_aside();
  /// Leaves one of the members that follow to those who may still use it.
  void set_aside(cu::CUdeviceptr& memory);
  /// Drops the addresses of memory that went with its context.
  void forget_memory();

  const Driver* driver = nullptr;
  int kind = kXorwow;
  bool is_on_host = false;
  std::mutex mutex;  // guards what follows
  cu::CUstream stream = nullptr;
  uint64_t seed = 0, offset = 0;
  uint64_t generated = 0;  // numbers; of XORWOW and MRG32k3a: draws; of a Sobol generator: points
  cu::CUdeviceptr counter = 0;  // u64: offset + generated, once a graph may change that; or 0
  uint32_t dimensions = 1;
  curandOrdering_t ordering = CURAND_ORDERING_PSEUDO_DEFAULT;
  library::ContextLife context;   // of the memory that follows
  cu::CUdeviceptr states = 0;     // of a Sobol generator: the direction numbers
  cu::CUdeviceptr constants = 0;  // of MT19937: the jumps between its sequences
  uint32_t uploaded_dimensions = 0;
  uint32_t known_sequences = 0;  // of MT19937: those that have states
  cu::CUdeviceptr table = 0;     // of Poisson numbers
  PoissonTable table_arrays{};
  double table_mean = 0;           // 0: there is no table yet
  bool is_table_captured = false;  // a graph uses it
  std::vector<cu::CUdeviceptr> aside;
  std::shared_ptr<LeftMemory> left;  // once a graph has captured a call; filled at the end
  CapturedCall last_captured;
  bool is_ready = false;
};

struct Request {
  void* out;
  size_t count;
  int distribution;
  double mean, deviation;
  size_t element_bytes;
};

/// A new generator of a curandRngType. CURAND_STATUS_TYPE_ERROR when there is no such type.
curandStatus_t create(curandGenerator_t* out, curandRngType_t type, bool is_on_host);
/// Ends the handle. Captures of other streams, and graphs that have captured calls, go on.
curandStatus_t destroy(curandGenerator_t handle);
/// Puts the states of all sequences into device memory: in the order of the stream, or beside it
/// when it is captured, which it says.
curandStatus_t prepare(Generator& generator, const Request* request, bool* is_captured);
/// Queues the numbers in the generator's stream; numbers for the host are there when it returns.
curandStatus_t generate(Generator& generator, const Request& request);

/// Fails because an argument is out of its range, and logs why.
[[gnu::format(printf, 1, 2)]] curandStatus_t invalid(const char* format, ...) noexcept;

/// Gives a result to the program. CURAND_STATUS_OUT_OF_RANGE when its place is null or cannot be
/// written.
template <class T>
curandStatus_t give(T* place, const T& value) noexcept {
  if (place != nullptr && library::write_host(place, value)) return CURAND_STATUS_SUCCESS;
  return invalid("%p is no place for a result", static_cast<void*>(place));
}

/// cuRAND for the frame of its functions.
struct RandLibrary : frame::Library {
  using Status = curandStatus_t;
  static constexpr Status kOutOfMemory = CURAND_STATUS_ALLOCATION_FAILED;
  static constexpr Status kUnexpected = CURAND_STATUS_INTERNAL_ERROR;
  /// cuRAND has no status of its own for it.
  static constexpr Status kNotSupported = CURAND_STATUS_TYPE_ERROR;
  static constexpr frame::StatusOfResult<Status> kStatuses[] = {
      {cu::CUDA_SUCCESS, CURAND_STATUS_SUCCESS},
      {cu::CUDA_ERROR_OUT_OF_MEMORY, CURAND_STATUS_ALLOCATION_FAILED},
  };
  static constexpr Status kOtherStatus = CURAND_STATUS_LAUNCH_FAILURE;
  static const char* name_of(curandStatus_t status) noexcept;
};

/// curandStatus_t for what the driver says.
constexpr curandStatus_t status_of(cu::CUresult result) noexcept {
  return frame::status_of<RandLibrary>(result);
}

/// Runs the body of an exported function. Generators do not outlive a fork().
template <class Body>
curandStatus_t call(Body&& body, const char* function = __builtin_FUNCTION()) {
  return frame::call<RandLibrary>(function, [&]() -> curandStatus_t {
    return is_forked() ? CURAND_STATUS_NOT_INITIALIZED : body();
  });
}

/// call() for functions of a generator, which nobody else changes meanwhile.
template <class Body>
curandStatus_t call(curandGenerator_t handle, Body&& body,
                    const char* function = __builtin_FUNCTION()) {
  const auto with_generator = [&]() -> curandStatus_t {
    const auto found = library::handle_map<Generator>().find(reinterpret_cast<uint64_t>(handle));
    if (found == nullptr)
      return frame::fail(CURAND_STATUS_NOT_INITIALIZED, "the generator is no live one");
    if (library::is_in_callback()) {
      return frame::fail(status_of(cu::CUDA_ERROR_NOT_PERMITTED),
                         "host functions may not use generators");
    }
    const std::lock_guard lock(found->mutex);
    return body(*found);
  };
  return call(with_generator, function);
}

}  // namespace km::curand
