// The reports of streams to the checker of their order.
#include <utility>

#include "backends/cpu/command/check_report.h"
#include "backends/cpu/command/operation_report.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/order/stream_order.h"
#include "backends/cpu/stream/graph_program.h"
#include "backends/cpu/stream/memory_ops.h"
#include "backends/cpu/stream/stream.h"
#include "base/memory/host_allocator.h"

namespace km::cpu {
namespace {

/// True for commands that are operations of their own: not for those that order others.
bool is_operation(CommandKind kind) {
  switch (kind) {
    case CommandKind::kernel:
    case CommandKind::transfer:
    case CommandKind::task:
    case CommandKind::memory:
    case CommandKind::callback:
    case CommandKind::graph:
      return true;
    default:
      return false;
  }
}

}  // namespace

uint32_t Stream::order_number() {
  uint32_t number = of_user_.order_number.load();
  if (number != 0) return number;
  StreamOrder& order = *StreamOrder::active();
  const uint32_t made = order.open();
  if (of_user_.order_number.compare_exchange_strong(number, made)) return made;
  order.close(made);
  return number;
}

StreamOrder::Clock Stream::known_order() const {
  StreamOrder* const order = StreamOrder::active();
  if (order == nullptr) [[likely]]
    return nullptr;
  const uint32_t number = of_user_.order_number.load();
  return number != 0 ? order->clock_of(number) : nullptr;
}

/// Called before the command is submitted. Those of a graph's other lanes belong to the launch of
/// the graph already.
void Stream::note_operation(Command& command) {
  if (command.operation != nullptr || !is_operation(command.kind) || !is_followed()) return;
  const HostMemoryNeeded needed;
  const uint64_t ticket = submitted_.load(std::memory_order_relaxed) + 1;
  command.operation = StreamOrder::active()->queue(order_number(), ticket);
  command.has_more = true;
  if (command.kind == CommandKind::graph) command.operation->nodes = command.program->order;
}

/// Called before a command writes numbers that others may wait for.
void Stream::publish_values(const Command& command) {
  const Command& front = *head_->next.load(std::memory_order_acquire);
  if (front.operation == nullptr) return;
  const HostMemoryNeeded needed;
  for (const kmb_memory_op& op : command.memory_ops->ops()) {
    if (op.kind != KMB_MEMORY_WRITE) continue;
    StreamOrder::active()->publish(*front.operation, op.address);
  }
}

/// The call of a host function, of which the checker is told when it begins and ends.
std::function<void()> Stream::followed_call(std::function<void()> call) {
  const StreamOrder::Operation operation = head_->next.load(std::memory_order_acquire)->operation;
  if (operation == nullptr) return call;
  return [operation, call = std::move(call)] {
    const HostMemoryNeeded needed;
    StreamOrder::active()->meet_host(*operation);
    call();
    StreamOrder::active()->end_callback(*operation);
  };
}

/// Reports what the checker has found in a command that has ended.
void Stream::end_checks(Command& front) {
  Command* command = &front;
  uint32_t node = 0;
  if (front.kind == CommandKind::graph) {
    command = front.program->step_of(front);
    node = front.program->node_of(front);
  }
  if (launched_ != nullptr) command = launched_;
  if (command == nullptr) return;
  const HostMemoryNeeded needed;
  if (front.operation != nullptr && !context_->failed()) {
    const Author author{front.operation, node};
    if (command->kind == CommandKind::memory) {
      report_values(command->memory_ops->ops(), author, *context_);
    } else {
      report_accesses(*command, author, *context_);
    }
  }
  if (command->kind != CommandKind::kernel) return;
  name_kernel_memory(command->run, *context_);
  if (command->run.checks == nullptr) return;
  report_checks(command->run, context_->allocations(), context_->checks());
  command->run.checks.reset();
}

/// Tells the checker that a command has ended, with all that it launched.
void Stream::end_operation(const Command& front) {
  if (front.operation == nullptr || front.operation->stream != of_user_.order_number.load()) return;
  StreamOrder::active()->end(*front.operation);
}

/// Called when the stream is closed, because it is reused under another number.
void Stream::drop_order_number() {
  const uint32_t number = of_user_.order_number.exchange(0);
  if (number != 0) StreamOrder::active()->close(number);
}

}  // namespace km::cpu
