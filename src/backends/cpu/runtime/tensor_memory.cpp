#include "backends/cpu/runtime/tensor_memory.h"

#include "backends/cpu/config/config.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/fault/runtime_code.h"
#include "backends/cpu/runtime/caller.h"
#include "backends/cpu/runtime/check_reports.h"
#include "backends/cpu/threads/sanitizers.h"
#include "simt/kernel/warpgroup_rules.h"
#include "simt/runtime/tensors/warpgroup.h"

namespace km::cpu {
namespace {

using simt::BlockState;
using simt::FaultKind;
using simt::kWarpLanes;

constexpr uint64_t kWarpgroupStackBytes = 64 << 10, kCopyStackBytes = 8 << 10;

/// A lane's copy by a tensor map, whose rows in global memory are found one after the other.
struct RunningCopy {
  Executor& executor;
  const simt::TensorCopyForm& form;
  uint32_t thread = 0;
  uint64_t map = 0;  // the address of the tensor map
  uint64_t box = 0;  // of the block that gets it

  bool loads() const { return form.operation == simt::TensorOperation::load; }

  /// Tells the checker of an access to global memory or to the box.
  void report(uint64_t address, uint64_t size_bytes, simt::AccessKind kind,
              const uint8_t* content) const {
    simt::AccessNote note{};
    note.line = form.line;
    note.element_bytes = 1;
    note.kind = kind;
    note.scope = simt::MemoryScope::device;
    note.copy = loads() ? simt::CopyKind::barrier : simt::CopyKind::bulk_group;
    if (kind == simt::AccessKind::atomic) note.flags = simt::access_flag::kStrong;
    report_range(executor, {address, size_bytes}, thread, note, content);
  }
};

bool may_access(void* context, uint64_t address, uint64_t size_bytes, const uint8_t* content) {
  const auto& copy = *static_cast<const RunningCopy*>(context);
  if (copy.executor.find_memory(address, size_bytes).is_empty()) return false;
  using simt::AccessKind;
  AccessKind kind =
      copy.form.operation == simt::TensorOperation::store ? AccessKind::write : AccessKind::atomic;
  if (copy.loads() || address == copy.map) kind = AccessKind::read;
  copy.report(address, size_bytes, kind, content);
  return true;
}

void report_box(void* context, uint64_t size_bytes, const uint8_t* content) {
  const auto& copy = *static_cast<const RunningCopy*>(context);
  copy.report(copy.box, size_bytes, simt::AccessKind::write, content);
}

/// Executes a lane's copy to shared memory of its own block or, if it is multicast, of each block
/// of the cluster whose bit is set.
KM_NO_SANITIZE simt::TensorFault copy_lane(const simt::TensorCopyForm& form,
                                           simt::TensorCopySlots& slots, uint32_t lane,
                                           simt::TensorPlace place) {
  const auto copy_box = [&] {
    auto* const copy = static_cast<RunningCopy*>(place.context);
    if (copy != nullptr) copy->box = place.box;
    const simt::TensorFault fault = copy_tensor(form, slots, lane, place, &slots.sizes[lane]);
    if (fault.kind != FaultKind::none || copy == nullptr || copy->loads()) return fault;
    copy->report(place.box, slots.sizes[lane], simt::AccessKind::read, nullptr);
    return fault;
  };
  if (!form.is_multicast) return copy_box();
  const uint64_t box = place.box;
  uint8_t* const window = place.shared_window;
  for (uint64_t rank = 0; rank < slots.cluster_blocks; ++rank) {
    if ((slots.ranks[lane] >> rank & 1) == 0) continue;
    const uint64_t distance = (rank - slots.own_rank) << slots.cluster_bits;
    place.box = box + distance;
    place.shared_window = reinterpret_cast<uint8_t*>(reinterpret_cast<uint64_t>(window) + distance);
    const simt::TensorFault fault = copy_box();
    if (fault.kind != FaultKind::none) return fault;
  }
  return {};
}

}  // namespace

KM_NO_SANITIZE void wgmma(BlockState* state, const simt::WgmmaForm* form, uint32_t* registers,
                          uint64_t a_descriptor, uint64_t b_descriptor, uint32_t adds) {
  executor_of(state).check_stack(kWarpgroupStackBytes, KM_CALLER_PC);
  simt::MmaRule rule = simt::wgmma_rule(form->warp.a);
  rule.fast = config().fast_mma;
  const simt::WgmmaWarp warp{state->shared,
                             state->first_thread % simt::kWarpgroupThreads / kWarpLanes,
                             a_descriptor, b_descriptor, adds != 0};
  state->line = form->line;
  in_image_access = 1;  // descriptors may point outside shared memory
  simt::wgmma(*form, rule, warp, registers);
  in_image_access = 0;
}

KM_NO_SANITIZE void copy_tensor(BlockState* state, const simt::TensorCopyForm* form, uint32_t lanes,
                                simt::TensorCopySlots* slots) {
  Executor& executor = executor_of(state);
  executor.check_stack(kCopyStackBytes, KM_CALLER_PC);
  state->line = form->line;
  simt::TensorPlace place{.shared_window = state->shared};
  RunningCopy copy{executor, *form};
  if (static_cast<const Context*>(executor.launch().owner)->is_checked()) {
    place.may_access = may_access;
    place.context = &copy;
    place.report_box = report_box;
    if (copy.loads() && executor.block_checks() != nullptr) {
      place.shared_bytes = executor.launch().shared_bytes;
      place.image = executor.box_image();
    }
  }
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(lanes));
    place.box = slots->shared[lane];
    copy.thread = state->first_thread + lane;
    copy.map = slots->maps[lane];
    in_image_access = 1;
    const simt::TensorFault fault = copy_lane(*form, *slots, lane, place);
    in_image_access = 0;
    if (fault.kind == FaultKind::none) continue;
    executor.raise(fault.kind, KM_CALLER_PC, fault.address, fault.size_bytes,
                   state->first_thread + lane, form->line);
  }
}

KM_NO_SANITIZE void replace_tensor_field(BlockState* state, uint32_t field, uint32_t ordinal,
                                         uint32_t lanes, uint32_t line, const uint64_t* addresses,
                                         const uint64_t* values) {
  state->line = line;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(lanes));
    in_image_access = 1;
    const uint64_t problem =
        replace_field(reinterpret_cast<TensorMap*>(addresses[lane]),
                      static_cast<simt::TensorMapField>(field), ordinal, values[lane]);
    in_image_access = 0;
    if (problem == 0) continue;
    executor_of(state).raise(simt::kBadTensorMap, KM_CALLER_PC, addresses[lane], problem,
                             state->first_thread + lane, line);
  }
}

}  // namespace km::cpu
