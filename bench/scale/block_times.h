// Notes when each block of a kernel begins, so that the times of single blocks are known: the
// input of schedule.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace km::bench {

/// How many blocks of a launch are noted.
constexpr uint32_t kMostBlocks = 1 << 16;
/// The variable of an instrumented module that holds the times; element i is for block i.
constexpr char kBlockBegins[] = "km_block_begins";

/// PTX in which thread 0 of each block first stores the processor's ticks. The kernels are the same
/// otherwise.
std::string note_block_begins(const std::string& ptx);

/// The times of blocks that ran one after another on one thread: differences between begins. The
/// last block has that of the one before it.
std::vector<uint64_t> times_of(const std::vector<uint64_t>& begins);

}  // namespace km::bench
