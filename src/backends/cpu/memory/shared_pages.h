// Pages of device memory that move into a file, so that other processes can map them.
//
// Threads may use the memory meanwhile: the range can only be read while its bytes are copied, and
// the fault handler holds a thread that writes to it until the pages of the file are in place.
#pragma once

#include <cstdint>

#include "backends/cpu/memory/address_space.h"
#include "base/file/file.h"
#include "base/result.h"

namespace km::cpu {

/// Puts a sealed file in memory in place of the pages of a range, with the same bytes. One move at
/// a time: the caller has a lock.
Result<File> move_into_file(const GuardedRange& range);

/// To be called before a range that was moved goes, or is used for something else.
void forget_move(const GuardedRange& range);

/// Puts new pages, which are zero, in place of a file's. False when the system has none; the range
/// then still is the file's.
bool replace_file_by_pages(const GuardedRange& range);

/// Waits while the address lies in a range that moves. True when it lies there, or in one that
/// moved lately, which all threads may use: a fault was of the time of the move, and the
/// instruction can run again. For the fault handler: it only reads atomics and yields.
bool wait_while_moving(uint64_t address) noexcept;

}  // namespace km::cpu
