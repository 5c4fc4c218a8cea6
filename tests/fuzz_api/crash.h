// Where a process dies.
#pragma once

namespace km::fuzz {

/// The file, in the folder of a round, that stacks are written to.
inline constexpr const char* kStackFile = "stacks.txt";

/// From now on a fatal signal writes the stack of its thread into the file before the process dies
/// of it, and the signal of ask_for_stacks() that of the thread that gets it. To be called before
/// the library under test installs its own handlers.
void report_crashes();
/// Has each thread of another process that called report_crashes() write its stack. Threads that
/// block signals, as those of the library do, write none.
void ask_for_stacks(int process);

}  // namespace km::fuzz
