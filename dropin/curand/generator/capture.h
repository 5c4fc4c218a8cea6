// Captures of streams: generators begin, end and are called beside and within them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dropin/library/driver.h"

namespace km::curand {

using library::Driver;

struct Generator;

/// The thread may make any call beside a capture while it lives.
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

/// A stream of its own, which no capture has and no other stream waits for.
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

/// The device memory that a generator leaves. The generator and all graphs that have captured calls
/// of it share it; the last of them leaves it to free_left_memory().
struct LeftMemory {
  LeftMemory() = default;
  ~LeftMemory();
  LeftMemory(const LeftMemory&) = delete;
  LeftMemory& operator=(const LeftMemory&) = delete;

  library::ContextLife context;
  std::vector<cu::CUdeviceptr> addresses;
};

/// Frees memory whose generators and graphs are gone, beside any capture.
void free_left_memory(const Driver& driver);

/// The last call of a generator that was captured.
struct CapturedCall {
  uint64_t capture_id = 0;
  cu::CUstream stream = nullptr;
  std::vector<cu::CUgraphNode> nodes;  // that work of the stream depended on after the call
};

/// Lets the captured call that comes wait for the generator's last one of the same capture, which
/// may be another stream's.
cu::CUresult wait_for_last_captured(const Generator& generator);
/// Notes a captured call, and has the graph keep the generator's memory.
cu::CUresult note_captured(Generator& generator);

}  // namespace km::curand
