// Runs the work of commands: kernels, copies and fills, on one thread or several.
#pragma once

#include <cstdint>

#include "backends/cpu/command/command.h"
#include "backends/cpu/command/sharing.h"

namespace km::cpu {

class Context;
class Executor;

/// True if waking other threads for this command costs less than it saves.
bool is_worth_sharing(const Command& command);
/// The estimated time of a command; a long one if no estimate is known.
float estimated_ns(const Command& command);
/// True if the time is worth waking a thread and waiting for it.
bool is_worth_a_thread(float ns);
/// True for commands that any thread may run, since they take no time or a moment.
bool is_light(const Command& command);
/// The number of pieces of a command; for a kernel, of its blocks.
uint64_t pieces_of(const Command& command);
/// Makes the pieces [first, last) one chunk.
void prepare_alone(Command& command, uint64_t first, uint64_t last);
/// Cuts the pieces from `first` on into chunks for up to `threads` threads, each with one of
/// `parts`. Returns how many are worth having and how many may take part, the caller among them.
Sharing prepare_shared(Command& command, uint64_t first, uint32_t threads,
                       BlockRange::SharedParts* parts);
/// Runs pieces of the command until none is left. Failures go to the context.
void work_on(Command& command, Executor& executor, Context& context);
/// Runs a short transfer on the calling thread; if it returns false, *out_failure has the reason.
bool transfer_now(const Transfer& transfer, CopyFailure* out_failure);

}  // namespace km::cpu
