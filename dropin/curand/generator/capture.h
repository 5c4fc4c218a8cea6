// Stream capture: generators may be created, destroyed and called during captures, and their calls
// may be captured.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dropin/library/driver.h"

namespace km::curand {

using library::Driver;

struct Generator;

/// While it lives, the thread may make any call during captures.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const Driver& driver) : driver_(driver) {
    driver.cuThreadExchangeStreamCaptureMode(&mode_);
  }
  ~RelaxedCapture() { driver_.cuThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  const Driver& driver_;
  cu::CUstreamCaptureMode mode_ = cu::CU_STREAM_CAPTURE_MODE_RELAXED;
};

/// A private non-blocking stream, so that neither a capture nor another stream affects its work.
class OwnStream {
 public:
  explicit OwnStream(const Driver& driver) : driver_(driver) {
    constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
    result_ = driver.cuStreamCreate(&stream_, kNonBlocking);
  }
  ~OwnStream() {
    if (result_ == cu::CUDA_SUCCESS) driver_.cuStreamDestroy_v2(stream_);
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  cu::CUresult result() const { return result_; }
  cu::CUstream get() const { return stream_; }

 private:
  const Driver& driver_;
  cu::CUstream stream_ = nullptr;
  cu::CUresult result_;
};

/// The device memory of a destroyed generator. The generator and all graphs that captured its calls
/// share it; the last of them passes it to free_left_memory().
struct LeftMemory {
  LeftMemory() = default;
  ~LeftMemory();
  LeftMemory(const LeftMemory&) = delete;
  LeftMemory& operator=(const LeftMemory&) = delete;

  library::ContextLife context;
  std::vector<cu::CUdeviceptr> addresses;
};

/// Frees memory whose generators and graphs have ended; allowed during captures.
void free_left_memory(const Driver& driver);

/// A generator's last captured call.
struct CapturedCall {
  uint64_t capture_id = 0;
  cu::CUstream stream = nullptr;
  std::vector<cu::CUgraphNode> nodes;  // the stream's dependencies after the call
};

/// Makes the next captured call wait for the generator's previous call in the same capture,
/// possibly in another stream.
cu::CUresult wait_for_last_captured(const Generator& generator);
/// Records a captured call and makes its graph keep the generator's memory.
cu::CUresult note_captured(Generator& generator);

}  // namespace km::curand
