#include "backends/cpu/command/work.h"

#include <algorithm>

#include "backends/cpu/check/undefined_memory.h"
#include "backends/cpu/command/check_report.h"
#include "backends/cpu/command/explore.h"
#include "backends/cpu/command/sharing.h"
#include "backends/cpu/command/task.h"
#include "backends/cpu/command/transfer_fault.h"
#include "backends/cpu/config/config.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/execution/diagnose.h"
#include "backends/cpu/execution/executor.h"
#include "backends/cpu/fault/fault.h"
#include "backends/cpu/fault/guarded_memory.h"
#include "backends/cpu/threads/futex.h"
#include "base/arch/float_control.h"
#include "base/assert.h"
#include "base/memory/host_allocator.h"

namespace km::cpu {
namespace {

constexpr uint64_t kPieceBytes = 512 << 10;  // for copies and fills
constexpr uint64_t kSharedCopyBytes = 1 << 20;

bool overlaps(const Transfer& transfer) {
  if (transfer.is_fill() || transfer.rows.count != 0) return false;
  uint64_t low = std::min(transfer.destination, transfer.source);
  return std::max(transfer.destination, transfer.source) - low < transfer.size_bytes;
}

uint64_t rows_per_piece(const TransferRows& rows) {
  return std::max<uint64_t>(kPieceBytes / rows.width_bytes, 1);
}

uint64_t row_offset(const TransferRows& rows, uint64_t row, uint64_t pitch, uint64_t layer) {
  KM_ASSERT(rows.height != 0 && row < rows.count, "a row lies beyond its transfer");
  return row / rows.height * layer + row % rows.height * pitch;
}

/// Tells the checker what memory has been written.
void note_content(const Transfer& transfer, uint64_t to, uint64_t from, uint64_t size_bytes) {
  if (!UndefinedMemory::is_used()) [[likely]]
    return;
  if (transfer.is_fill()) {
    UndefinedMemory::instance().define(to, size_bytes);
  } else {
    UndefinedMemory::instance().copy(to, from, size_bytes);
  }
}

bool move_rows(const Transfer& transfer, uint64_t first, uint64_t last, Fault* out_fault) {
  const TransferRows& rows = transfer.rows;
  const bool streaming = transfer.size_bytes >= kStreamingBytes;
  for (uint64_t row = first; row < last; ++row) {
    auto* destination =
        reinterpret_cast<void*>(transfer.destination + row_offset(rows, row, rows.destination_pitch,
                                                                  rows.destination_layer));
    auto* source = reinterpret_cast<const void*>(
        transfer.source + row_offset(rows, row, rows.source_pitch, rows.source_layer));
    const bool done =
        transfer.is_fill()
            ? guarded_fill(destination, transfer.value, transfer.value_size_bytes,
                           rows.width_bytes / transfer.value_size_bytes, streaming, out_fault)
            : guarded_copy(destination, source, rows.width_bytes, streaming, out_fault);
    if (!done) return false;
    note_content(transfer, reinterpret_cast<uint64_t>(destination),
                 reinterpret_cast<uint64_t>(source), rows.width_bytes);
  }
  return true;
}

/// Moves bytes [first, last). Pieces are multiples of every value size.
bool move_bytes(const Transfer& transfer, uint64_t first, uint64_t last, Fault* out_fault) {
  KM_ASSERT(first <= last && last <= transfer.size_bytes, "a piece ends beyond its transfer");
  bool streaming = transfer.size_bytes >= kStreamingBytes;
  auto* destination = reinterpret_cast<void*>(transfer.destination + first);
  note_content(transfer, transfer.destination + first, transfer.source + first, last - first);
  if (transfer.is_fill()) {
    return guarded_fill(destination, transfer.value, transfer.value_size_bytes,
                        (last - first) / transfer.value_size_bytes, streaming, out_fault);
  }
  return guarded_copy(destination, reinterpret_cast<const void*>(transfer.source + first),
                      last - first, streaming, out_fault);
}

bool move_pieces(const Transfer& transfer, uint64_t first, uint64_t last, Fault* out_fault) {
  if (transfer.rows.count != 0) {
    const uint64_t step = rows_per_piece(transfer.rows);
    return move_rows(transfer, first * step, std::min(last * step, transfer.rows.count), out_fault);
  }
  return move_bytes(transfer, first * kPieceBytes,
                    std::min(last * kPieceBytes, transfer.size_bytes), out_fault);
}

void move(Command& command, Executor& executor, Context& context) {
  const Transfer& transfer = command.transfer;
  uint64_t first = 0, last = 0;
  uint32_t part = executor.claim_part(command.run.range);
  while (command.run.range.take(&part, &first, &last)) {
    Fault fault;
    if (move_pieces(transfer, first, last, &fault)) continue;
    command.run.range.close();
    if (command.failure != nullptr) {
      // Several threads may fail here at once; the address of any of them is right.
      std::atomic_ref(command.failure->address).store(fault.address);
      std::atomic_ref(command.failure->failed).store(true);
    } else {
      context.fail(describe_transfer_fault(fault.address, transfer, context.allocations()),
                   nullptr);
    }
    return;
  }
}

/// Makes a finding of a fault if a tool looks for it.
void note_fault(const KernelFault& fault, const LaunchRun& run, const Error& error,
                Context& context) {
  const uint16_t tool = fault.deadlock ? simt::check_tool::kSync : simt::check_tool::kMemory;
  if (!context.checks().has(tool)) return;
  const HostMemoryNeeded needed;
  report_fault(fault, run, error, context.checks());
}

/// Makes a finding of a time limit, which ends kernels whose threads wait for ever, too.
void note_timeout(const KernelFault& place, const LaunchRun& run, Context& context) {
  if (!context.checks().has(simt::check_tool::kSync)) return;
  const HostMemoryNeeded needed;
  report_timeout(place, run, context.timeout_ms(), context.checks());
}

void run_once(LaunchRun& run, Executor& executor, Context& context) {
  Result<Ending> ending = executor.run(run);
  if (!ending) {
    run.range.close();
    context.fail(std::move(ending.error()), &executor.kernel_thread());
  } else if (*ending == Ending::faulted) {
    Error error = describe_fault(executor.fault(), run, context.allocations());
    note_fault(executor.fault(), run, error, context);
    context.fail(std::move(error), &executor.kernel_thread());
  } else if (*ending == Ending::stopped && context.stop_reason() == StopReason::timeout &&
             executor.fault().fault.pc != 0) {
    note_timeout(executor.fault(), run, context);
    context.fail(describe_timeout(executor.fault(), run, context.timeout_ms()),
                 &executor.kernel_thread());
  } else if (const KernelFault* assertion = executor.assertion()) {
    Error error = describe_fault(*assertion, run, context.allocations());
    note_fault(*assertion, run, error, context);
    context.note_assertion(std::move(error));
  }
}

void run_kernel(LaunchRun& run, Executor& executor, Context& context) {
  if ((run.unit->tools & simt::check_tool::kSchedule) == 0) [[likely]]
    return run_once(run, executor, context);
  run_in_orders(run, executor, context, [&] { run_once(run, executor, context); });
}

struct TaskPiece {
  const Task* task;
  uint64_t piece;
  Status done;
};

Status run_piece(const Task& task, uint64_t number, const Allocations& allocations) {
  TaskPiece piece{&task, number, {}};
  const auto run = [](void* argument) {
    auto* const part = static_cast<TaskPiece*>(argument);
    part->done = part->task->run(part->piece);
  };
  Fault fault;
  if (guarded_run(run, &piece, &fault)) return std::move(piece.done);
  task.abandon();
  return describe_task_fault(fault, task, allocations);
}

void run_task(Command& command, Executor& executor, Context& context) {
  const arch::DefaultFloats floats;
  uint64_t first = 0, last = 0;
  uint32_t part = executor.claim_part(command.run.range);
  while (command.run.range.take(&part, &first, &last)) {
    for (; first < last && !context.failed(); ++first) {
      Status done = run_piece(*command.task, first, context.allocations());
      if (!done) context.fail(std::move(done.error()), &executor.kernel_thread());
    }
  }
  if (UndefinedMemory::is_used()) UndefinedMemory::instance().define_all();
}

}  // namespace

uint64_t pieces_of(const Command& command) {
  if (command.kind == CommandKind::kernel) return command.run.block_count;
  if (command.kind == CommandKind::task) return command.task->pieces();
  const TransferRows& rows = command.transfer.rows;
  if (rows.count != 0) return (rows.count + rows_per_piece(rows) - 1) / rows_per_piece(rows);
  return (command.transfer.size_bytes + kPieceBytes - 1) / kPieceBytes;
}

bool is_worth_sharing(const Command& command) {
  if (command.kind == CommandKind::task) {
    return command.task->pieces() > 1 && command.task->estimated_ns() > kWakeNs;
  }
  if (command.kind != CommandKind::kernel) {
    return command.transfer.size_bytes >= kSharedCopyBytes && !overlaps(command.transfer);
  }
  uint64_t blocks = command.run.block_count;
  if (blocks < 2) return false;
  const float ns = command.run.unit->block_ns.load(std::memory_order_relaxed);
  return ns == 0 || ns * static_cast<float>(blocks) > kWakeNs;
}

float estimated_ns(const Command& command) {
  constexpr float kLongNs = 5e8F, kBytesPerNs = 8;
  if (command.kind == CommandKind::transfer) {
    return static_cast<float>(command.transfer.size_bytes) / kBytesPerNs;
  }
  if (command.kind == CommandKind::task) return command.task->estimated_ns();
  if (command.kind != CommandKind::kernel) return 0;
  const float ns = command.run.unit->block_ns.load(std::memory_order_relaxed);
  return ns == 0 ? kLongNs : ns * static_cast<float>(command.run.block_count);
}

bool is_worth_a_thread(float ns) { return ns > 2 * kWakeNs; }

bool is_light(const Command& command) {
  if (command.kind == CommandKind::task) return command.task->begins_at_once();
  return is_light(command.kind);
}

void prepare_alone(Command& command, uint64_t first, uint64_t last) {
  KM_ASSERT(last <= pieces_of(command), "more pieces are run than the command has");
  command.run.range.reset(first, last, std::max<uint64_t>(last - first, 1));
  command.run.overdue_ticks.store(UINT64_MAX, std::memory_order_relaxed);
}

Sharing prepare_shared(Command& command, uint64_t first, uint32_t threads,
                       BlockRange::SharedParts* parts) {
  KM_ASSERT(threads != 0, "a command is shared by no thread");
  LaunchRun& run = command.run;
  const bool is_kernel = command.kind == CommandKind::kernel;
  const uint64_t pieces = pieces_of(command) - first;
  const float block_ns = is_kernel ? run.unit->block_ns.load(std::memory_order_relaxed) : 0;
  // Blocks that wait for each other must all have begun, for which few threads may lack the room.
  const bool may_wait = is_kernel && run.unit->may_wait();
  const Sharing sharing = sharing_of(block_ns, pieces, threads, may_wait);
  const bool in_order = is_kernel && run.unit->begins_in_order();
  if (in_order || sharing.most == 1) {
    run.range.reset(first, first + pieces, in_order ? 1 : pieces);
  } else {
    run.range.reset(first, first + pieces, sharing.chunk, sharing.cut, parts,
                    std::min(sharing.most, parts->capacity()));
  }
  const uint64_t overdue =
      sharing.expected_ns == 0
          ? UINT64_MAX
          : now_ticks() + ticks_of_ns(static_cast<uint64_t>(sharing.expected_ns));
  run.overdue_ticks.store(overdue, std::memory_order_relaxed);
  return sharing;
}

void work_on(Command& command, Executor& executor, Context& context) {
  if (command.kind == CommandKind::kernel) {
    run_kernel(command.run, executor, context);
    return;
  }
  keep_handler_in_front(now_ticks());
  if (command.kind == CommandKind::task) {
    run_task(command, executor, context);
  } else {
    move(command, executor, context);
  }
}

bool transfer_now(const Transfer& transfer, CopyFailure* out_failure) {
  Fault fault;
  keep_handler_in_front(now_ticks());
  if (move_pieces(transfer, 0, UINT64_MAX / kPieceBytes, &fault)) return true;
  out_failure->failed = true;
  out_failure->address = fault.address;
  return false;
}

}  // namespace km::cpu
