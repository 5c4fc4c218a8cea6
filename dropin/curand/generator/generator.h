// cuRAND's generators and the frame around its functions.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "dropin/curand/generated/api.h"
#include "dropin/curand/generator/capture.h"
#include "dropin/curand/kernels/parameters.h"
#include "dropin/library/call.h"
#include "dropin/library/host_memory.h"

namespace km::curand {

/// One generator; a call at a time changes it.
struct Generator {
  /// Passes its memory to free_left_memory() and to the graphs that have captured its calls.
  ~Generator();
  bool is_quasi() const { return kind >= kSobol32; }
  bool is_wide() const { return kind >= kSobol64; }
  bool is_scrambled() const { return kind == kScrambledSobol32 || kind == kScrambledSobol64; }
  /// Discards the states; the next call starts at the offset. Graphs that have captured calls keep
  /// their states.
  void restart() {
    generated = 0;
    is_ready = false;
    if (counter != 0) set_aside();
  }
  /// Gives up all device memory, which graphs or queued work may still use; later calls allocate it
  /// again.
  void set_aside();
  /// Gives up one of the members below, which graphs or queued work may still use.
  void set_aside(cu::CUdeviceptr& memory);
  /// Clears the addresses of memory that ended with its context.
  void forget_memory();

  const Driver* driver = nullptr;
  int kind = kXorwow;
  bool is_on_host = false;
  std::mutex mutex;  // guards the members below
  cu::CUstream stream = nullptr;
  uint64_t seed = 0, offset = 0;
  uint64_t generated = 0;       // in numbers; XORWOW and MRG32k3a: in draws; Sobol: in points
  cu::CUdeviceptr counter = 0;  // u64: offset + generated, if graphs may change it; otherwise 0
  uint32_t dimensions = 1;
  curandOrdering_t ordering = CURAND_ORDERING_PSEUDO_DEFAULT;
  library::ContextLife context;   // the context of the memory below
  cu::CUdeviceptr states = 0;     // Sobol generators: the direction numbers
  cu::CUdeviceptr constants = 0;  // MT19937: the jumps between its sequences
  uint32_t uploaded_dimensions = 0;
  uint32_t known_sequences = 0;  // MT19937: sequences that have states
  cu::CUdeviceptr table = 0;     // for Poisson numbers
  PoissonTable table_arrays{};
  double table_mean = 0;           // 0: no table yet
  bool is_table_captured = false;  // a graph uses the table
  std::vector<cu::CUdeviceptr> aside;
  // set once a graph has captured a call; filled by the destructor
  std::shared_ptr<LeftMemory> left;
  CapturedCall last_captured;
  bool is_ready = false;
  cu::CUevent uploaded = nullptr;  // follows the copies to the memory above in their stream
  bool may_be_uploading = false;   // `uploaded` was not seen to be over
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
/// Ends the handle. Captures of other streams, and graphs that have captured calls, are not
/// affected.
curandStatus_t destroy(curandGenerator_t handle);
/// Puts the states of all sequences into device memory: in the order of the stream, or beside it
/// when it is captured, which it says.
curandStatus_t prepare(Generator& generator, const Request* request, bool* is_captured);
/// Queues the generation in the generator's stream. For numbers in host memory the call blocks
/// until they have arrived.
curandStatus_t generate(Generator& generator, const Request& request);

/// Logs why an argument is out of range and returns the error.
inline constexpr frame::Failure<CURAND_STATUS_OUT_OF_RANGE> invalid;

/// Stores a result for the program. CURAND_STATUS_OUT_OF_RANGE if its address is null or not
/// writable.
template <class T>
curandStatus_t give(T* place, const T& value) noexcept {
  if (place != nullptr && library::write_host(place, value)) return CURAND_STATUS_SUCCESS;
  return invalid("no result can be written to %p", static_cast<void*>(place));
}

/// Describes cuRAND to the shared frame.
struct RandLibrary : frame::Library {
  using Status = curandStatus_t;
  static constexpr Status kOutOfMemory = CURAND_STATUS_ALLOCATION_FAILED;
  static constexpr Status kUnexpected = CURAND_STATUS_INTERNAL_ERROR;
  static constexpr Status kNotInitialized = CURAND_STATUS_NOT_INITIALIZED;
  /// cuRAND has no status of its own for it.
  static constexpr Status kNotSupported = CURAND_STATUS_TYPE_ERROR;
  static constexpr frame::StatusOfResult<Status> kStatuses[] = {
      {cu::CUDA_SUCCESS, CURAND_STATUS_SUCCESS},
      {cu::CUDA_ERROR_OUT_OF_MEMORY, CURAND_STATUS_ALLOCATION_FAILED},
  };
  static constexpr Status kOtherStatus = CURAND_STATUS_LAUNCH_FAILURE;
  static const char* name_of(curandStatus_t status) noexcept;
};

/// Converts a result of the driver to a curandStatus_t.
constexpr curandStatus_t status_of(cu::CUresult result) noexcept {
  return frame::status_of<RandLibrary>(result);
}

/// Runs the body of an exported function.
template <class Body>
curandStatus_t call(Body&& body, const char* function = __builtin_FUNCTION()) {
  return library::call<RandLibrary>(function, body);
}

/// Runs a function of a generator, whose lock is held during the call.
template <class Body>
curandStatus_t call(curandGenerator_t handle, Body&& body,
                    const char* function = __builtin_FUNCTION()) {
  return library::call_with<RandLibrary, Generator>(function, reinterpret_cast<uint64_t>(handle),
                                                    "generator", body);
}

}  // namespace km::curand
