// Moves pages of device memory into a file, so that other processes can map them.
//
// Other threads may use the memory meanwhile: the range is read-only while its bytes are copied,
// and the fault handler makes a writing thread wait until the file's pages are mapped.
#pragma once

#include <cstdint>

#include "backends/cpu/memory/address_space.h"
#include "base/file/file.h"
#include "base/result.h"

namespace km::cpu {

/// Replaces the pages of a range by a sealed memory file with the same bytes. The caller holds a
/// lock, because only one move may run at a time.
Result<File> move_into_file(const GuardedRange& range);

/// Must be called before a moved range is unmapped or reused.
void forget_move(const GuardedRange& range);

/// Replaces a file's pages by new ones, which are zero. Returns false if the system has none; the
/// range then still maps the file.
bool replace_file_by_pages(const GuardedRange& range);

/// Waits while the address lies in a range that is being moved. Returns true if it lies in that or
/// in a recently moved range: the fault was caused by the move, so the instruction can run again.
/// For the fault handler: it only reads atomics and yields.
bool wait_while_moving(uint64_t address) noexcept;

}  // namespace km::cpu
