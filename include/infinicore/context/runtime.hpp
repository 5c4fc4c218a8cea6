// InfiniCore's Runtime on Kernelmill: a device, a stream, memory, copies, events and recorded
// graphs under one object, on NVIDIA GPUs and on any CPU. Header only; link libkernelmill.
//
//   infinicore::Runtime runtime(infinicore::Device(infinicore::Device::Type::CPU, 0));
//   auto memory = runtime.allocateMemory(size);
//   runtime.memcpyH2D(memory->data(), source, size);
//   runtime.syncStream();
//
// All failures are thrown as infinicore::Error, which keeps the status. A device that does not
// exist is one: Device::Type::CUDA needs a GPU, and nothing falls back to the CPU.
#ifndef INFINICORE_CONTEXT_RUNTIME_HPP
#define INFINICORE_CONTEXT_RUNTIME_HPP

#include <infinicore/context/shared_device.hpp>
#include <infinicore/graph/graph.hpp>
#include <infinicore/infinirt.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace infinicore {

/// The runtime of one device, with its own stream; the Runtimes of a device share memory and
/// events. Any thread may call all functions; events order work of two Runtimes.
class Runtime {
 public:
  /// Opens the device and makes this Runtime current. KM_ERROR_BACKEND_UNAVAILABLE or
  /// KM_ERROR_NO_DEVICE when there is no such device.
  explicit Runtime(Device device)
      : device_(device),
        shared_(detail::SharedDevice::of(device)),
        stream_(std::make_shared<const km::stream>(shared_->context)),
        operators_(*stream_, KM_BLAS_LAYOUT_ROWS),
        allocator_(std::make_shared<PinnableBlockAllocator>(shared_->pool)),
        graph_manager_(stream_, allocator_) {
    activate();
  }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  /// Releases everything that the Runtime holds. Queued work still runs; Memory and Graphs may
  /// outlive it.
  ~Runtime() { detail::current().forget(this); }

  /// The device of the Runtime.
  Device device() const noexcept { return device_; }
  /// Makes this the calling thread's current Runtime, which context::getStream() and
  /// context::getDevice() refer to. Calls on a Runtime use its device whether it is current or not.
  Runtime* activate() noexcept {
    detail::current().set(this, device_, stream());
    return this;
  }
  /// The Runtime's stream, which stays its own.
  infinirtStream_t stream() const noexcept { return stream_->get(); }
  /// The Runtime's library of operators, as a live handle.
  infiniopHandle_t infiniopHandle() const noexcept { return operators_.get(); }
  /// The km objects of the Runtime, for direct launches.
  const km::context& nativeContext() const noexcept { return shared_->context; }
  const km::stream& nativeStream() const noexcept { return *stream_; }

  /// Waits for the work of the Runtime's stream.
  void syncStream() { stream_->synchronize(); }
  /// Waits for the work of all streams of all Runtimes of the device.
  void syncDevice() { shared_->context.synchronize(); }

  /// Allocates device memory. KM_ERROR_OUT_OF_DEVICE_MEMORY when there is no room.
  std::shared_ptr<Memory> allocateMemory(std::size_t size) {
    return std::make_shared<Memory>(allocator_->allocate(size), stream_, device_);
  }
  /// Allocates page-locked host memory. CPU devices have none: they return ordinary memory, with a
  /// warning; copies from and to it are asynchronous nevertheless.
  std::shared_ptr<Memory> allocatePinnedHostMemory(std::size_t size) {
    const bool is_pinned = device_.getType() != Device::Type::CPU;
    if (!is_pinned) {
      detail::warn("allocatePinnedHostMemory: " + device_.toString() +
                   " has no page-locked memory, this is ordinary memory");
    }
    km::host_memory<std::byte> memory;
    if (size != 0) memory = km::host_memory<std::byte>(shared_->context, size);
    return std::make_shared<Memory>(std::move(memory), device_, is_pinned);
  }
  /// Returns device memory that no Memory or Graph uses to the device.
  void trimMemory() { allocator_->trim(); }
  /// The Runtime's allocator, on the pool that all Runtimes of the device share.
  PinnableBlockAllocator& allocator() const noexcept { return *allocator_; }

  /// Copies from the host, in stream order. With `async`, memory of allocatePinnedHostMemory is
  /// read when the stream reaches the copy, and any other memory has been read when the call
  /// returns; without `async`, the copy is done when the call returns.
  void memcpyH2D(void* dst, const void* src, std::size_t size, bool async = true) {
    km::raw::upload(*stream_, address_of(dst), src, size);
    if (!async) stream_->synchronize();
  }
  /// Copies to the host, and waits until it is done.
  void memcpyD2H(void* dst, const void* src, std::size_t size) {
    km::raw::download(*stream_, address_of(src), dst, size);
    stream_->synchronize();
  }
  /// Copies within the device, in stream order.
  void memcpyD2D(void* dst, const void* src, std::size_t size, bool async = true) {
    km::raw::copy(*stream_, address_of(dst), address_of(src), size);
    if (!async) stream_->synchronize();
  }

  /// Creates an event that records times. An event that was never recorded counts as reached:
  /// queryEvent is true, waits return at once, and only elapsedTime fails.
  infinirtEvent_t createEvent() { return createEventWithFlags(INFINIRT_EVENT_DEFAULT); }
  /// Creates an event with INFINIRT_EVENT_... flags.
  infinirtEvent_t createEventWithFlags(std::uint32_t flags) {
    const std::uint32_t known = INFINIRT_EVENT_DISABLE_TIMING | INFINIRT_EVENT_BLOCKING_SYNC;
    if ((flags & ~known) != 0) {
      throw Error(KM_ERROR_INVALID_ARGUMENT, "createEventWithFlags: " + std::to_string(flags) +
                                                 " has bits that are no INFINIRT_EVENT_...");
    }
    const bool is_timed = (flags & INFINIRT_EVENT_DISABLE_TIMING) == 0;
    return km::event(shared_->context, is_timed ? KM_EVENT_DEFAULT : KM_EVENT_DISABLE_TIMING)
        .release();
  }
  /// Marks the end of the work queued so far in a stream; null: in this Runtime's stream.
  void recordEvent(infinirtEvent_t event, infinirtStream_t stream = {}) {
    km::detail::check(km_event_record(event, given(stream)));
  }
  /// True if the event is reached. Does not wait.
  bool queryEvent(infinirtEvent_t event) {
    return km::throwing::unless(KM_NOT_READY, km_event_query(event));
  }
  /// Waits until the event is reached.
  void synchronizeEvent(infinirtEvent_t event) { km::detail::check(km_event_synchronize(event)); }
  /// Destroys an event. Null is fine.
  void destroyEvent(infinirtEvent_t event) { km::detail::check(km_event_destroy(event)); }
  /// Milliseconds from `start` to `end`; waits until both are reached.
  float elapsedTime(infinirtEvent_t start, infinirtEvent_t end) {
    synchronizeEvent(start);
    synchronizeEvent(end);
    std::int64_t elapsed_ns = 0;
    km::detail::check(km_event_elapsed_ns(start, end, &elapsed_ns));
    return static_cast<float>(static_cast<double>(elapsed_ns) / 1e6);
  }
  /// Makes later work of a stream wait for an event; null: of this Runtime's stream.
  void streamWaitEvent(infinirtStream_t stream, infinirtEvent_t event) {
    km::detail::check(km_stream_wait_event(given(stream), event));
  }

  /// True if a recording is under way.
  bool isGraphRecording() const { return graph_manager_.is_recording(); }
  /// Starts a recording. Blocks that are allocated until it stops are reserved for the graph.
  void startGraphRecording() { graph_manager_.start_recording(); }
  /// Adds an operator to the recording without running it.
  void addGraphOperator(std::shared_ptr<graph::GraphOperator> op) {
    graph_manager_.add_operator(std::move(op));
  }
  /// Ends the recording and returns the graph, without running anything. It calls
  /// GraphOperator::run of each operator; meanwhile no other thread may queue work in the stream,
  /// because that would be recorded too.
  std::shared_ptr<graph::Graph> stopGraphRecording() {
    activate();
    return graph_manager_.stop_recording();
  }
  /// Ends the recording without a graph.
  void cancelGraphRecording() { graph_manager_.cancel_recording(); }

 private:
  static km::device_address address_of(const void* pointer) noexcept {
    return {static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer))};
  }
  infinirtStream_t given(infinirtStream_t stream) const noexcept {
    return stream == infinirtStream_t{} ? stream_->get() : stream;
  }

  Device device_;
  std::shared_ptr<detail::SharedDevice> shared_;
  std::shared_ptr<const km::stream> stream_;
  km::blas operators_;
  std::shared_ptr<PinnableBlockAllocator> allocator_;
  graph::GraphManager graph_manager_;
};

}  // namespace infinicore

#endif
