// Recording of operators, and graphs that replay them with one call.
#ifndef INFINICORE_GRAPH_GRAPH_HPP
#define INFINICORE_GRAPH_GRAPH_HPP

#include <infinicore/memory.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace infinicore::graph {

/// The operand of an operator: a part of a memory block, which it keeps, and its shape.
class GraphTensor {
 public:
  /// The whole block, as bytes.
  explicit GraphTensor(std::shared_ptr<Memory> memory)
      : GraphTensor(memory, {memory ? memory->size() : 0}, 1) {}
  /// Elements of a shape, from an offset in bytes on. KM_ERROR_OUT_OF_BOUNDS when the block is too
  /// small.
  GraphTensor(std::shared_ptr<Memory> memory, std::vector<std::size_t> shape,
              std::size_t element_size, std::size_t offset = 0)
      : memory_(std::move(memory)),
        shape_(std::move(shape)),
        element_size_(element_size),
        offset_(offset) {
    if (!memory_) throw Error(KM_ERROR_INVALID_ARGUMENT, "GraphTensor: the memory is null");
    std::uint64_t size = element_size;
    for (const std::size_t extent : shape_) size = km::detail::product(size, extent);
    if (offset > memory_->size() || size > memory_->size() - offset) {
      throw Error(KM_ERROR_OUT_OF_BOUNDS, "GraphTensor: " + std::to_string(size) + " bytes from " +
                                              std::to_string(offset) + " on, of a block of " +
                                              std::to_string(memory_->size()));
    }
    size_ = static_cast<std::size_t>(size);
  }

  /// The first byte of the operand.
  std::byte* data() const noexcept { return memory_->data() + offset_; }
  /// The operand's address as an argument of a kernel.
  km::device_address address() const noexcept {
    return {static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(data()))};
  }
  /// The size in bytes, the shape, and the size of an element in bytes.
  std::size_t size() const noexcept { return size_; }
  const std::vector<std::size_t>& shape() const noexcept { return shape_; }
  std::size_t element_size() const noexcept { return element_size_; }
  /// The block that contains the operand.
  const std::shared_ptr<Memory>& memory() const noexcept { return memory_; }

 private:
  std::shared_ptr<Memory> memory_;
  std::vector<std::size_t> shape_;
  std::size_t element_size_, offset_, size_ = 0;
};

/// A step of a graph; programs derive their own.
class GraphOperator {
 public:
  virtual ~GraphOperator() = default;
  /// Queues the operator's work in the Runtime's stream. A recording calls it once, when it stops,
  /// and runs nothing: the work becomes nodes, which run once for each Graph::execute(). It must
  /// not wait for the stream, and host memory that it copies has to stay valid.
  virtual void run() const = 0;
  /// True if run() has to be called for each execution, on the thread of execute(), between the
  /// parts of the graph before and after it: for work of the host, and for work that waits.
  virtual bool is_host_break() const { return false; }
};

/// A kernel launch as an operator. The arguments are copied; the memory of GraphTensors is kept.
class KernelOperator : public GraphOperator {
 public:
  template <class... Arguments>
  KernelOperator(const km::stream& stream, const km::function& function, km::dim3 grid,
                 km::dim3 block, std::uint64_t shared_bytes, const Arguments&... arguments)
      : launch_(stream, function) {
    launch_.grid(grid).block(block).shared_bytes(shared_bytes);
    (add(arguments), ...);
  }

  void run() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    launch_.submit();
  }

 private:
  template <class T>
  void add(const T& argument) {
    launch_.arg(argument);
  }
  void add(const GraphTensor& tensor) {
    kept_.push_back(tensor.memory());
    const std::uint64_t offset =
        static_cast<std::uint64_t>(tensor.data() - tensor.memory()->data());
    launch_.arg(tensor.memory()->slice(), offset, tensor.size(), KM_ACCESS_READ_WRITE);
  }

  mutable std::mutex mutex_;
  mutable km::launch launch_;
  std::vector<std::shared_ptr<Memory>> kept_;
};

/// An executable recording: the operators between two host breaks are one km::graph_exec, queued by
/// one call. It keeps the operators and reserves the blocks that were allocated during the
/// recording. Any thread may execute it; it may outlive the Runtime.
class Graph {
 public:
  /// Queues all operators once, in the recorded stream. It does not wait, unless a host break does.
  void execute() const {
    for (const Step& step : steps_) {
      if (const auto* exec = std::get_if<km::graph_exec>(&step)) {
        exec->launch(*stream_);
      } else {
        std::get<const GraphOperator*>(step)->run();
      }
    }
  }
  /// The number of operators.
  std::size_t operator_count() const noexcept { return operators_.size(); }
  /// The number of parts that run on the device, each queued by one call.
  std::size_t device_segment_count() const noexcept {
    std::size_t count = 0;
    for (const Step& step : steps_) {
      if (std::holds_alternative<km::graph_exec>(step)) ++count;
    }
    return count;
  }

 private:
  friend class GraphManager;
  using Step = std::variant<km::graph_exec, const GraphOperator*>;

  std::shared_ptr<const km::stream> stream_;
  std::vector<std::shared_ptr<GraphOperator>> operators_;
  std::vector<Step> steps_;
  PinnableBlockAllocator::PinnedBlocks reserved_;
};

/// The recording of a Runtime. Any thread may call all functions.
class GraphManager {
 public:
  GraphManager(std::shared_ptr<const km::stream> stream,
               std::shared_ptr<PinnableBlockAllocator> allocator) noexcept
      : stream_(std::move(stream)), allocator_(std::move(allocator)) {}

  /// True if a recording is under way.
  bool is_recording() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return is_recording_;
  }
  /// Starts a recording. KM_ERROR_NOT_PERMITTED when one is under way.
  void start_recording() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_recording_) {
      throw Error(KM_ERROR_NOT_PERMITTED,
                  "startGraphRecording: a recording is under way; stop or cancel it first");
    }
    is_recording_ = true;
    allocator_->set_pin_mode(true);
  }
  /// Adds an operator. KM_ERROR_NOT_PERMITTED when no recording is under way.
  void add_operator(std::shared_ptr<GraphOperator> op) {
    if (!op) throw Error(KM_ERROR_INVALID_ARGUMENT, "addGraphOperator: the operator is null");
    const std::lock_guard<std::mutex> lock(mutex_);
    check_recording("addGraphOperator");
    operators_.push_back(std::move(op));
  }
  /// Ends the recording and makes the graph, without running anything. If an operator fails or
  /// cannot be captured, the recording ends without a graph.
  std::shared_ptr<Graph> stop_recording() {
    auto made = std::make_shared<Graph>();
    made->stream_ = stream_;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      check_recording("stopGraphRecording");
      made->operators_ = std::exchange(operators_, {});
      made->reserved_ = allocator_->take_pinned();
      end_recording();
    }
    instantiate(*made);  // outside the lock: it calls operators, which may call this object
    return made;
  }
  /// Ends the recording without a graph, if one is under way.
  void cancel_recording() {
    std::vector<std::shared_ptr<GraphOperator>> gone;
    const std::lock_guard<std::mutex> lock(mutex_);
    gone.swap(operators_);
    if (is_recording_) end_recording();
  }

 private:
  void check_recording(const char* call) const {
    if (is_recording_) return;
    throw Error(KM_ERROR_NOT_PERMITTED,
                std::string(call) + ": nothing is recorded; call startGraphRecording first");
  }
  void end_recording() {
    is_recording_ = false;
    allocator_->set_pin_mode(false);
  }
  static void instantiate(Graph& graph) {
    std::size_t next = 0;
    while (next < graph.operators_.size()) {
      const GraphOperator& first = *graph.operators_[next];
      if (first.is_host_break()) {
        graph.steps_.emplace_back(&first);
        ++next;
      } else {
        graph.steps_.emplace_back(captured(graph, next));
      }
    }
  }
  // Captures the operators from `next` up to the next host break.
  static km::graph_exec captured(const Graph& graph, std::size_t& next) {
    km::capture capture(*graph.stream_);
    for (; next < graph.operators_.size(); ++next) {
      const GraphOperator& op = *graph.operators_[next];
      if (op.is_host_break()) break;
      run_captured(op, next, capture);
    }
    return capture.end().instantiate();
  }
  // The failure is the operator's even if it only invalidated the capture.
  static void run_captured(const GraphOperator& op, std::size_t index, const km::capture& capture) {
    const std::string who = "stopGraphRecording: operator " + std::to_string(index);
    try {
      op.run();
    } catch (const Error& error) {
      throw Error(error.status(), who + ": " + error.what());
    }
    if (capture.status() == KM_CAPTURE_STATUS_ACTIVE) return;
    throw Error(KM_ERROR_CAPTURE_INVALIDATED,
                who +
                    " makes calls that cannot be captured, such as waiting for the stream; have "
                    "its is_host_break() return true");
  }

  std::shared_ptr<const km::stream> stream_;
  std::shared_ptr<PinnableBlockAllocator> allocator_;
  mutable std::mutex mutex_;
  bool is_recording_ = false;
  std::vector<std::shared_ptr<GraphOperator>> operators_;
};

}  // namespace infinicore::graph

#endif
