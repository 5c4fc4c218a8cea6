#include "backends/cpu/trials/write_log.h"

#include <algorithm>
#include <bit>

namespace km::cpu {
namespace {

/// The bits [first, end) of a word.
uint64_t bits_between(uint64_t first, uint64_t end) {
  const uint64_t below = end == 64 ? UINT64_MAX : (uint64_t{1} << end) - 1;
  return below & ~((uint64_t{1} << first) - 1);
}

uint8_t& byte_at(uint64_t address) { return *reinterpret_cast<uint8_t*>(address); }

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
  for_each_bit(bits & ~line.written,
               [&](uint32_t i) { line.before[i] = line.result[i] = byte_at(begin + i); });
  line.written |= bits;
  if (!is_float_sum) line.plain |= bits;
}

void WriteLog::keep_result() {
  for (auto& [begin, line] : lines_) {
    for_each_bit(line.written, [&](uint32_t i) { line.result[i] = byte_at(begin + i); });
  }
}

void WriteLog::restore() {
  for (const auto& [begin, line] : lines_) {
    for_each_bit(line.written, [&](uint32_t i) { byte_at(begin + i) = line.before[i]; });
  }
}

void WriteLog::restore_result() {
  for (const auto& [begin, line] : lines_) {
    for_each_bit(line.written, [&](uint32_t i) { byte_at(begin + i) = line.result[i]; });
  }
}

std::optional<WriteLog::Difference> WriteLog::difference() const {
  Difference found;
  for (const auto& [begin, line] : lines_) {
    for_each_bit(line.written, [&](uint32_t i) {
      if (byte_at(begin + i) == line.result[i]) return;
      if (found.count++ == 0 || begin + i < found.address) found.address = begin + i;
      found.is_of_sums = found.is_of_sums && (line.plain >> i & 1) == 0;
    });
  }
  return found.count == 0 ? std::nullopt : std::optional(found);
}

uint8_t WriteLog::result_at(uint64_t address) const {
  const uint64_t begin = address & ~(kLineBytes - 1);
  const auto at = lines_.find(begin);
  const bool is_kept = at != lines_.end() && (at->second.written >> (address - begin) & 1) != 0;
  return is_kept ? at->second.result[address - begin] : byte_at(address);
}

}  // namespace km::cpu
