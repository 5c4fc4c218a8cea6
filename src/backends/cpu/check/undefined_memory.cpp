#include "backends/cpu/check/undefined_memory.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"

namespace km::cpu {
namespace {

/// The bits [first, first + count) of a word.
uint64_t bits(uint64_t first, uint64_t count) {
  return (count == 64 ? UINT64_MAX : (uint64_t{1} << count) - 1) << first;
}

/// The begin and the end of the part that holds the address.
uint64_t part_begin(uint64_t address) { return address - address % kTablePieceBytes; }
uint64_t part_end(uint64_t address) { return part_begin(address) + kTablePieceBytes; }

}  // namespace

UndefinedMemory& UndefinedMemory::instance() {
  // The object is never destroyed, because kernels may run while the process exits.
  static UndefinedMemory& memory = *new UndefinedMemory;
  return memory;
}

UndefinedMemory::Part::Part(uint64_t /*begin*/, uint64_t size_bytes) {
  KM_ASSERT(size_bytes == kBytes, "a part of another size than its table has");
}

/// Sets or clears bits of one word, and returns how many have changed. Whole words are exchanged,
/// because reading and changing some bits at once is a loop on x86.
uint64_t UndefinedMemory::Part::set_in_word(uint64_t first, uint64_t count, bool is_undefined) {
  std::atomic<uint64_t>& word = words[first / kWordBits];
  const uint64_t mask = bits(first % kWordBits, count), wanted = is_undefined ? UINT64_MAX : 0;
  uint64_t before = word.load(std::memory_order_relaxed);
  if (((before ^ wanted) & mask) == 0) return 0;
  if (mask == UINT64_MAX) {
    before = word.exchange(wanted, std::memory_order_relaxed);
    if (before == ~wanted) return kWordBits;
  } else if (is_undefined) {
    before = word.fetch_or(mask, std::memory_order_relaxed);
  } else {
    before = word.fetch_and(~mask, std::memory_order_relaxed);
  }
  return static_cast<uint64_t>(std::popcount((before ^ wanted) & mask));
}

/// Returns true if some bytes have changed.
bool UndefinedMemory::Part::set(uint64_t first, uint64_t last, bool is_undefined) {
  KM_ASSERT(first <= last && last <= kBytes, "bytes are set that the part does not have");
  uint64_t changed = 0;
  while (first < last) {
    const uint64_t count = std::min(kWordBits - first % kWordBits, last - first);
    changed += set_in_word(first, count, is_undefined);
    first += count;
  }
  if (changed == 0) return false;
  const auto more = static_cast<uint32_t>(is_undefined ? changed : 0 - changed);
  undefined_bytes.fetch_add(more, std::memory_order_relaxed);
  return true;
}

/// Makes these bytes undefined and no others. The number is set, not changed, because what defines
/// all memory meanwhile (BLAS in another stream) may miscount with define_shared().
void UndefinedMemory::Part::begin_shared(uint64_t first, uint64_t last) {
  for (uint64_t at = first; at < last;) {
    const uint64_t begin = at % kWordBits, count = std::min(kWordBits - begin, last - at);
    words[at / kWordBits].store(bits(begin, count), std::memory_order_relaxed);
    at += count;
  }
  undefined_bytes.store(static_cast<uint32_t>(last - first), std::memory_order_relaxed);
}

bool UndefinedMemory::Part::define_shared(uint64_t first, uint64_t last) {
  uint64_t changed = 0;
  while (first < last) {
    const uint64_t begin = first % kWordBits, count = std::min(kWordBits - begin, last - first);
    std::atomic<uint64_t>& word = words[first / kWordBits];
    const uint64_t before = word.load(std::memory_order_relaxed), mask = bits(begin, count);
    if ((before & mask) != 0) {
      changed += static_cast<uint64_t>(std::popcount(before & mask));
      word.store(before & ~mask, std::memory_order_relaxed);
    }
    first += count;
  }
  if (changed == 0) return false;
  const uint32_t left = undefined_bytes.load(std::memory_order_relaxed);
  undefined_bytes.store(left - static_cast<uint32_t>(changed), std::memory_order_relaxed);
  return true;
}

/// True if the bytes are defined. Most are of one word.
bool UndefinedMemory::Part::holds_defined(uint64_t first, uint64_t size_bytes) const {
  const uint64_t begin = first % kWordBits, last = first + size_bytes;
  if (begin + size_bytes > kWordBits) return first_undefined(first, last) == last;
  const uint64_t word = words[first / kWordBits].load(std::memory_order_relaxed);
  return (word & bits(begin, size_bytes)) == 0;
}

/// The first undefined byte of [first, last); `last` if there is none.
uint64_t UndefinedMemory::Part::first_undefined(uint64_t first, uint64_t last) const {
  while (first < last && !is_defined()) {
    const uint64_t begin = first % kWordBits, count = std::min(kWordBits - begin, last - first);
    const uint64_t word =
        words[first / kWordBits].load(std::memory_order_relaxed) & bits(begin, count);
    if (word != 0) return first - begin + static_cast<uint64_t>(std::countr_zero(word));
    first += count;
  }
  return last;
}

/// The byte after the last undefined one of [first, last); `first` if there is none.
uint64_t UndefinedMemory::Part::after_last_undefined(uint64_t first, uint64_t last) const {
  while (first < last && !is_defined()) {
    const uint64_t begin = std::max(first, (last - 1) / kWordBits * kWordBits);
    const uint64_t word = words[begin / kWordBits].load(std::memory_order_relaxed) &
                          bits(begin % kWordBits, last - begin);
    if (word != 0) {
      return begin / kWordBits * kWordBits + static_cast<uint64_t>(std::bit_width(word));
    }
    last = begin;
  }
  return first;
}

void UndefinedMemory::begin_shared(uint64_t address, uint64_t size_bytes) {
  for (const uint64_t end = address + size_bytes; address < end;) {
    const uint64_t last = std::min(end, part_end(address)), base = part_begin(address);
    if (Part* const part = parts_.make(address)) part->begin_shared(address - base, last - base);
    address = last;
  }
}

bool UndefinedMemory::define_shared(uint64_t address, uint64_t size_bytes) {
  bool changes = false;
  for (const uint64_t end = address + size_bytes; address < end;) {
    const uint64_t last = std::min(end, part_end(address)), base = part_begin(address);
    Part* const part = parts_.find(address);
    if (part != nullptr && !part->is_defined()) {
      changes = part->define_shared(address - base, last - base) || changes;
    }
    address = last;
  }
  return changes;
}

bool UndefinedMemory::set(uint64_t address, uint64_t size_bytes, bool is_undefined) {
  bool changes = false;
  for (const uint64_t end = address + size_bytes; address < end;) {
    const uint64_t last = std::min(end, part_end(address));
    Part* const part = is_undefined ? parts_.make(address) : parts_.find(address);
    const uint64_t base = part_begin(address);
    if (part != nullptr && (is_undefined || !part->is_defined())) {
      changes = part->set(address - base, last - base, is_undefined) || changes;
    }
    address = last;
  }
  return changes;
}

uint64_t UndefinedMemory::first_undefined(uint64_t address, uint64_t size_bytes) const {
  const uint64_t begin = address, end = address + size_bytes;
  while (address < end) {
    const uint64_t last = std::min(end, part_end(address)), base = part_begin(address);
    if (const Part* const part = parts_.find(address)) {
      const uint64_t at = base + part->first_undefined(address - base, last - base);
      if (at != last) return at - begin;
    }
    address = last;
  }
  return size_bytes;
}

bool UndefinedMemory::are_defined(const uint64_t* addresses, uint32_t lanes,
                                  uint64_t size_bytes) const {
  uint64_t base = UINT64_MAX;  // of the part that the lane before was in
  const Part* part = nullptr;
  for (; lanes != 0; lanes &= lanes - 1) {
    const uint64_t address = addresses[std::countr_zero(lanes)];
    if (part_begin(address) != base) {
      base = part_begin(address);
      part = parts_.find(address);
      if (part != nullptr && part->is_defined()) part = nullptr;
    }
    const bool is_beyond = address + size_bytes > base + Part::kBytes;
    if (is_beyond && first_undefined(address, size_bytes) != size_bytes) return false;
    if (is_beyond || part == nullptr) continue;
    if (!part->holds_defined(address - base, size_bytes)) return false;
  }
  return true;
}

/// The begin of the defined memory before an address, not below `least`.
uint64_t UndefinedMemory::begin_of_defined(uint64_t address, uint64_t least) const {
  while (address > least) {
    const uint64_t base = part_begin(address - 1);
    const uint64_t first = std::max(base, least);
    if (const Part* const part = parts_.find(base)) {
      const uint64_t at = base + part->after_last_undefined(first - base, address - base);
      if (at != first) return at;
    }
    address = first;
  }
  return least;
}

AddressRange UndefinedMemory::defined_around(uint64_t address, const AddressRange& within,
                                             uint64_t most_bytes) const {
  KM_ASSERT(within.holds(address, 1), "a search for defined memory begins outside of its range");
  const uint64_t within_end = within.begin + within.size_bytes;
  const uint64_t least = address - std::min(address - within.begin, most_bytes);
  const uint64_t most = address + std::min(within_end - address, most_bytes);
  const uint64_t end = address + first_undefined(address, most - address);
  if (end == address) return {};
  const uint64_t begin = begin_of_defined(address, least);
  return {begin, end - begin};
}

void UndefinedMemory::copy(uint64_t to, uint64_t from, uint64_t size_bytes) {
  for (uint64_t done = 0; done < size_bytes;) {
    const uint64_t defined = first_undefined(from + done, size_bytes - done);
    define(to + done, defined);
    done += defined;
    uint64_t undefined = 0;
    while (done + undefined < size_bytes && first_undefined(from + done + undefined, 1) == 0) {
      ++undefined;
    }
    if (parts_.find(to + done) != nullptr) add(to + done, undefined);
    done += undefined;
  }
}

void UndefinedMemory::define_all() {
  parts_.for_each([](Part& part) { part.set(0, Part::kBytes, false); });
}

}  // namespace km::cpu
