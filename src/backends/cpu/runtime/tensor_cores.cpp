#include "backends/cpu/runtime/tensor_cores.h"

#include <array>
#include <bit>

#include "backends/cpu/config/config.h"
#include "backends/cpu/fault/runtime_code.h"
#include "backends/cpu/runtime/caller.h"
#include "backends/cpu/runtime/check_reports.h"
#include "backends/cpu/threads/sanitizers.h"
#include "simt/runtime/tensors/tensor_core.h"
#include "simt/runtime/tensors/tensor_move.h"

namespace km::cpu {
namespace {

using simt::BlockState;
using simt::TensorBlock;
using simt::TensorProblem;

constexpr uint64_t kProductStackBytes = 48 << 10, kMoveStackBytes = 8 << 10;
constexpr uint32_t kWarpgroupWarps = 4;

/// An instruction that cannot be executed: its place, and the value that its message names.
struct Failure {
  uint64_t pc, value;
  uint32_t thread, line;
};

KM_NO_SANITIZE void raise_if(Executor& executor, TensorProblem problem, const Failure& failure) {
  if (problem == TensorProblem::none) return;
  executor.raise(simt::kBadTensorMemory, failure.pc, failure.value, static_cast<uint64_t>(problem),
                 failure.thread, failure.line);
}

/// The blocks that an instruction uses: the running one or, for a pair, the even and the odd one.
/// Returns their number, or 0 if there is no pair.
uint32_t blocks_of(Executor& executor, const BlockState* state, bool pair, TensorBlock* blocks) {
  if (!pair) {
    blocks[0] = {state->shared, &executor.tensor_storage()};
    return 1;
  }
  const Cluster* const cluster = executor.cluster();
  if (cluster == nullptr) return 0;
  const auto& members = cluster->members;
  uint32_t rank = 0;
  while (rank < members.size() && members[rank]->state() != state) ++rank;
  const uint32_t even = rank & ~1u;
  if (even + 1 >= members.size()) return 0;
  for (uint32_t i = 0; i < 2; ++i) {
    ResidentBlock& member = *members[even + i];
    blocks[i] = {member.state()->shared, &member.tensor_storage()};
  }
  return 2;
}

bool is_column_count(uint32_t columns) {
  return std::has_single_bit(columns) && columns >= simt::kTensorUnit &&
         columns <= simt::kTensorColumns;
}

/// Waits until columns are free. Returns the first of them, or none if no warp can free some.
KM_NO_SANITIZE std::optional<uint32_t> allocate(Executor& executor, uint32_t columns, uint64_t pc) {
  for (;;) {
    const auto first = executor.tensor_storage().allocate(columns);
    if (first) return first;
    if (!executor.has_fibers() || executor.fiber_block().runs_alone()) return std::nullopt;
    executor.check_stop(pc);
    executor.fiber_block().yield(pc);
  }
}

TensorProblem run_lane(const simt::TensorCoreForm& form, const simt::TensorCoreSlots& slots,
                       uint32_t lane, const TensorBlock* blocks, uint32_t count) {
  const auto target = static_cast<uint32_t>(slots.target[lane]);
  if (form.operation == simt::TensorCoreOperation::multiply) {
    simt::MmaRule rule = simt::tensor_core_rule();
    rule.fast = config().fast_mma;
    return multiply_tensors(form, rule, simt::TensorCoreOperands(form, slots, lane), blocks);
  }
  for (uint32_t i = 0; i < count; ++i) {
    const TensorBlock& block = blocks[i];
    const TensorProblem problem =
        form.operation == simt::TensorCoreOperation::copy
            ? copy_to_tensor(form, *block.storage, block.shared, target, slots.a[lane])
            : shift_tensor(*block.storage, target);
    if (problem != TensorProblem::none) return problem;
  }
  return TensorProblem::none;
}

}  // namespace

namespace {

/// Tells the checker which word the first lane of a warp is about to write.
void report_word(BlockState* state, uint32_t lanes, uint32_t line, uint64_t address,
                 uint32_t content) {
  if (executor_of(state).block_checks() == nullptr) return;
  const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
  std::array<uint64_t, simt::kWarpLanes> to{}, from{}, sizes{};
  to[lane] = address;
  from[lane] = reinterpret_cast<uint64_t>(&content);
  sizes[lane] = sizeof content;
  simt::AccessNote note{};
  note.line = line;
  note.element_bytes = 1;
  note.kind = simt::AccessKind::write;
  const simt::StoreSources sources{from.data(), sizes.data(), nullptr};
  report_ranges(state, to.data(), sizes.data(), 1U << lane, &note, &sources);
}

}  // namespace

KM_NO_SANITIZE void manage_tensors(BlockState* state, const simt::TensorManagementForm* form,
                                   uint32_t lanes, uint32_t columns, uint32_t address,
                                   uint64_t out) {
  if (lanes == 0) return;
  Executor& executor = executor_of(state);
  executor.check_stack(kMoveStackBytes, KM_CALLER_PC);
  state->line = form->line;
  const bool allocates = form->operation == simt::TensorManagement::allocate;
  const Failure failure{KM_CALLER_PC, allocates ? columns : address, state->first_thread,
                        form->line};
  simt::TensorStorage& storage = executor.tensor_storage();
  if (form->operation == simt::TensorManagement::relinquish) return storage.relinquish();
  if (!is_column_count(columns)) {
    raise_if(executor, TensorProblem::column_count,
             {KM_CALLER_PC, columns, failure.thread, failure.line});
  }
  if (!allocates) {
    const bool released =
        simt::tensor_lane(address) == 0 && storage.release(simt::tensor_column(address), columns);
    return raise_if(executor, released ? TensorProblem::none : TensorProblem::no_allocation,
                    failure);
  }
  if (storage.is_relinquished()) raise_if(executor, TensorProblem::relinquished, failure);
  const auto first = allocate(executor, columns, KM_CALLER_PC);
  if (!first) raise_if(executor, TensorProblem::no_room, failure);
  report_word(state, lanes, form->line, out, *first);
  in_image_access = 1;  // the address may lie outside shared memory
  *reinterpret_cast<uint32_t*>(out) = *first;
  in_image_access = 0;
}

KM_NO_SANITIZE void move_tensor(BlockState* state, const simt::TensorMoveForm* form, uint32_t lanes,
                                uint32_t address, uint32_t* registers) {
  if (lanes == 0) return;
  Executor& executor = executor_of(state);
  executor.check_stack(kMoveStackBytes, KM_CALLER_PC);
  const uint32_t quarter = state->first_thread / simt::kWarpLanes % kWarpgroupWarps;
  const TensorProblem problem =
      move_tensor(*form, executor.tensor_storage(), quarter, address, registers);
  raise_if(executor, problem, {KM_CALLER_PC, address, state->first_thread, form->line});
}

KM_NO_SANITIZE void run_tensor_core(BlockState* state, const simt::TensorCoreForm* form,
                                    uint32_t lanes, const simt::TensorCoreSlots* slots) {
  Executor& executor = executor_of(state);
  executor.check_stack(kProductStackBytes, KM_CALLER_PC);
  state->line = form->line;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(lanes));
    executor.check_stop(KM_CALLER_PC);
    TensorBlock blocks[2];
    const uint32_t count = blocks_of(executor, state, form->pair, blocks);
    in_image_access = 1;  // descriptors may point outside shared memory
    const TensorProblem problem =
        count == 0 ? TensorProblem::no_pair : run_lane(*form, *slots, lane, blocks, count);
    in_image_access = 0;
    const bool multiplies = form->operation == simt::TensorCoreOperation::multiply;
    const uint64_t value = multiplies ? slots->instruction[lane] : slots->target[lane];
    raise_if(executor, problem, {KM_CALLER_PC, value, state->first_thread + lane, form->line});
  }
}

}  // namespace km::cpu
