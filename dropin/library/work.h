// Work of a library in a stream: functions that Kernelmill's driver runs on its threads in the
// stream's order, and that captures turn into nodes of a graph.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "dropin/library/driver.h"
#include "dropin/library/table.h"

namespace km::library {

/// One operation, in pieces that several threads may run concurrently. It holds everything that
/// run() needs, because it outlives the call that queues it: a graph runs it at each launch, and
/// several executable graphs run it at the same time.
class Work {
 public:
  Work() = default;
  virtual ~Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// The name in traces, such as "cufftExecC2C", which must have static lifetime.
  virtual const char* name() const noexcept = 0;
  /// The number of pieces, asked once. worker_threads() is a good number for work that is even.
  virtual uint64_t pieces() const noexcept { return 1; }
  /// The estimated time of all pieces, by which short work stays on one thread.
  virtual uint64_t estimated_ns() const noexcept = 0;
  /// Runs one piece. Failures (CUDA_ERROR_ILLEGAL_ADDRESS for an index that leaves its array) end
  /// the stream's context, as a fault of a kernel does; fail_work() makes them. An access to
  /// missing memory ends the function without running destructors.
  virtual cu::CUresult run(uint64_t piece) const = 0;
  /// True for work that start() begins in place of run(), because it may need work of other
  /// streams.
  virtual bool is_asynchronous() const noexcept { return false; }
  /// Begins the work, and waits for its end only if `may_wait` says that the thread would do so
  /// next. Returns true if the work is over; otherwise resume(resume_data) has to be called once
  /// when it is, on any thread.
  virtual bool start([[maybe_unused]] bool may_wait, [[maybe_unused]] void (*resume)(void*),
                     [[maybe_unused]] void* resume_data) const {
    return true;
  }
  /// True if start() takes a moment, so that the thread that submits the work may call it.
  virtual bool begins_at_once() const noexcept { return false; }
  /// The work that one executable graph runs in place of this, with the same number of pieces;
  /// null: this one. `graph` is the graph's number, by which operations of one call find memory
  /// that they share in that graph alone. It is called while the graph is made, and may not call
  /// the driver.
  virtual std::shared_ptr<const Work> for_graph([[maybe_unused]] uint64_t graph) const {
    return nullptr;
  }
};

/// Gives the reason for a failure of run(), which returns `result`.
[[gnu::format(printf, 2, 3)]] cu::CUresult fail_work(cu::CUresult result, const char* format,
                                                     ...) noexcept;

/// Queues the work in the stream, or captures it. All memory that run() accesses is in `arrays`;
/// it stays alive until the work has run. CUDA_ERROR_INVALID_VALUE if an array is not inside one
/// allocation, CUDA_ERROR_NOT_SUPPORTED if the driver is not Kernelmill's.
cu::CUresult submit(cu::CUstream stream, std::shared_ptr<const Work> work,
                    std::span<const BlasArray> arrays);

/// An array of `size_bytes` that begins at `address`, for submit().
BlasArray whole_array(const char* name, const void* address, uint64_t size_bytes,
                      bool is_written) noexcept;

/// The number of threads that run pieces; 1 if the driver is not Kernelmill's.
uint32_t worker_threads() noexcept;

/// Makes work of a function that takes the number of a piece and returns a CUresult.
template <class Run>
std::shared_ptr<const Work> make_work(const char* name, uint64_t pieces, uint64_t estimated_ns,
                                      Run run) {
  class Function final : public Work {
   public:
    Function(const char* name, uint64_t pieces, uint64_t estimated_ns, Run&& run)
        : name_(name), pieces_(pieces), estimated_ns_(estimated_ns), run_(std::move(run)) {}
    const char* name() const noexcept override { return name_; }
    uint64_t pieces() const noexcept override { return pieces_; }
    uint64_t estimated_ns() const noexcept override { return estimated_ns_; }
    cu::CUresult run(uint64_t piece) const override { return run_(piece); }

   private:
    const char* const name_;
    const uint64_t pieces_, estimated_ns_;
    const Run run_;
  };
  return std::make_shared<Function>(name, pieces, estimated_ns, std::move(run));
}

}  // namespace km::library
