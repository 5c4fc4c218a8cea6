// Records of what streams did, for the profiler.
#pragma once

#include <cstdint>
#include <string>

#include "backends/cpu/command/command.h"

namespace km::cpu {

class Context;
class Stream;

/// The host's call that queues the command begins.
void note_call(Command& command);
/// The command is queued.
void note_queued(const Context& context, Command& command);
/// The command, or the step of a graph, starts now.
void note_begin(Command& command);
/// The front command of a stream is over, or the step that it is at.
void record_end(Context& context, const Stream* stream, Command& front);
/// A copy or fill that was done without a command.
void record_transfer(Context& context, const Stream* stream, const Transfer& transfer,
                     uint64_t begin_ns);
/// The calling thread has made machine code since `begin_ns`. Does nothing if nothing is recorded.
void record_compilation(const Context& context, const std::string& name, uint64_t begin_ns);

}  // namespace km::cpu
