#include "backends/cpu/check/block_checks.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backends/cpu/fault/guarded_memory.h"
#include "base/assert.h"
#include "simt/engine.h"

namespace km::cpu {

using simt::AccessKind;
using simt::kWarpLanes;
namespace flag = simt::access_flag;

namespace {

AccessRecord record_of(const simt::AccessNote& note) {
  AccessRecord access;
  access.line = note.line;
  access.kind = static_cast<uint64_t>(note.kind);
  access.strong = (note.flags & flag::kStrong) != 0;
  if (access.strong != 0) access.scope = static_cast<uint64_t>(note.scope);
  access.is_volatile = (note.flags & flag::kVolatile) != 0;
  access.repeated = (note.flags & flag::kRepeated) != 0;
  // A copy's arrival at its barrier is no part of the copy.
  const bool arrives = (note.flags & flag::kRelease) != 0;
  if (!arrives) access.copy = static_cast<uint64_t>(note.copy);
  return access;
}

uint64_t line_begin(uint64_t address) { return address & ~uint64_t{kLineBytes - 1}; }

}  // namespace

/// Adds what a race needs to be told to the pair of accesses.
class BlockChecks::Sink final : public RaceSink {
 public:
  Sink(const Block& block, const AccessReport& report, const SharedShadow* shared)
      : block_(block), report_(report), shared_(shared) {}
  /// Sets the line that is tested.
  void set_line(uint64_t begin) { line_begin_ = begin; }

  void note(const RacingPair& pair) override {
    Race race;
    race.before = pair.before;
    race.now = pair.now;
    race.address = line_begin_ + pair.offset_bytes;
    race.access_bytes = static_cast<uint32_t>(report_.size_of(lane_of(pair.now)));
    race.is_shared = shared_ != nullptr;
    race.offset = shared_ != nullptr ? race.address - shared_->memory.begin : 0;
    race.is_same_value = writes_same(pair, race.address);
    block_.launch->note(race);
  }

 private:
  /// The lane of the report that the thread of an access would be.
  uint32_t lane_of(const AccessRecord& access) const {
    return static_cast<uint32_t>(access.thread) - report_.first_thread;
  }

  /// True if a store leaves what another store has written or a read has seen. What another lane of
  /// this instruction stores is in the report, and what a running block's last one stores in that
  /// of its thread; what an earlier instruction stored is still in memory.
  bool writes_same(const RacingPair& pair, uint64_t address) const {
    const AccessRecord &before = pair.before, &now = pair.now;
    const auto atomic = static_cast<uint64_t>(AccessKind::atomic);
    if (!report_.has_content() || before.kind == atomic) return false;
    const uint32_t lane = lane_of(now), other = lane_of(before);
    uint8_t value[kMostCellBytes];
    KM_ASSERT(pair.size_bytes <= sizeof value, "a race is wider than a cell");
    const uint64_t own_bytes = address - report_.addresses[lane];
    if (!report_.read_stored(lane, own_bytes, pair.size_bytes, value)) return false;
    const bool is_together = before.writes() && before.block == now.block &&
                             before.tick == now.tick && before.line == now.line &&
                             other < report_.lane_count && (report_.lanes >> other & 1) != 0;
    const uint64_t distance_bytes = is_together ? address - report_.addresses[other] : 0;
    if (is_together && distance_bytes < report_.size_of(other))
      return report_.stores(other, distance_bytes, value, pair.size_bytes);
    if (before.writes() && before.block != now.block) {
      // Another thread may make its store at this moment.
      const LaunchChecks& launch = *block_.launch;
      const auto has = launch.reported_store_has(before, address, value, pair.size_bytes);
      if (has) return *has;
    }
    return holds(address, value, pair.size_bytes);
  }

  /// True if the memory holds the value; it may be missing, since accesses are reported before they
  /// fault.
  static bool holds(uint64_t address, const uint8_t* value, uint32_t size_bytes) {
    uint8_t content[kMostCellBytes];
    const auto* const memory = reinterpret_cast<const void*>(address);
    return guarded_copy(content, memory, size_bytes, false, nullptr) &&
           memcmp(content, value, size_bytes) == 0;
  }

  const Block& block_;
  const AccessReport& report_;
  const SharedShadow* const shared_;  // null: global memory
  uint64_t line_begin_ = 0;
};

void BlockChecks::begin(const Block& block) {
  KM_ASSERT(block.launch != nullptr, "a block is checked whose launch is not");
  block_ = block;
  clock_.begin(block.number, block.thread_count);
  barriers_.begin(block.launch, block.number, block.thread_count);
  const uint64_t size_bytes = block.shared.size_bytes;
  const bool fits = piece_ && piece_->begin() == line_begin(block.shared.begin);
  if (shared_.memory.size_bytes != size_bytes || shared_.era == kMostEras || !fits) {
    piece_.reset();
    const uint64_t begin = line_begin(block.shared.begin);
    if (size_bytes != 0 && has_tool(simt::check_tool::kRace)) {
      piece_ = std::make_unique<ShadowPiece>(begin, block.shared.begin - begin + size_bytes);
    }
    shared_.era = 0;
  }
  shared_ = {block.shared, piece_.get(), shared_.era + 1};
  if (block_.cluster != nullptr) block_.cluster->push_back(shared_);
  touched_.begin(block.launch->touched());
  if (!has_tool(simt::check_tool::kInit)) return;
  UndefinedMemory& memory = UndefinedMemory::instance();
  if (block_.cluster != nullptr) return memory.add(block.shared.begin, size_bytes);
  memory.begin_shared(block.shared.begin, size_bytes);
}

template <typename Action>
void BlockChecks::for_segments(const AccessReport& report, const Action& action) const {
  for (uint32_t left = report.lanes; left != 0;) {
    const Segment segment = segment_at(report, static_cast<uint32_t>(std::countr_zero(left)), left);
    action(segment);
    const uint64_t end = segment.first + segment.count;
    left = end >= kWarpLanes ? 0 : left & (UINT32_MAX << end);
  }
}

void BlockChecks::begin_report(const AccessReport& report) {
  is_published_ = !report.has_content() || block_.store == nullptr;
}

/// Lets other threads see a store to global memory before the shadow has it.
void BlockChecks::publish(const AccessRecord& access, const AccessReport& report) {
  if (is_published_) return;
  block_.store->set(access, report);
  is_published_ = true;
}

void BlockChecks::note_access(const AccessReport& report) {
  begin_report(report);
  for_segments(report, [&](const Segment& segment) { note_segment(report, segment); });
}

/// Notes that memory is written. Returns true if some of it was undefined.
bool BlockChecks::define(uint64_t address, uint64_t size_bytes) const {
  UndefinedMemory& memory = UndefinedMemory::instance();
  const bool is_own = block_.cluster == nullptr && shared_.memory.holds(address, size_bytes);
  return is_own ? memory.define_shared(address, size_bytes) : memory.define(address, size_bytes);
}

bool BlockChecks::note_content(const AccessReport& report) {
  const simt::AccessNote& note = *report.note;
  UndefinedMemory& memory = UndefinedMemory::instance();
  const auto first = static_cast<uint32_t>(std::countr_zero(report.lanes));
  const uint32_t row = report.lanes >> first;
  if ((note.flags & flag::kConsecutive) != 0 && (row & (row + 1)) == 0) {
    const uint64_t size_bytes = uint64_t{note.size_bytes} * std::popcount(row);
    if (note.kind == AccessKind::write) return define(report.addresses[first], size_bytes);
    if (memory.first_undefined(report.addresses[first], size_bytes) == size_bytes) return false;
  } else if (memory.are_defined(report.addresses, report.lanes, note.size_bytes)) {
    return false;
  }
  for_segments(report, [&](const Segment& segment) { note_content(report, segment); });
  return true;
}

/// The segment that begins at a lane. Writes of equal addresses stay apart, because they race.
BlockChecks::Segment BlockChecks::segment_at(const AccessReport& report, uint32_t lane,
                                             uint32_t lanes) const {
  Segment segment{lane};
  if ((report.note->flags & flag::kConsecutive) != 0) {
    segment.count = static_cast<uint32_t>(std::countr_one(lanes >> lane));
    return segment;
  }
  const uint64_t size_bytes = report.note->size_bytes;
  if (lane + 1 >= kWarpLanes || (lanes >> (lane + 1) & 1) == 0) return segment;
  const uint64_t step = report.addresses[lane + 1] - report.addresses[lane];
  const bool is_read = report.note->kind == AccessKind::read;
  segment.is_uniform =
      step == 0 && is_read && clock_.has_equal_lanes(report.first_thread / kWarpLanes);
  if (!segment.is_uniform && step != size_bytes) return segment;
  while (lane + 1 < kWarpLanes && (lanes >> (lane + 1) & 1) != 0 &&
         report.addresses[lane + 1] - report.addresses[lane] == step) {
    ++lane;
  }
  segment.count = lane - segment.first + 1;
  return segment;
}

/// The shadow of the shared memory that holds the address: of the block or of another one of its
/// cluster. Null for other memory.
const SharedShadow* BlockChecks::shared_shadow(uint64_t address) const {
  if (shared_.memory.holds(address, 1)) return &shared_;
  if (block_.cluster == nullptr) return nullptr;
  for (const SharedShadow& each : *block_.cluster) {
    if (each.memory.holds(address, 1)) return &each;
  }
  return nullptr;
}

/// True if other threads may see the memory, and it may change.
bool BlockChecks::is_watched(uint64_t address, uint64_t size_bytes) const {
  for (const AddressRange& range : {block_.scratch, block_.params, block_.launch->unused()}) {
    if (range.holds(address, size_bytes)) return false;
  }
  return true;
}

/// True if the memory may be read before it is written: a thread's local memory may.
bool BlockChecks::may_be_undefined(uint64_t address, uint64_t size_bytes) const {
  return block_.scratch.holds(address, size_bytes) || is_watched(address, size_bytes);
}

AccessRecord BlockChecks::begin_access(const simt::AccessNote& note, const AddressRange& memory,
                                       uint32_t thread) const {
  AccessRecord access = record_of(note);
  const SharedShadow* const shared = shared_shadow(memory.begin);
  access.block = clock_.block();
  access.tick = clock_.now();
  access.era = shared != nullptr ? shared->era : block_.launch->era();
  access.thread = thread;
  return access;
}

AddressRange BlockChecks::memory_of(const AccessReport& report, const Segment& segment) {
  const uint64_t lanes = segment.is_uniform ? 1 : segment.count;
  return {report.addresses[segment.first], lanes * report.note->size_bytes};
}

/// The record of a segment's access: of its first lane, or of all if they read one place.
AccessRecord BlockChecks::begin_segment(const AccessReport& report, const Segment& segment) const {
  AccessRecord access =
      begin_access(*report.note, memory_of(report, segment), report.first_thread + segment.first);
  if (segment.is_uniform) access.readers = static_cast<uint64_t>(Readers::warp);
  return access;
}

void BlockChecks::note_segment(const AccessReport& report, const Segment& segment) {
  const AddressRange all = memory_of(report, segment);
  if (!is_watched(all.begin, report.note->size_bytes)) return;
  if (has_tool(simt::check_tool::kStreams)) note_touch(*report.note, all);
  if (!has_tool(simt::check_tool::kRace)) return;
  const AccessRecord access = begin_segment(report, segment);
  touch_memory(access, report, all);
  const bool publishes = (report.note->flags & flag::kStrong) != 0 && access.writes();
  for (uint32_t i = 0; publishes && i < segment.count; ++i) release(report, segment.first + i);
}

void BlockChecks::note_content(const AccessReport& report, const Segment& segment) {
  const AddressRange all = memory_of(report, segment);
  if (!may_be_undefined(all.begin, report.note->size_bytes)) return;
  note_content(begin_segment(report, segment), *report.note, all);
}

void BlockChecks::note_ranges(const AccessReport& report) {
  begin_report(report);
  for (uint32_t left = report.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    if (report.sources != nullptr && report.sources->byte_masks != nullptr) {
      note_masked(report, lane);
    } else {
      note_range(report, lane, {report.addresses[lane], report.sizes[lane]});
    }
  }
}

/// Tests the bytes that a lane's mask selects, each row of them as a range.
void BlockChecks::note_masked(const AccessReport& report, uint32_t lane) {
  const uint16_t mask = report.sources->byte_masks[lane];
  const uint64_t begin = report.addresses[lane], size_bytes = report.sizes[lane];
  const auto is_stored = [&](uint64_t i) { return (mask >> i % 16 & 1) != 0; };
  for (uint64_t i = 0; i < size_bytes;) {
    uint64_t end = i;
    while (end < size_bytes && is_stored(end)) ++end;
    note_range(report, lane, {begin + i, end - i});
    for (i = end; i < size_bytes && !is_stored(i);) ++i;
  }
}

/// Tests an access of a lane, or a part of it.
void BlockChecks::note_range(const AccessReport& report, uint32_t lane, const AddressRange& range) {
  if (range.size_bytes == 0 || !may_be_undefined(range.begin, range.size_bytes)) return;
  simt::AccessNote own = *report.note;
  own.size_bytes = static_cast<uint16_t>(std::min<uint64_t>(range.size_bytes, UINT16_MAX));
  const AccessRecord access = begin_access(own, range, report.first_thread + lane);
  if (has_tool(simt::check_tool::kInit)) note_content(access, own, range);
  if (!is_watched(range.begin, range.size_bytes)) return;
  if (has_tool(simt::check_tool::kStreams)) note_touch(own, range);
  if (!has_tool(simt::check_tool::kRace)) return;
  touch_memory(access, report, range);
}

/// Notes an access to global memory for the comparison with other streams' accesses.
void BlockChecks::note_touch(const simt::AccessNote& note, const AddressRange& all) {
  if (block_.shared.holds(all.begin, 1)) return;
  touched_.note(all.begin, all.size_bytes, note);
  if ((note.flags & flag::kStrong) == 0) return;
  if ((note.flags & (flag::kAcquire | flag::kRelease)) != 0) block_.launch->note_fence();
  const bool is_system_wide = note.scope == simt::MemoryScope::system;
  if (!is_system_wide || block_.launch->meets_host()) return;
  if (Allocations::of_all_contexts().find_own(all.begin, 1).is_empty()) return;
  block_.launch->note_host();
}

void BlockChecks::note_fence(uint32_t thread, simt::MemoryScope scope) {
  if (scope >= simt::MemoryScope::device) block_.launch->note_fence();
  if (scope == simt::MemoryScope::system) block_.launch->note_host();
  if (has_tool(simt::check_tool::kRace)) clock_.fence(thread, scope);
}

/// Tests the content of what is read, and notes that it is told or written.
void BlockChecks::note_content(const AccessRecord& access, const simt::AccessNote& note,
                               const AddressRange& all) {
  const UndefinedMemory& memory = UndefinedMemory::instance();
  const bool is_store = note.kind == AccessKind::write;
  if (!is_store && (note.flags & flag::kCopied) == 0) {
    const uint64_t at = memory.first_undefined(all.begin, all.size_bytes);
    if (at == all.size_bytes) return;
    LaunchChecks::Invalid read;
    read.access = access;
    if (access.who() == Readers::one)
      read.access.thread += at / std::max<uint64_t>(note.size_bytes, 1);
    read.kind = LaunchChecks::Invalid::undefined;
    read.address = all.begin + at;
    read.size_bytes = note.size_bytes;
    read.shared_begin = block_.shared.begin;
    read.is_local = block_.scratch.holds(read.address, 1);
    block_.launch->note(read);
  } else if (!is_store) {
    return;
  }
  define(all.begin, all.size_bytes);
}

/// Tests the memory for races, line by line.
void BlockChecks::touch_memory(const AccessRecord& access, const AccessReport& report,
                               const AddressRange& all) {
  const SharedShadow* const shared = shared_shadow(all.begin);
  const bool is_of_one = report.sizes != nullptr;
  const uint64_t size_bytes = is_of_one ? all.size_bytes : report.note->size_bytes;
  uint64_t end = all.begin + all.size_bytes;
  // A shadow has no lines for what lies beyond its block's shared memory.
  if (shared != nullptr) {
    end = std::min(end, shared->memory.begin + shared->memory.size_bytes);
  } else {
    publish(access, report);
  }
  Sink sink(block_, report, shared);
  RaceCheck check(clock_, sink, shared != nullptr);
  for (uint64_t at = all.begin; at < end; at = line_begin(at) + kLineBytes) {
    ShadowPiece* const piece =
        shared != nullptr ? shared->piece : GlobalShadow::instance().piece_of(at);
    if (piece == nullptr) return;
    sink.set_line(line_begin(at));
    const Part part{all.begin, size_bytes, at, std::min(end, line_begin(at) + kLineBytes),
                    is_of_one};
    if (shared != nullptr) {  // which one thread of the runtime uses
      touch(check, piece->line_at(at), access, part);
    } else {
      const std::lock_guard lock(piece->lock());
      touch(check, piece->line_at(at), access, part);
    }
  }
}

void BlockChecks::touch(RaceCheck& check, Line& line, const AccessRecord& access,
                        const Part& part) {
  const uint64_t size_bytes = part.size_bytes;
  const uint64_t in_line = part.at - line_begin(part.at);
  // All bytes belong to one lane, or to all that the record stands for.
  const bool is_uniform = access.who() != Readers::one || part.is_of_one;
  const bool has_words = part.is_of_one
                             ? (part.at | part.end) % 4 == 0
                             : std::has_single_bit(size_bytes) && size_bytes >= 4 &&
                                   size_bytes <= kLineBytes && part.address % size_bytes == 0;
  if (has_words) {
    Span span;
    span.access = access;
    span.from = static_cast<uint8_t>(in_line / 4);
    span.to = static_cast<uint8_t>((in_line + part.end - part.at) / 4 - 1);
    // A shift beyond all words gives them the same thread.
    span.shift = is_uniform ? 8 : static_cast<uint8_t>(std::countr_zero(size_bytes / 4));
    const uint64_t lane = is_uniform ? 0 : (part.at - part.address) / size_bytes;
    const auto first = static_cast<int64_t>(access.thread + lane);
    const auto before = is_uniform ? 0 : static_cast<int64_t>(in_line / size_bytes);
    span.first_thread = static_cast<int16_t>(first - before);
    check.touch_words(line, span);
    return;
  }
  for (uint64_t at = part.at; at < part.end;) {
    const uint64_t lane = is_uniform ? 0 : (at - part.address) / size_bytes;
    const uint64_t end =
        is_uniform ? part.end : std::min(part.end, part.address + (lane + 1) * size_bytes);
    AccessRecord one = access;
    one.thread = access.thread + lane;
    check.touch_bytes(line, one, static_cast<uint32_t>(at - line_begin(at)),
                      static_cast<uint32_t>(end - at));
    at = end;
  }
}

void BlockChecks::note_undefined(uint32_t thread, simt::UndefinedUse use, uint32_t line) {
  using Invalid = LaunchChecks::Invalid;
  Invalid undefined;
  undefined.access.line = line;
  undefined.access.block = clock_.block();
  undefined.access.thread = thread;
  undefined.kind = use == simt::UndefinedUse::address  ? Invalid::undefined_address
                   : use == simt::UndefinedUse::branch ? Invalid::undefined_branch
                                                       : Invalid::undefined_store;
  block_.launch->note(undefined);
}

void BlockChecks::note_invalid(const InvalidAccess& access) {
  LaunchChecks::Invalid invalid;
  invalid.access = record_of(*access.note);
  invalid.access.block = clock_.block();
  invalid.access.thread = access.thread;
  invalid.address = access.address;
  invalid.size_bytes = access.note->size_bytes;
  if (access.is_misaligned) invalid.kind = LaunchChecks::Invalid::misaligned;
  invalid.shared_begin = block_.shared.begin;
  block_.launch->note(invalid);
}

void BlockChecks::release(const AccessReport& report, uint32_t lane) {
  const simt::AccessNote& note = *report.note;
  const bool releases = (note.flags & flag::kRelease) != 0;
  const uint32_t thread = report.first_thread + lane;
  const bool by_copy = note.copy == simt::CopyKind::barrier;
  const SharedKnowledge known =
      by_copy ? clock_.published_by_copy(thread) : clock_.published(thread, releases, note.scope);
  ReleaseTable& table = block_.launch->releases();
  table.release(report.addresses[lane],
                {clock_.block(), note.scope, note.kind == AccessKind::atomic}, known);
  if (by_copy || releases || note.scope == simt::MemoryScope::block) return;
  // After a fence of the block's scope, a wider write releases to the block.
  table.release(report.addresses[lane], {clock_.block(), simt::MemoryScope::block, true},
                clock_.published(thread, false, simt::MemoryScope::block));
}

void BlockChecks::note_acquire(const AccessReport& report) {
  if (!has_tool(simt::check_tool::kRace)) return;
  const bool acquires = (report.note->flags & flag::kAcquire) != 0;
  for (uint32_t left = report.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint32_t thread = report.first_thread + lane;
    const ReleaseTable& table = block_.launch->releases();
    const uint64_t address = report.addresses[lane];
    const SharedKnowledge known = table.acquire(address, clock_.block(), report.note->scope);
    if (!known) continue;
    clock_.acquire(thread, known, acquires);
    clock_.acquire_in_block(thread,
                            table.acquire(address, clock_.block(), simt::MemoryScope::block));
  }
}

void BlockChecks::forget(uint64_t address, uint64_t size_bytes) {
  if (has_tool(simt::check_tool::kInit)) UndefinedMemory::instance().add(address, size_bytes);
  if (!has_tool(simt::check_tool::kRace)) return;
  // Lines that other memory shares lose what is known of that too, which hides a race at most.
  for (uint64_t at = line_begin(address); at < address + size_bytes; at += kLineBytes) {
    ShadowPiece* const piece = GlobalShadow::instance().piece_of(at);
    if (piece == nullptr) return;
    const std::lock_guard lock(piece->lock());
    piece->line_at(at).era = 0;
  }
}

}  // namespace km::cpu
