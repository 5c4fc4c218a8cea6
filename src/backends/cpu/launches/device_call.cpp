// Executes a grid's calls of the device runtime.
#include <array>
#include <bit>
#include <new>

#include "backends/cpu/config/config.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/device.h"
#include "backends/cpu/device/device_attributes.h"
#include "backends/cpu/launches/device_call_words.h"
#include "backends/cpu/launches/device_launches.h"
#include "backends/cpu/launches/launch.h"
#include "backends/cpu/launches/updatable_node.h"
#include "backends/cpu/module/module.h"
#include "base/memory/host_allocator.h"
#include "base/occupancy.h"

namespace km::cpu {
namespace {

constexpr uint32_t kRuntimeVersion = 13000;
constexpr uint64_t kArgumentsAlignBytes = 64;
constexpr uint64_t kMostCopyKind = 4;  // cudaMemcpyDefault
constexpr uint32_t kNonBlockingStream = 1, kEventWithoutTiming = 2;

/// The error of a function with a result of 8 bytes.
constexpr uint64_t no_word(DeviceError error) {
  return kNoWord << 32 | static_cast<uint32_t>(error);
}
/// The error of a function with a result of 4 bytes.
constexpr uint64_t no_half(DeviceError error) {
  return uint64_t{static_cast<uint32_t>(error)} << 32;
}

/// Executes one call of one thread.
class Caller {
 public:
  Caller(const simt::LaunchRecord& record, const simt::BlockState& state, DeviceGrid& grid,
         const uint64_t* words, DeviceCallSite site)
      : record_(record), state_(state), grid_(grid), words_(words), site_(site) {}

  uint64_t run(DeviceCall function);
  uint64_t run_out_of_memory(DeviceCall function);

 private:
  uint64_t buffer();
  uint64_t buffer_v2();
  DeviceError launch();
  DeviceError launch_v2();
  DeviceError launch_graph();
  DeviceError update_node();
  DeviceError store_argument();
  DeviceError release();
  DeviceError move(DeviceCall function);
  DeviceError copy(const CopyWords& words);
  DeviceError copy_rows(const CopyRowsWords& words);
  DeviceError copy_layers(const CopyLayersWords& words);
  DeviceError fill(const FillWords& words);
  DeviceError fill_layers(const FillLayersWords& words);
  uint64_t device_value(DeviceCall function);
  uint64_t make_handle(uint32_t flags, uint32_t required);
  uint64_t limit();
  uint64_t attribute();
  uint64_t function_attribute();
  uint64_t occupancy();
  DeviceError handle_call(DeviceCall function);

  Context& context() const { return *grid_.launches().context(); }
  template <class Words>
  Words words() const {
    return words_as<Words>(words_);
  }
  /// The launch of a kernel in a shape.
  DeviceError describe(const Function* kernel, const ShapeWords& shape, DeviceWork* out_work) const;
  DeviceError submit_copy(Transfer transfer, uint64_t stream);
  uint64_t thread_number() const;
  DeviceError note(DeviceError error) {
    if (error != DeviceError::none) grid_.note_error(thread_number(), error);
    return error;
  }

  const simt::LaunchRecord& record_;
  const simt::BlockState& state_;
  DeviceGrid& grid_;
  const uint64_t* const words_;
  const DeviceCallSite site_;
};

uint64_t Caller::thread_number() const {
  const uint64_t block =
      (uint64_t{state_.block[2]} * record_.grid[1] + state_.block[1]) * record_.grid[0] +
      state_.block[0];
  return block * simt::kMaxBlockThreads + site_.thread;
}

DeviceError Caller::describe(const Function* kernel, const ShapeWords& shape,
                             DeviceWork* out_work) const {
  if (kernel == nullptr) return DeviceError::invalid_function;
  out_work->function = kernel;
  out_work->depth = grid_.depth() + 1;
  kmb_launch& launch = out_work->launch;
  shape.grid.copy_to(launch.grid);
  shape.block.copy_to(launch.block);
  launch.shared_bytes = shape.shared_bytes;
  launch.arguments_size_bytes = kernel->kernel().param_bytes;
  if (!check_launch(*kernel, launch)) return DeviceError::invalid_configuration;
  return DeviceError::none;
}

uint64_t Caller::buffer() {
  const auto [align, size_bytes] = words<BufferWords>();
  const bool is_valid = std::has_single_bit(align) && align <= Heap::kAlignBytes;
  const uint64_t address =
      is_valid ? grid_.make_buffer(size_bytes, std::max(align, kArgumentsAlignBytes), {}) : 0;
  if (!is_valid) note(DeviceError::invalid_value);
  if (is_valid && address == 0) note(DeviceError::out_of_resources);
  return address;
}

uint64_t Caller::buffer_v2() {
  const auto [kernel, shape] = words<KernelBufferWords>();
  DeviceWork work;
  const DeviceError error = describe(grid_.module().kernel_at(kernel), shape, &work);
  if (note(error) != DeviceError::none) return 0;
  const uint64_t address =
      grid_.make_buffer(work.launch.arguments_size_bytes, kArgumentsAlignBytes, work);
  if (address == 0) note(DeviceError::out_of_resources);
  return address;
}

DeviceError Caller::launch() {
  const auto given = words<LaunchWords>();
  DeviceWork work;
  const DeviceError error = describe(grid_.module().kernel_at(given.kernel), given.shape, &work);
  if (error != DeviceError::none) return error;
  if (given.buffer != 0) {
    const std::optional<DeviceWork> buffer = grid_.take_buffer(given.buffer);
    if (!buffer) return DeviceError::invalid_pointer;
    if (buffer->launch.arguments_size_bytes < work.launch.arguments_size_bytes) {
      return DeviceError::invalid_value;
    }
    work.launch.arguments = buffer->launch.arguments;
  } else if (work.launch.arguments_size_bytes != 0) {
    return DeviceError::invalid_value;
  }
  if (given.stream == kTailLaunchStream) work.depth = grid_.depth();
  if (work.depth > DeviceLaunches::kMostDepth) return DeviceError::too_deep;
  return grid_.submit(work, given.stream);
}

DeviceError Caller::launch_v2() {
  const auto [buffer, stream] = words<BufferLaunchWords>();
  std::optional<DeviceWork> work = grid_.take_buffer(buffer);
  if (!work || work->function == nullptr) return DeviceError::invalid_pointer;
  if (stream == kTailLaunchStream) work->depth = grid_.depth();
  if (work->depth > DeviceLaunches::kMostDepth) return DeviceError::too_deep;
  return grid_.submit(*work, stream);
}

/// Implements cudaGraphLaunch, by which kernels of graphs launch graphs.
DeviceError Caller::launch_graph() {
  const auto [handle, stream] = words<GraphLaunchWords>();
  const bool is_tail = stream == kGraphTailLaunchStream;
  if (!is_tail && stream != kGraphFireAndForgetStream && stream != kGraphSiblingStream) {
    return DeviceError::invalid_value;
  }
  GraphEnvironment* const environment = grid_.environment();
  std::shared_ptr<const DeviceGraph> graph = context().device_graphs().find(handle);
  if (environment == nullptr || graph == nullptr) return DeviceError::invalid_value;
  // The running graph may only launch itself as a tail, whoever has launched it.
  if (!is_tail && record_.graph_exec == handle) return DeviceError::invalid_value;
  DeviceWork work;
  work.graph = DeviceGraphLaunch::begin(std::move(graph), is_tail);
  if (work.graph == nullptr) return DeviceError::invalid_value;
  if (!is_tail) {
    return environment->count_launch() ? grid_.add(std::move(work), false)
                                       : DeviceError::too_many_pending;
  }
  return environment->add_tail(std::move(work)) ? DeviceError::none : DeviceError::too_many_pending;
}

/// Implements cudaGraphKernelNodeUpdate. Arguments are only checked: node_store writes them.
DeviceError Caller::update_node() {
  enum : uint32_t { kGrid = 1, kArguments, kEnabled };
  const auto given = words<NodeUpdateWords>();
  const std::shared_ptr<UpdatableNode> node = context().device_graphs().nodes().find(given.node);
  if (node == nullptr) return DeviceError::invalid_value;
  uint32_t grid[3];
  given.grid().copy_to(grid);
  switch (static_cast<uint32_t>(given.field)) {
    case kGrid:
      return node->set_grid(grid);
    case kEnabled:
      return node->set_enabled(static_cast<uint32_t>(given.value) != 0);
    case kArguments: {
      const bool is_valid = node->has_arguments(given.offset_bytes, given.size_bytes) &&
                            (given.value != 0 || given.size_bytes == 0);
      return is_valid ? DeviceError::none : DeviceError::invalid_value;
    }
    default:
      return DeviceError::invalid_value;
  }
}

DeviceError Caller::store_argument() {
  const auto given = words<NodeUpdateWords>();
  const std::shared_ptr<UpdatableNode> node = context().device_graphs().nodes().find(given.node);
  if (node == nullptr || given.size_bytes > sizeof given.value) return DeviceError::invalid_value;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&given.value);
  return node->set_arguments(given.offset_bytes, {bytes, given.size_bytes});
}

DeviceError Caller::release() {
  return context().device_heap().release(words_[0]) ? DeviceError::none
                                                    : DeviceError::invalid_pointer;
}

DeviceError Caller::submit_copy(Transfer transfer, uint64_t stream) {
  const bool has_source = transfer.is_fill() || transfer.source != 0;
  if (transfer.size_bytes == 0) {
    return grid_.is_stream(stream) ? DeviceError::none : DeviceError::invalid_handle;
  }
  if (transfer.destination == 0 || !has_source) return DeviceError::invalid_value;
  DeviceWork work;
  work.transfer = transfer;
  return grid_.submit(work, stream);
}

/// Makes a transfer of rows in layers; empty if a row is longer than its pitch or a layer has too
/// many rows.
std::optional<Transfer> layers(const TransferRows& shape, uint64_t depth) {
  Transfer transfer;
  transfer.rows = shape;
  transfer.rows.count = shape.height * depth;
  transfer.size_bytes = shape.width_bytes * transfer.rows.count;
  const bool is_empty = transfer.size_bytes == 0;
  uint64_t rows = 0, bytes = 0;
  if (__builtin_mul_overflow(shape.height, depth, &rows) ||
      __builtin_mul_overflow(rows, shape.width_bytes, &bytes)) {
    return std::nullopt;
  }
  if (is_empty) return Transfer();
  return transfer;
}

DeviceError Caller::copy(const CopyWords& words) {
  if (words.kind > kMostCopyKind) return DeviceError::invalid_value;
  Transfer transfer;
  transfer.destination = words.destination;
  transfer.source = words.source;
  transfer.size_bytes = words.size_bytes;
  return submit_copy(transfer, words.stream);
}

DeviceError Caller::copy_rows(const CopyRowsWords& words) {
  if (words.kind > kMostCopyKind) return DeviceError::invalid_value;
  return copy_layers({words.destination, words.destination_pitch, 0, words.source,
                      words.source_pitch, 0, words.width_bytes, words.height, 1, words.stream});
}

DeviceError Caller::copy_layers(const CopyLayersWords& words) {
  if (words.width_bytes > words.destination_pitch || words.width_bytes > words.source_pitch) {
    return DeviceError::invalid_value;
  }
  std::optional<Transfer> shaped =
      layers({.width_bytes = words.width_bytes,
              .height = words.height,
              .destination_pitch = words.destination_pitch,
              .destination_layer = words.destination_pitch * words.destination_rows,
              .source_pitch = words.source_pitch,
              .source_layer = words.source_pitch * words.source_rows},
             words.depth);
  if (!shaped) return DeviceError::invalid_value;
  shaped->destination = words.destination;
  shaped->source = words.source;
  return submit_copy(*shaped, words.stream);
}

DeviceError Caller::fill(const FillWords& words) {
  Transfer transfer;
  transfer.destination = words.destination;
  transfer.value = static_cast<uint8_t>(words.value);
  transfer.value_size_bytes = 1;
  transfer.size_bytes = words.size_bytes;
  transfer.kind = KM_PROFILE_KIND_FILL;
  return submit_copy(transfer, words.stream);
}

DeviceError Caller::fill_layers(const FillLayersWords& words) {
  if (words.width_bytes > words.pitch) return DeviceError::invalid_value;
  std::optional<Transfer> shaped = layers({.width_bytes = words.width_bytes,
                                           .height = words.height,
                                           .destination_pitch = words.pitch,
                                           .destination_layer = words.pitch * words.rows},
                                          words.depth);
  if (!shaped) return DeviceError::invalid_value;
  shaped->destination = words.destination;
  shaped->value = static_cast<uint8_t>(words.value);
  shaped->value_size_bytes = 1;
  shaped->kind = KM_PROFILE_KIND_FILL;
  return submit_copy(*shaped, words.stream);
}

DeviceError Caller::move(DeviceCall function) {
  switch (function) {
    case DeviceCall::copy:
      return copy(words<CopyWords>());
    case DeviceCall::copy_rows:
      return copy_rows(words<CopyRowsWords>());
    case DeviceCall::copy_layers:
      return copy_layers(words<CopyLayersWords>());
    case DeviceCall::fill:
      return fill(words<FillWords>());
    case DeviceCall::fill_rows: {
      const auto given = words<FillRowsWords>();  // one layer
      return fill_layers({given.destination, given.pitch, 0, given.value, given.width_bytes,
                          given.height, 1, given.stream});
    }
    default:
      return fill_layers(words<FillLayersWords>());
  }
}

uint64_t Caller::make_handle(uint32_t flags, uint32_t required) {
  if (flags == required) return grid_.create_handle();
  return no_word(note(DeviceError::invalid_value));
}

uint64_t Caller::limit() {
  enum : uint32_t { kStack, kPrintf, kHeap, kSyncDepth, kPendingLaunches };
  constexpr uint64_t kDefaultPending = 2048;
  switch (static_cast<uint32_t>(words_[0])) {
    case kStack:
      return context().thread_stack_bytes().load(std::memory_order_relaxed);
    case kPrintf:
      return context().output().limit_bytes();
    case kHeap:
      return context().device_heap().limit_bytes();
    case kPendingLaunches: {
      const uint64_t limit = context().pending_launches().load(std::memory_order_relaxed);
      return limit != 0 ? limit : kDefaultPending;
    }
    default:
      return no_word(note(DeviceError::unsupported_limit));
  }
}

uint64_t Caller::attribute() {
  const Device& own = *context().device();
  const auto [number, device] = words<DeviceAttributeWords>();
  if (device != own.ordinal()) return no_half(note(DeviceError::invalid_device));
  const auto value = cuda_attribute(own, static_cast<int32_t>(number));
  if (!value) return no_half(note(DeviceError::invalid_value));
  return static_cast<uint32_t>(*value);
}

uint64_t Caller::function_attribute() {
  // Asking changes nothing of a function; attribute() is not const as it may make code.
  const auto given = words<FunctionAttributeWords>();
  auto* const kernel = const_cast<Function*>(grid_.module().kernel_at(given.kernel));
  if (kernel == nullptr) return no_word(note(DeviceError::invalid_function));
  const auto attribute = static_cast<km_function_attribute>(given.attribute);
  const Result<int64_t> value = kernel->attribute(attribute);
  if (!value) return no_word(note(DeviceError::invalid_value));
  return static_cast<uint64_t>(*value) & ~(uint64_t{1} << 63);
}

MultiprocessorLimits own_limits() {
  const CapabilityLimits& of = config().limits;
  MultiprocessorLimits limits;
  limits.warp_threads = simt::kWarpLanes;
  limits.threads = of.threads;
  limits.block_threads = kMaxThreadsPerBlock;
  limits.blocks = of.blocks;
  limits.registers = of.registers;
  limits.block_registers = of.block_registers;
  limits.shared_bytes = of.shared_bytes;
  limits.block_shared_bytes = of.block_shared_bytes;
  limits.reserved_shared_bytes = of.reserved_shared_bytes;
  limits.shared_unit_bytes = of.shared_unit_bytes;
  limits.register_partitions = of.register_partitions;
  return limits;
}

/// Implements cudaOccupancyMaxActiveBlocksPerMultiprocessor.
uint64_t Caller::occupancy() {
  constexpr uint64_t kMostFlags = 1;  // cudaOccupancyDisableCachingOverride
  const auto given = words<OccupancyWords>();
  auto* const kernel = const_cast<Function*>(grid_.module().kernel_at(given.kernel));
  if (kernel == nullptr) return no_half(note(DeviceError::invalid_function));
  const auto threads = static_cast<int32_t>(given.threads);
  if (threads <= 0 || given.flags > kMostFlags) return no_half(note(DeviceError::invalid_value));
  const Result<int64_t> registers = kernel->attribute(KM_FUNCTION_ATTRIBUTE_REGISTERS);
  const Result<int64_t> shared = kernel->attribute(KM_FUNCTION_ATTRIBUTE_SHARED_BYTES);
  const Result<int64_t> most = kernel->attribute(KM_FUNCTION_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  if (!registers || !shared || !most) return no_half(note(DeviceError::invalid_value));
  const KernelNeeds needs = {static_cast<uint32_t>(*registers), static_cast<uint64_t>(*shared),
                             static_cast<uint32_t>(*most), kernel->max_dynamic_shared_bytes()};
  return compute_occupancy(own_limits(), needs, static_cast<uint32_t>(threads), given.shared_bytes)
      .active_blocks;
}

uint64_t Caller::device_value(DeviceCall function) {
  switch (function) {
    case DeviceCall::device_count:
      return config().devices;
    case DeviceCall::device:
      return context().device()->ordinal();
    case DeviceCall::runtime_version:
      return kRuntimeVersion;
    default:
      return 0;  // no preference between cache and shared memory
  }
}

DeviceError Caller::handle_call(DeviceCall function) {
  const auto valid = [](bool is_valid) {
    return is_valid ? DeviceError::none : DeviceError::invalid_handle;
  };
  switch (function) {
    case DeviceCall::stream_destroy:
    case DeviceCall::event_destroy:
      return valid(grid_.destroy_handle(words_[0]));
    case DeviceCall::stream_wait: {
      const auto [stream, event] = words<StreamWaitWords>();
      return valid(grid_.is_stream(stream) && grid_.is_event(event));
    }
    default: {  // event_record has no effect, because later work runs later in any case
      const auto [event, stream] = words<EventRecordWords>();
      return valid(grid_.is_event(event) && grid_.is_stream(stream));
    }
  }
}

uint64_t Caller::run(DeviceCall function) {
  const auto number = [](DeviceError error) { return static_cast<uint64_t>(error); };
  switch (function) {
    case DeviceCall::get_parameter_buffer:
      return buffer();
    case DeviceCall::get_parameter_buffer_v2:
      return buffer_v2();
    case DeviceCall::launch:
      return number(note(launch()));
    case DeviceCall::launch_v2:
      return number(note(launch_v2()));
    case DeviceCall::graph_launch:
      return number(note(launch_graph()));
    case DeviceCall::node_update:
      return number(note(update_node()));
    case DeviceCall::node_store:
      return number(note(store_argument()));
    case DeviceCall::get_last_error:
    case DeviceCall::peek_last_error:
      return number(grid_.last_error(thread_number(), function == DeviceCall::get_last_error));
    case DeviceCall::allocate: {
      const uint64_t unit = static_cast<const LaunchRun*>(record_.host)->unit->id;
      const DeviceHeap::Place place{unit, site_.pc, true};
      const uint64_t address = context().device_heap().allocate(words_[0], place);
      if (address != 0 || words_[0] == 0) return address;
      return no_word(note(DeviceError::out_of_memory));
    }
    case DeviceCall::release:
      return number(note(release()));
    case DeviceCall::copy:
    case DeviceCall::copy_rows:
    case DeviceCall::copy_layers:
    case DeviceCall::fill:
    case DeviceCall::fill_rows:
    case DeviceCall::fill_layers:
      return number(note(move(function)));
    case DeviceCall::stream_create:
      return make_handle(static_cast<uint32_t>(words_[0]), kNonBlockingStream);
    case DeviceCall::event_create:
      return make_handle(static_cast<uint32_t>(words_[0]), kEventWithoutTiming);
    case DeviceCall::stream_destroy:
    case DeviceCall::stream_wait:
    case DeviceCall::event_record:
    case DeviceCall::event_destroy:
      return number(note(handle_call(function)));
    case DeviceCall::device_attribute:
      return attribute();
    case DeviceCall::device_limit:
      return limit();
    case DeviceCall::device_count:
    case DeviceCall::device:
    case DeviceCall::runtime_version:
    case DeviceCall::cache_config:
      return device_value(function);
    case DeviceCall::function_attribute:
      return function_attribute();
    case DeviceCall::occupancy:
      return occupancy();
  }
  return number(DeviceError::unknown);
}

/// Returns the error in the encoding of the function's result, which its wrapper decodes.
uint64_t Caller::run_out_of_memory(DeviceCall function) {
  switch (function) {
    case DeviceCall::get_parameter_buffer:
    case DeviceCall::get_parameter_buffer_v2:
      return 0;
    case DeviceCall::allocate:
    case DeviceCall::stream_create:
    case DeviceCall::event_create:
    case DeviceCall::device_limit:
    case DeviceCall::function_attribute:
      return no_word(DeviceError::out_of_memory);
    case DeviceCall::device_attribute:
    case DeviceCall::occupancy:
      return no_half(DeviceError::out_of_memory);
    default:
      return static_cast<uint64_t>(DeviceError::out_of_memory);
  }
}

}  // namespace

uint64_t DeviceGrid::call(const simt::LaunchRecord& record, const simt::BlockState& state,
                          DeviceCall function, const uint64_t* words, DeviceCallSite site) {
  Caller caller(record, state, *this, words, site);
  const HostMemoryOptional optional;
  try {
    return caller.run(function);
  } catch (const std::bad_alloc&) {
    return caller.run_out_of_memory(function);
  }
}

}  // namespace km::cpu
