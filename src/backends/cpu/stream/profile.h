// Records the work of streams for the profiler.
#pragma once

#include <cstdint>
#include <string>

#include "backends/cpu/command/command.h"

namespace km::cpu {

class Context;
class Stream;

/// Called when the host's call that queues the command begins.
void note_call(Command& command);
/// Called when the command was queued.
void note_queued(const Context& context, Command& command);
/// Called when the command, or a step of a graph, starts.
void note_begin(Command& command);
/// Called when the first command of a stream, or its current step, is over.
void record_end(Context& context, const Stream* stream, Command& front);
/// Records a copy or fill that was done without a command.
void record_transfer(Context& context, const Stream* stream, const Transfer& transfer,
                     uint64_t begin_ns);
/// Records that the calling thread has compiled code since `begin_ns`, if a profile runs.
void record_compilation(const Context& context, const std::string& name, uint64_t begin_ns);

}  // namespace km::cpu
