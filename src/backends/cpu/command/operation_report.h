// The accesses of operations in streams, for the checker of their order.
#pragma once

#include <span>

#include "backends/cpu/command/command.h"
#include "backends/cpu/order/stream_order.h"

namespace km::cpu {

class Context;

/// The author of accesses.
struct Author {
  StreamOrder::Operation operation;
  uint32_t node = 0;  // of a graph
};

/// Tells the checker what a command has accessed, when it is over. It makes findings of accesses of
/// other operations to the same memory that nothing orders.
void report_accesses(const Command& command, const Author& author, Context& context);
/// Tells the checker which numbers a stream has written or waited for.
void report_values(std::span<const kmb_memory_op> ops, const Author& author, Context& context);
/// report_accesses() for a copy or a fill.
void report_accesses(const Transfer& transfer, const Author& author, Context& context);

}  // namespace km::cpu
