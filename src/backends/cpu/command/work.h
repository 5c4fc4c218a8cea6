// The work of a stream's commands: kernels, copies, fills; alone or together with other threads.
#pragma once

#include <cstdint>

#include "backends/cpu/command/command.h"

namespace km::cpu {

class Context;
class Executor;

/// True if waking other threads for this command costs less than it saves.
bool is_worth_sharing(const Command& command);
/// How long a command takes, roughly; long where nothing is known.
float estimated_ticks(const Command& command);
/// True if the time is worth waking a thread and waiting for it.
bool is_worth_a_thread(float ticks);
/// The pieces that a command is made of: blocks of a kernel.
uint64_t pieces_of(const Command& command);
/// Makes the pieces [first, last) one.
void prepare_alone(Command& command, uint64_t first, uint64_t last);
/// Cuts the pieces from `first` on into chunks for up to `threads` threads, each with one of
/// `parts`. Gives the number of other threads that are worth waking.
uint32_t prepare_shared(Command& command, uint64_t first, uint32_t threads,
                        BlockRange::SharedPart* parts);
/// Does pieces of the command until none is left. Failures go to the context.
void work_on(Command& command, Executor& executor, Context& context);
/// A short transfer on any thread; false: *out_failure says why.
bool transfer_now(const Transfer& transfer, CopyFailure* out_failure);

}  // namespace km::cpu
