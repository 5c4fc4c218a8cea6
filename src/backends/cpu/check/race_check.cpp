#include "backends/cpu/check/race_check.h"

#include <algorithm>

#include "base/assert.h"

namespace km::cpu {

using simt::kWarpLanes;
using simt::MemoryScope;

namespace {

bool is_atomic(const AccessRecord& access) {
  return access.kind == static_cast<uint64_t>(simt::AccessKind::atomic);
}

/// Makes one record of two reads. It has the properties that spare a race of either: a strong read
/// of one thread must not stand for a plain one that another has made.
void merge(AccessRecord& kept, const AccessRecord& now, Readers who) {
  const bool strong = kept.strong != 0 || now.strong != 0;
  const bool repeated = kept.repeated != 0 || now.repeated != 0;
  const uint64_t scope = std::max<uint64_t>(kept.scope, now.scope);
  kept = now;
  kept.readers = static_cast<uint64_t>(who);
  kept.strong = strong;
  kept.repeated = repeated;
  kept.copy = 0;
  kept.scope = scope;
}

/// True if two accesses of different threads must not be unordered. Strong ones may, if the scope
/// of each includes the other's thread; but volatile accesses of one warp to shared memory are how
/// programs wrote that count on lanes in step.
bool conflicts(const AccessRecord& before, const AccessRecord& now, bool is_shared) {
  if (!before.writes() && !now.writes()) return false;
  if (before.strong == 0 || now.strong == 0) {
    const bool is_repeated =
        (before.repeated != 0 && is_atomic(now)) || (now.repeated != 0 && is_atomic(before));
    return !is_repeated;
  }
  const bool same_block = before.block == now.block && before.who() != Readers::several_blocks;
  const auto narrow = static_cast<uint64_t>(MemoryScope::block);
  if (!same_block && (before.scope == narrow || now.scope == narrow)) return true;
  const bool same_warp = same_block && before.thread / kWarpLanes == now.thread / kWarpLanes &&
                         before.who() != Readers::block;
  return is_shared && same_warp && before.is_volatile != 0 && now.is_volatile != 0;
}

/// Gives each word a cell, with what the spans say of it.
void expand(Line& line) {
  KM_ASSERT(!line.has_cells, "a line that has cells gets them again");
  if (!line.cells || line.has_bytes) {
    line.cells.reset(new Cell[kLineWords]);
  } else {
    std::fill_n(line.cells.get(), kLineWords, Cell{});
  }
  line.has_cells = true;
  line.has_bytes = false;
  for (uint32_t w = line.write.from; line.write.access.era != 0 && w <= line.write.to; ++w) {
    line.cells[w].write = line.write.of_word(w);
  }
  for (uint32_t w = line.read.from; line.read.access.era != 0 && w <= line.read.to; ++w) {
    line.cells[w].read = line.read.of_word(w);
  }
}

/// Gives each byte what is known of its word.
void divide(Line& line) {
  std::unique_ptr<Cell[]> bytes(new Cell[kLineBytes]);
  for (uint32_t w = 0; w < kLineWords; ++w) std::fill_n(&bytes[4 * w], 4, line.cells[w]);
  line.cells = std::move(bytes);
  line.has_bytes = true;
}

/// Forgets what earlier launches or blocks did.
void begin_era(Line& line, uint32_t era) {
  if (line.era == era) return;
  line.write = line.read = {};
  line.has_cells = false;
  line.era = era;
}

/// True if both are the same but for the times, the thread and the readers.
bool is_alike(const AccessRecord& a, const AccessRecord& b) {
  return a.line == b.line && a.kind == b.kind && a.scope == b.scope && a.strong == b.strong &&
         a.is_volatile == b.is_volatile && a.repeated == b.repeated && a.copy == b.copy;
}

/// True if all threads of both spans are lanes of one warp.
bool is_of_one_warp(const Span& a, const Span& b) {
  const uint32_t warp = a.thread_of(a.from) / kWarpLanes;
  return a.thread_of(a.to) / kWarpLanes == warp && b.thread_of(b.from) / kWarpLanes == warp &&
         b.thread_of(b.to) / kWarpLanes == warp;
}

/// The readers of two records together, of which one is one thread's or more.
Readers together(const AccessRecord& a, const AccessRecord& b) {
  Readers who = Readers::warp;
  if (a.thread / kWarpLanes != b.thread / kWarpLanes) who = Readers::block;
  if (a.block != b.block) who = Readers::several_blocks;
  return std::max({who, a.who(), b.who()});
}

}  // namespace

/// Judges two overlapping spans as a whole, if that is possible.
RaceCheck::Verdict RaceCheck::judge(const Span& before, const Span& now) const {
  if (before.access.era != now.access.era || !before.overlaps(now)) return Verdict::ordered;
  if (!before.access.writes() && !now.access.writes()) return Verdict::ordered;
  if (before.access.is_of_copy()) return judge_copy(before, now);
  if (before.has_threads_of(now)) return Verdict::ordered;
  if (before.access.who() != Readers::several_blocks && before.access.block == now.access.block &&
      clock_.has_passed_barrier(before.access.tick)) {
    return Verdict::ordered;
  }
  const bool strong = before.access.strong != 0 && now.access.strong != 0;
  const bool may_be_in_step = before.access.is_volatile != 0 && now.access.is_volatile != 0;
  const auto narrow = static_cast<uint64_t>(MemoryScope::block);
  const bool wide = before.access.scope != narrow && now.access.scope != narrow;
  return strong && wide && !may_be_in_step ? Verdict::ordered : Verdict::unknown;
}

/// Judges words that asynchronous copies accessed: each thread has waited for its own.
RaceCheck::Verdict RaceCheck::judge_copy(const Span& before, const Span& now) const {
  const uint32_t from = std::max(before.from, now.from), to = std::min(before.to, now.to);
  for (uint32_t w = from; w <= to; ++w) {
    if (!is_ordered(before.of_word(w), now.of_word(w))) return Verdict::unknown;
  }
  return Verdict::ordered;
}

/// Adds a read to the span of reads; false if that needs cells.
bool RaceCheck::keep_read(Span& kept, const Span& now) const {
  if (kept.access.era != now.access.era) {
    kept = now;
    return true;
  }
  if (kept.access.is_of_copy() || now.access.is_of_copy()) return false;
  const bool same_block = kept.access.block == now.access.block;
  const bool is_over =
      kept.has_threads_of(now) || (same_block && kept.access.who() != Readers::several_blocks &&
                                   clock_.has_passed_barrier(kept.access.tick));
  if (is_over && now.holds(kept)) {
    kept = now;
    return true;
  }
  const bool same_time = same_block && kept.access.tick == now.access.tick;
  const bool is_as_weak = kept.access.strong == 0 && kept.access.repeated == 0;
  if (same_time && is_as_weak && kept.has_threads_of(now) && kept.holds(now)) return true;
  if (kept.from != now.from || kept.to != now.to) return false;
  // Both read the same words, whose threads differ.
  Readers who = same_block ? Readers::block : Readers::several_blocks;
  if (same_block && is_of_one_warp(kept, now)) who = Readers::warp;
  who = std::max({who, kept.access.who(), now.access.who()});
  const AccessRecord before = kept.access;
  kept = now;
  kept.access = before;
  merge(kept.access, now.access, who);
  return true;
}

/// Handles an access by the line's spans; false if that needs cells.
bool RaceCheck::touch_spans(Line& line, const Span& now) {
  if (judge(line.write, now) == Verdict::unknown) return false;
  if (!now.access.writes()) return keep_read(line.read, now);
  if (judge(line.read, now) == Verdict::unknown) return false;
  const bool writes_stay = line.write.access.era == now.access.era && !now.holds(line.write);
  const bool extends = writes_stay && line.write.has_threads_of(now) &&
                       is_alike(line.write.access, now.access) &&
                       line.write.access.tick == now.access.tick && line.write.from <= now.to + 1 &&
                       now.from <= line.write.to + 1;
  if (writes_stay && !extends) return false;
  if (line.write.overlaps(now) && outlasts(line.write.access, now.access)) return false;
  if (line.read.access.era == now.access.era && line.read.overlaps(now)) {
    if (!now.holds(line.read)) return false;
    line.read = {};
  }
  const uint8_t from = extends ? std::min(line.write.from, now.from) : now.from;
  const uint8_t to = extends ? std::max(line.write.to, now.to) : now.to;
  line.write = now;
  line.write.from = from;
  line.write.to = to;
  return true;
}

void RaceCheck::touch_words(Line& line, const Span& now) {
  KM_ASSERT(now.from <= now.to && now.to < kLineWords, "an access ends beyond its line");
  begin_era(line, now.access.era);
  if (!line.has_cells) {
    if (touch_spans(line, now)) return;
    expand(line);
  }
  if (!line.has_bytes && !now.access.writes()) return read_cells(line, now);
  const uint32_t cell_bytes = line.has_bytes ? 1 : 4;
  for (uint32_t w = now.from; w <= now.to; ++w) {
    const AccessRecord one = now.of_word(w);
    for (uint32_t i = 4 * w / cell_bytes; i < 4 * (w + 1) / cell_bytes; ++i) {
      touch_cell(line.cells[i], one, i * cell_bytes, cell_bytes);
    }
  }
  // A store to the whole line replaces all that was known of it.
  if (!now.access.writes() || is_atomic(now.access)) return;
  if (now.from != 0 || now.to + 1 != kLineWords) return;
  line.has_cells = false;
  line.write = now;
  line.read = {};
}

/// Reads of words. Most are of words that the block has not written since its last barrier, and
/// that some of its other threads have just read.
void RaceCheck::read_cells(Line& line, const Span& now) {
  const uint64_t era = now.access.era, moment = now.access.moment();
  const uint32_t block = now.access.block, passed = clock_.barrier_tick();
  for (uint32_t w = now.from; w <= now.to; ++w) {
    Cell& cell = line.cells[w];
    const AccessRecord &write = cell.write, &read = cell.read;
    const bool is_over =
        write.era != era || (write.block == block && write.tick < passed && !write.is_of_copy());
    const bool is_known = read.era == era && read.moment() == moment &&
                          read.who() >= Readers::block && read.strong == 0 && read.repeated == 0;
    if (is_over && is_known) continue;
    const AccessRecord one = now.of_word(w);
    if (!is_over) check(write, one, 4 * w, 4);
    if (read.era == era && read.writes()) check(read, one, 4 * w, 4);
    keep_read(cell.read, one);
  }
}

void RaceCheck::touch_bytes(Line& line, const AccessRecord& now, uint32_t offset_bytes,
                            uint32_t size_bytes) {
  KM_ASSERT(offset_bytes + size_bytes <= kLineBytes, "an access ends beyond its line");
  begin_era(line, now.era);
  if (!line.has_cells) expand(line);
  if (!line.has_bytes) divide(line);
  for (uint32_t i = offset_bytes; i < offset_bytes + size_bytes; ++i) {
    touch_cell(line.cells[i], now, i, 1);
  }
}

void RaceCheck::touch_cell(Cell& cell, const AccessRecord& now, uint32_t offset_bytes,
                           uint32_t size_bytes) {
  const bool races = cell.write.era == now.era && check(cell.write, now, offset_bytes, size_bytes);
  if (cell.read.era == now.era && (now.writes() || cell.read.writes())) {
    check(cell.read, now, offset_bytes, size_bytes);
  }
  if (!now.writes()) return keep_read(cell.read, now);
  if (!races && outlasts(cell.write, now)) return keep_read(cell.read, now);
  cell.write = now;
  cell.read = {};
}

/// Keeps the reads since the last write in one record: a later one replaces those that it is
/// ordered after, and stands for the others too.
void RaceCheck::keep_read(AccessRecord& kept, const AccessRecord& now) const {
  if (kept.era != now.era) {
    kept = now;
    return;
  }
  const bool is_plain = kept.strong == 0 && kept.repeated == 0 && !kept.is_of_copy();
  if (kept.moment() == now.moment() && is_plain) {
    const bool covers_warp =
        kept.thread / kWarpLanes == now.thread / kWarpLanes && kept.who() >= Readers::warp;
    if (kept.who() >= Readers::block || covers_warp) return;
  }
  if (clock_.is_ordered(kept, static_cast<uint32_t>(now.thread))) {
    kept = now;
    return;
  }
  merge(kept, now, together(kept, now));
}

bool RaceCheck::is_ordered(const AccessRecord& before, const AccessRecord& now) const {
  return now.who() == Readers::one ? clock_.is_ordered(before, static_cast<uint32_t>(now.thread))
                                   : clock_.is_ordered_for_warp(before, now);
}

/// True if an atomic does not take the place of a plain write, because other threads whose atomics
/// race with the write only have not met its thread yet. The atomic is then kept as a read is.
bool RaceCheck::outlasts(const AccessRecord& write, const AccessRecord& now) const {
  return is_atomic(now) && write.era == now.era && write.strong == 0 && write.block == now.block &&
         !clock_.has_passed_barrier(write.tick);
}

/// True if the two race.
bool RaceCheck::check(const AccessRecord& before, const AccessRecord& now, uint32_t offset_bytes,
                      uint32_t size_bytes) {
  if (!conflicts(before, now, is_shared_)) return false;
  if (is_ordered(before, now)) return false;
  sink_.note({clock_.without_waited_copy(before), now, offset_bytes, size_bytes});
  return true;
}

}  // namespace km::cpu
