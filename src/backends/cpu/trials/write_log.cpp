#include "backends/cpu/trials/write_log.h"

#include <algorithm>
#include <bit>

#include "backends/cpu/fault/guarded_memory.h"

namespace km::cpu {
namespace {

/// The bits [first, end) of a word.
uint64_t bits_between(uint64_t first, uint64_t end) {
  const uint64_t below = end == 64 ? UINT64_MAX : (uint64_t{1} << end) - 1;
  return below & ~((uint64_t{1} << first) - 1);
}

/// Calls a function with the first and the number of each row of bits that are set.
template <typename Action>
void for_each_row(uint64_t bits, const Action& action) {
  for (uint32_t first = 0; bits != 0;) {
    first += static_cast<uint32_t>(std::countr_zero(bits >> first));
    const auto count = static_cast<uint32_t>(std::countr_one(bits >> first));
    action(first, count);
    bits &= ~bits_between(first, first + count);
  }
}

/// Copies the bytes of a line in memory that `bits` names to `out_bytes`, at the same places. Zeros
/// stand for memory that has been freed meanwhile, or that nobody may access.
void load(uint64_t begin, uint64_t bits, uint8_t* out_bytes) {
  for_each_row(bits, [&](uint32_t first, uint32_t count) {
    const auto* const memory = reinterpret_cast<const void*>(begin + first);
    if (guarded_copy(out_bytes + first, memory, count, false, nullptr)) return;
    std::fill_n(out_bytes + first, count, uint8_t{0});
  });
}

/// Copies them back. What memory lacks is left out.
void store(uint64_t begin, uint64_t bits, const uint8_t* bytes) {
  for_each_row(bits, [&](uint32_t first, uint32_t count) {
    guarded_copy(reinterpret_cast<void*>(begin + first), bytes + first, count, false, nullptr);
  });
}

/// Calls a function with the number of each bit that is set.
template <typename Action>
void for_each_bit(uint64_t bits, const Action& action) {
  for (; bits != 0; bits &= bits - 1) action(static_cast<uint32_t>(std::countr_zero(bits)));
}

}  // namespace

bool WriteLog::is_of_host(uint64_t address) {
  return !Allocations::of_all_contexts().find(address, 1).is_empty();
}

bool WriteLog::note(const Write& write) {
  if (!allocation_.holds(write.address, write.size_bytes)) {
    const AddressRange found = allocations_.find(write.address, write.size_bytes);
    if (found.is_empty()) return false;
    allocation_ = found;
  }
  has_float_sums_ = has_float_sums_ || write.is_float_sum;
  const uint64_t end = write.address + write.size_bytes;
  for (uint64_t at = write.address; at < end;) {
    const uint64_t begin = at & ~(kLineBytes - 1), stop = std::min(end, begin + kLineBytes);
    note_line(begin, bits_between(at - begin, stop - begin), write.is_float_sum);
    at = stop;
  }
  return true;
}

void WriteLog::note_line(uint64_t begin, uint64_t bits, bool is_float_sum) {
  if (begin != last_begin_) {
    if (lines_.size() >= kMostLines && !lines_.contains(begin)) {
      is_full_ = true;
      return;
    }
    last_ = &lines_[begin];
    last_begin_ = begin;
  }
  Line& line = *last_;
  // A byte that the kept result does not have was not written then, so that it is as before.
  const uint64_t new_bits = bits & ~line.written;
  load(begin, new_bits, line.before.data());
  for_each_bit(new_bits, [&](uint32_t i) { line.result[i] = line.before[i]; });
  line.written |= bits;
  if (!is_float_sum) line.plain |= bits;
}

void WriteLog::keep_result() {
  for (auto& [begin, line] : lines_) load(begin, line.written, line.result.data());
}

void WriteLog::restore() {
  for (const auto& [begin, line] : lines_) store(begin, line.written, line.before.data());
}

void WriteLog::restore_result() {
  for (const auto& [begin, line] : lines_) store(begin, line.written, line.result.data());
}

std::optional<WriteLog::Difference> WriteLog::difference() const {
  Difference found;
  std::array<uint8_t, kLineBytes> now;
  for (const auto& [begin, line] : lines_) {
    load(begin, line.written, now.data());
    for_each_bit(line.written, [&](uint32_t i) {
      if (now[i] == line.result[i]) return;
      if (found.count++ == 0 || begin + i < found.address) found.address = begin + i;
      found.is_of_sums = found.is_of_sums && (line.plain >> i & 1) == 0;
    });
  }
  return found.count == 0 ? std::nullopt : std::optional(found);
}

uint8_t WriteLog::result_at(uint64_t address) const {
  const uint64_t begin = address & ~(kLineBytes - 1);
  const uint64_t i = address - begin;
  const auto at = lines_.find(begin);
  if (at != lines_.end() && (at->second.written >> i & 1) != 0) return at->second.result[i];
  std::array<uint8_t, kLineBytes> now;
  load(begin, uint64_t{1} << i, now.data());
  return now[i];
}

}  // namespace km::cpu
