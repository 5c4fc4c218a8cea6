#include "backends/cpu/runtime/runtime_table.h"

#include <algorithm>
#include <cstdio>
#include <new>

#include "backends/cpu/config/config.h"
#include "backends/cpu/execution/device_call.h"
#include "backends/cpu/memory/device_heap.h"
#include "backends/cpu/runtime/assertion.h"
#include "backends/cpu/runtime/caller.h"
#include "backends/cpu/runtime/check_reports.h"
#include "backends/cpu/runtime/counter_reports.h"
#include "backends/cpu/runtime/device_printf.h"
#include "backends/cpu/runtime/images.h"
#include "backends/cpu/runtime/lane_memory.h"
#include "backends/cpu/runtime/tensor_cores.h"
#include "backends/cpu/runtime/tensor_memory.h"
#include "backends/cpu/runtime/trial_reports.h"
#include "backends/cpu/threads/futex.h"
#include "backends/cpu/threads/sanitizers.h"
#include "backends/cpu/trials/trial.h"
#include "base/callback/device_output.h"
#include "base/memory/host_allocator.h"
#include "base/printable.h"
#include "simt/runtime/check/order_runtime.h"
#include "simt/runtime/device_call.h"
#include "simt/runtime/independent_warp.h"
#include "simt/runtime/mma.h"

namespace km::cpu {
namespace {

using simt::BlockState;
using simt::FaultKind;
using simt::LaunchRecord;

constexpr uint64_t kHelperStackBytes = 48 << 10;  // the most that formatting needs
constexpr uint64_t kNameLimit = 4096;

KM_NO_SANITIZE void raise(BlockState* state, FaultKind kind, uint64_t address, uint64_t size_bytes,
                          uint32_t thread, uint32_t line) {
  executor_of(state).raise(kind, KM_CALLER_PC, address, size_bytes, thread, line);
}

/// Formats the text and appends it to the output; false if *out_address is inaccessible.
bool print_text(const LaunchRecord* record, const char* format, const void* arguments,
                int32_t* out_count, uint64_t* out_address) {
  const HostMemoryOptional optional;
  try {
    std::optional<std::string> text =
        format_device_printf(format, arguments, out_count, out_address);
    if (!text) return false;
    static_cast<const LaunchRun*>(record->host)->output->append(*text);
  } catch (const std::bad_alloc&) {
    *out_count = -1;
  }
  return true;
}

KM_NO_SANITIZE int32_t print(const LaunchRecord* record, BlockState* state, const char* format,
                             const void* arguments, uint32_t thread) {
  uint64_t pc = KM_CALLER_PC, address = 0;
  int32_t count = 0;
  Executor& executor = executor_of(state);
  executor.check_stop(pc);
  executor.check_stack(kHelperStackBytes, pc);
  if (!print_text(record, format, arguments, &count, &address)) {
    executor.raise(FaultKind::illegal_address, pc, address, 0, thread);
  }
  return count;
}

/// Allocates for the code at an address.
KM_NO_SANITIZE uint64_t allocate_at(uint64_t pc, const LaunchRecord* record, BlockState* state,
                                    uint64_t size_bytes) {
  Executor& executor = executor_of(state);
  executor.check_stop(pc);
  executor.check_stack(kHelperStackBytes, pc);
  const auto& run = *static_cast<const LaunchRun*>(record->host);
  const uint64_t address = run.heap->allocate(size_bytes, {run.unit->id, pc});
  forget_checked(state, address, size_bytes);
  return address;
}

KM_NO_SANITIZE uint64_t allocate(const LaunchRecord* record, BlockState* state,
                                 uint64_t size_bytes) {
  return allocate_at(KM_CALLER_PC, record, state, size_bytes);
}

KM_NO_SANITIZE void release(const LaunchRecord* record, BlockState* state, uint64_t address,
                            uint32_t thread) {
  Executor& executor = executor_of(state);
  executor.check_stack(kHelperStackBytes, KM_CALLER_PC);
  if (static_cast<const LaunchRun*>(record->host)->heap->release(address)) return;
  executor.raise(FaultKind::illegal_address, KM_CALLER_PC, address, 0, thread);
}

KM_NO_SANITIZE uint64_t device_call_at(DeviceCallSite site, const LaunchRecord* record,
                                       BlockState* state, uint32_t function,
                                       const uint64_t* words) {
  Executor& executor = executor_of(state);
  executor.check_stop(site.pc);
  executor.check_stack(kHelperStackBytes, site.pc);
  DeviceCalls* const grid = static_cast<const LaunchRun*>(record->host)->grid;
  if (grid == nullptr) return static_cast<uint64_t>(DeviceError::unknown);
  const auto called = static_cast<DeviceCall>(function);
  const uint64_t result = grid->call(*record, *state, called, words, site);
  const bool allocates = called == DeviceCall::allocate && result >> 32 != kNoWord;
  if (allocates) forget_checked(state, result, words[0]);
  return result;
}

KM_NO_SANITIZE uint64_t device_call(const LaunchRecord* record, BlockState* state,
                                    uint32_t function, const uint64_t* words, uint32_t thread) {
  return device_call_at({KM_CALLER_PC, thread}, record, state, function, words);
}

/// The arguments of __assertfail().
struct FailedAssertion {
  const char *message, *file;
  uint32_t line;
  const char* function;
  uint32_t thread;
};

/// The line that GPUs print for every thread whose assertion fails.
std::string assertion_line(const LaunchRecord& record, const BlockState& state,
                           const FailedAssertion& failed, const std::string& message,
                           const std::string& where, const std::string& function) {
  const uint32_t x = std::max(record.block[0], 1U), y = std::max(record.block[1], 1U);
  char place[128];
  snprintf(place, sizeof place, ": block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `",
           state.block[0], state.block[1], state.block[2], failed.thread % x, failed.thread / x % y,
           failed.thread / x / y);
  return where + ": " + function + place + message + "` failed.\n";
}

/// Prints the line, and records the failure for the launch's error. False if no more lines will be
/// printed, so that the launch may end.
bool note_assertion(const LaunchRecord& record, BlockState* state, const FailedAssertion& failed,
                    uint64_t pc) {
  constexpr uint32_t kMostLines = 1024;  // printf output is limited, too
  const auto& run = *static_cast<const LaunchRun*>(record.host);
  const uint32_t before = run.assertions->fetch_add(1, std::memory_order_relaxed);
  if (before == 0) limit_failed_launch(run, executor_of(state).kernel_thread());
  const auto text_at = [](const char* text) {
    return read_text(text, kNameLimit).value_or("(unreadable)");
  };
  const HostMemoryOptional optional;
  try {
    const std::string message = printable(text_at(failed.message));
    const std::string function = printable_name(text_at(failed.function));
    const std::string where =
        printable_name(text_at(failed.file)) + ":" + std::to_string(failed.line);
    if (before < kMostLines) {
      run.output->append_error(assertion_line(record, *state, failed, message, where, function));
    }
    executor_of(state).note_assertion(
        "assertion `" + message + "' failed at " + where + " in " + function, pc, failed.thread);
  } catch (const std::bad_alloc&) {
    executor_of(state).note_assertion({}, pc, failed.thread);  // an empty string needs no memory
  }
  return before + 1 < kMostLines;
}

KM_NO_SANITIZE void assert_fail(const LaunchRecord* record, BlockState* state, const char* message,
                                const char* file, uint32_t line, const char* function,
                                uint32_t thread) {
  uint64_t pc = KM_CALLER_PC;
  Executor& executor = executor_of(state);
  executor.check_stop(pc);
  executor.check_stack(kHelperStackBytes, pc);
  if (note_assertion(*record, state, {message, file, line, function, thread}, pc)) return;
  executor.raise_assertion();
}

KM_NO_SANITIZE uint32_t wait_at_barrier(BlockState* state, uint32_t id, uint32_t thread_count,
                                        uint32_t predicate_count, uint64_t pc) {
  Executor& executor = executor_of(state);
  executor.check_stop(pc);
  uint32_t predicates = 0;
  if (!executor.fiber_block().barrier_wait(id, thread_count, predicate_count, &predicates, pc)) {
    executor.raise_deadlock({pc, 0, state->first_thread});
  }
  return predicates;
}

KM_NO_SANITIZE void barrier_wait(const LaunchRecord*, BlockState* state, uint32_t id,
                                 uint32_t thread_count, uint32_t) {
  wait_at_barrier(state, id, thread_count, 0, KM_CALLER_PC);
}

void barrier_arrive(const LaunchRecord*, BlockState* state, uint32_t id, uint32_t thread_count,
                    uint32_t) {
  executor_of(state).fiber_block().barrier_arrive(id, thread_count);
}

KM_NO_SANITIZE uint32_t barrier_reduce(const LaunchRecord*, BlockState* state, uint32_t id,
                                       uint32_t thread_count, uint32_t, uint32_t predicate_count) {
  return wait_at_barrier(state, id, thread_count, predicate_count, KM_CALLER_PC);
}

KM_NO_SANITIZE void yield(const LaunchRecord*, BlockState* state) {
  const uint64_t pc = KM_CALLER_PC;
  Executor& executor = executor_of(state);
  executor.check_stop(pc);
  executor.fiber_block().yield(pc);
}

KM_NO_SANITIZE void sleep_ns(const LaunchRecord*, BlockState* state, uint32_t duration_ns) {
  constexpr uint64_t kTurnNs = 1000000;  // the interval between checks of the stop word
  uint64_t pc = KM_CALLER_PC, end = now_ns() + duration_ns;
  for (uint64_t now = now_ns(); now < end; now = now_ns()) {
    executor_of(state).check_stop(pc);
    timespec pause = {0, static_cast<long>(std::min(end - now, kTurnNs))};
    nanosleep(&pause, nullptr);
  }
}

KM_NO_SANITIZE void check_range(const LaunchRecord*, BlockState* state, const uint64_t* addresses,
                                uint32_t lanes, const simt::AccessPart* parts, uint32_t part_count,
                                uint64_t extent_bytes, uint64_t* out_range) {
  Executor& executor = executor_of(state);
  AddressRange range;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    for (uint32_t i = 0; i < part_count; ++i) {
      const simt::AccessPart& part = parts[i];
      const uint64_t address = addresses[lane] + static_cast<uint64_t>(part.offset_bytes);
      if (range.holds(address, part.held_bytes)) continue;
      range = executor.find_memory(address, part.held_bytes);
      if (!range.is_empty()) continue;
      executor.raise(FaultKind::illegal_address, KM_CALLER_PC, address, part.size_bytes,
                     executor.first_thread() + lane, part.line);
    }
  }
  const bool fits = extent_bytes <= range.size_bytes;
  out_range[0] = fits ? range.begin : UINT64_MAX;
  out_range[1] = fits ? range.size_bytes - extent_bytes : 0;
}

KM_NO_SANITIZE void check_sizes(const LaunchRecord*, BlockState* state, const uint64_t* addresses,
                                const uint64_t* sizes, uint32_t lanes, uint32_t line,
                                uint64_t* out_range) {
  Executor& executor = executor_of(state);
  AddressRange range{out_range[0], out_range[1]};
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    if (sizes[lane] == 0 || range.holds(addresses[lane], sizes[lane])) continue;
    range = executor.find_memory(addresses[lane], sizes[lane]);
    if (!range.is_empty()) continue;
    executor.raise(FaultKind::illegal_address, KM_CALLER_PC, addresses[lane], sizes[lane],
                   executor.first_thread() + lane, line);
  }
  out_range[0] = range.begin;
  out_range[1] = range.size_bytes;
}

KM_NO_SANITIZE void independent_barrier(const LaunchRecord*, BlockState* state,
                                        simt::IndependentWarp* warp, uint32_t lanes, uint32_t id,
                                        uint32_t thread_count, uint32_t predicates, uint32_t waits,
                                        uint32_t next) {
  executor_of(state).independent_block().arrive(warp, lanes, id, thread_count, predicates,
                                                waits != 0, next, KM_CALLER_PC);
}

KM_NO_SANITIZE void mma(const LaunchRecord*, BlockState* state, const simt::MmaForm* form,
                        const uint32_t* places, uint8_t* fragments) {
  executor_of(state).check_stack(kHelperStackBytes, KM_CALLER_PC);
  const Config& device = config();
  simt::MmaRule rule = simt::mma_rule(device.capability_major, device.capability_minor, form->a);
  rule.fast = device.fast_mma;
  simt::mma_in_memory(*form, rule, places, fragments);
}

KM_NO_SANITIZE void privatize_atomics(BlockState* state, uint64_t address, uint32_t size_bytes) {
  executor_of(state).privatize_atomics(address, size_bytes);
}

KM_NO_SANITIZE void flush_privatized(BlockState* state, uint32_t line) {
  state->line = line;
  executor_of(state).flush_privatized();
}

constexpr simt::RuntimeTable kBase = {
    .raise = raise,
    .print = print,
    .allocate = allocate,
    .release = release,
    .assert_fail = assert_fail,
    .barrier_wait = barrier_wait,
    .barrier_arrive = barrier_arrive,
    .barrier_reduce = barrier_reduce,
    .yield = yield,
    .time_ns = now_ns,
    .sleep_ns = sleep_ns,
    .check_range = check_range,
    .check_sizes = check_sizes,
    .independent_next = simt::independent_next,
    .independent_sync = simt::independent_sync,
    .independent_barrier = independent_barrier,
    .mma = mma,
    .load_lanes = load_lanes,
    .store_lanes = store_lanes,
    .misaligned = misaligned,
    .privatize_atomics = privatize_atomics,
    .flush_privatized = flush_privatized,
};
constexpr simt::TensorRuntime kTensors = {{{kBase, access_image}, device_call},
                                          wgmma,
                                          copy_tensor,
                                          replace_tensor_field,
                                          manage_tensors,
                                          move_tensor,
                                          run_tensor_core};
constexpr simt::CheckRuntime kChecks = {
    .base = kTensors,
    .filter_access = filter_access,
    .report_access = report_access,
    .report_content = report_content,
    .report_ranges = report_ranges,
    .report_acquire = report_acquire,
    .report_fence = report_fence,
    .report_barrier = report_barrier,
    .report_members = report_members,
    .report_warp_sync = report_warp_sync,
    .report_copies = report_copies,
    .report_locals = report_locals,
    .report_undefined = report_undefined,
};
constexpr simt::CounterRuntime kTable = {kChecks, count_access, count_block};

// The functions below stand before those of the same names in the table of launches with a Trial.

void note_effect(const BlockState* state, const char* effect) {
  executor_of(state).launch().trial->effect = effect;
}

KM_NO_SANITIZE uint64_t allocate_once(const LaunchRecord* record, BlockState* state,
                                      uint64_t size_bytes) {
  note_effect(state, "allocate memory");
  return allocate_at(KM_CALLER_PC, record, state, size_bytes);
}

KM_NO_SANITIZE void release_once(const LaunchRecord* record, BlockState* state, uint64_t address,
                                 uint32_t thread) {
  note_effect(state, "allocate memory");
  release(record, state, address, thread);
}

KM_NO_SANITIZE void assert_fail_once(const LaunchRecord* record, BlockState* state,
                                     const char* message, const char* file, uint32_t line,
                                     const char* function, uint32_t thread) {
  note_effect(state, "have failed assertions");
  assert_fail(record, state, message, file, line, function, thread);
}

KM_NO_SANITIZE uint64_t device_call_once(const LaunchRecord* record, BlockState* state,
                                         uint32_t function, const uint64_t* words,
                                         uint32_t thread) {
  note_effect(state, "call the CUDA runtime");
  make_stores_of_block(state);
  return device_call_at({KM_CALLER_PC, thread}, record, state, function, words);
}

KM_NO_SANITIZE void access_image_once(BlockState* state, const simt::ImageForm* form,
                                      uint64_t handle, const uint64_t* handles, uint32_t lanes,
                                      simt::ImageSlot* slots) {
  using simt::ImageOperation;
  const bool writes =
      form->operation == ImageOperation::store || form->operation == ImageOperation::reduce;
  if (writes) note_effect(state, "write to surfaces");
  access_image(state, form, handle, handles, lanes, slots);
}

KM_NO_SANITIZE void copy_tensor_once(BlockState* state, const simt::TensorCopyForm* form,
                                     uint32_t lanes, simt::TensorCopySlots* slots) {
  note_effect(state, "copy tensors");
  make_stores_of_block(state);
  copy_tensor(state, form, lanes, slots);
}

KM_NO_SANITIZE int32_t print_in_order(const LaunchRecord* record, BlockState* state,
                                      const char* format, const void* arguments, uint32_t thread) {
  make_stores_of_block(state);
  return print(record, state, format, arguments, thread);
}

KM_NO_SANITIZE void barrier_in_order(const LaunchRecord* record, BlockState* state,
                                     simt::IndependentWarp* warp, uint32_t lanes, uint32_t id,
                                     uint32_t thread_count, uint32_t predicates, uint32_t waits,
                                     uint32_t next) {
  make_stores(state, lanes);
  independent_barrier(record, state, warp, lanes, id, thread_count, predicates, waits, next);
}

constexpr simt::OrderRuntime with_trial(simt::CounterRuntime table) {
  simt::RuntimeTable& base = table.base.base.base.base.base;
  base.print = print_in_order;
  base.independent_barrier = barrier_in_order;
  base.independent_next = simt::scheduled_next;
  base.allocate = allocate_once;
  base.release = release_once;
  base.assert_fail = assert_fail_once;
  table.base.base.base.base.image = access_image_once;
  table.base.base.base.call = device_call_once;
  table.base.base.copy_tensor = copy_tensor_once;
  return {table, delay_store, load_old};
}
constexpr simt::OrderRuntime kTrialTable = with_trial(kTable);

}  // namespace

const simt::RuntimeTable& runtime_table() { return kTable.base.base.base.base.base; }
const simt::RuntimeTable& trial_table() { return kTrialTable.base.base.base.base.base.base; }

}  // namespace km::cpu
