// The records by which the race checker remembers accesses to memory.
#pragma once

#include <cstdint>
#include <memory>

#include "simt/runtime/check/check_runtime.h"

namespace km::cpu {

/// The threads that a record stands for: one, or all those that may have read since the last write.
enum class Readers : uint8_t { one, warp, block, several_blocks };

/// One access, by the thread and the time that it was made at.
struct AccessRecord {
  uint32_t block = 0;        // number of the block in the grid
  uint32_t tick = 0;         // the time in the block (BlockClock)
  uint64_t era : 22 = 0;     // the launch; for shared memory the block; 0: no access
  uint64_t line : 20 = 0;    // line in the PTX text
  uint64_t thread : 10 = 0;  // linear index in the block
  uint64_t kind : 2 = 0;     // simt::AccessKind
  uint64_t scope : 2 = 0;    // simt::MemoryScope, of strong accesses
  uint64_t readers : 2 = 0;  // Readers
  uint64_t strong : 1 = 0;
  uint64_t is_volatile : 1 = 0;
  uint64_t repeated : 1 = 0;  // a read that an atomic repeats
  uint64_t copy : 2 = 0;      // simt::CopyKind
  uint64_t reserved : 1 = 0;

  /// The block and the time together.
  uint64_t moment() const { return uint64_t{block} << 32 | tick; }
  bool writes() const { return kind != static_cast<uint64_t>(simt::AccessKind::read); }
  Readers who() const { return static_cast<Readers>(readers); }
  /// True if an asynchronous copy of the thread made it.
  bool is_of_copy() const { return copy != 0; }
};
static_assert(sizeof(AccessRecord) == 16);

constexpr uint32_t kMostEras = (1 << 22) - 1;

/// The last write and the reads since then of one word, or of one byte where the program accesses
/// parts of words. Atomics soon after a plain write are kept as reads are.
struct Cell {
  AccessRecord write, read;
};
static_assert(sizeof(Cell) == 32);

constexpr uint32_t kLineBytes = 128, kLineWords = kLineBytes / 4;
constexpr uint32_t kMostCellBytes = kLineBytes / kLineWords;

/// Accesses by one instruction to consecutive words of a line: word w by thread `first_thread +
/// (w >> shift)`, or by all of the record's readers.
struct Span {
  AccessRecord access;  // its thread is not used
  int16_t first_thread = 0;
  uint8_t shift = 0;
  uint8_t from = 0, to = 0;  // the first and the last word

  /// The record of one word.
  AccessRecord of_word(uint32_t word) const {
    AccessRecord one = access;
    one.thread = thread_of(word);
    return one;
  }
  /// True if each word has the same thread in both, which is one thread.
  bool has_threads_of(const Span& other) const {
    return access.block == other.access.block && first_thread == other.first_thread &&
           shift == other.shift && access.who() == Readers::one &&
           other.access.who() == Readers::one;
  }
  uint32_t thread_of(uint32_t word) const {
    return static_cast<uint32_t>(first_thread + static_cast<int32_t>(word >> shift));
  }
  bool overlaps(const Span& other) const { return from <= other.to && other.from <= to; }
  bool holds(const Span& other) const { return from <= other.from && other.to <= to; }
};

/// The shadow of 128 bytes. Lines that whole warps access word by word need no more than two spans;
/// others get cells.
struct Line {
  Span write, read;  // without cells
  uint32_t era = 0;  // of all that is known
  bool has_cells = false;
  bool has_bytes = false;         // a cell for each byte, not for each word
  std::unique_ptr<Cell[]> cells;  // kept for later if the line does without
};

}  // namespace km::cpu
