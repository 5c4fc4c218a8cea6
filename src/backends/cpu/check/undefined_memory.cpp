#include "backends/cpu/check/undefined_memory.h"

#include <algorithm>
#include <bit>

namespace km::cpu {
namespace {

/// The bits [first, first + count) of a word.
uint64_t bits(uint64_t first, uint64_t count) {
  return (count == 64 ? UINT64_MAX : (uint64_t{1} << count) - 1) << first;
}

}  // namespace

UndefinedMemory& UndefinedMemory::instance() {
  // The object is never destroyed, because kernels may run while the process exits.
  static UndefinedMemory& memory = *new UndefinedMemory;
  return memory;
}

UndefinedMemory::Part* UndefinedMemory::find(uint64_t address) const {
  if (address >> kAddressBits != 0) return nullptr;
  Leaf* const leaf = roots_[address >> (kPartBits + kLeafBits)].load(std::memory_order_acquire);
  if (leaf == nullptr) return nullptr;
  return (*leaf)[(address >> kPartBits) & (leaf->size() - 1)].load(std::memory_order_acquire);
}

UndefinedMemory::Part* UndefinedMemory::make(uint64_t address) {
  if (Part* const part = find(address)) return part;
  if (address >> kAddressBits != 0) return nullptr;
  const std::lock_guard lock(mutex_);
  std::atomic<Leaf*>& root = roots_[address >> (kPartBits + kLeafBits)];
  if (root.load() == nullptr) root.store(leaves_.emplace_back(std::make_unique<Leaf>()).get());
  std::atomic<Part*>& place = (*root.load())[(address >> kPartBits) & (Leaf().size() - 1)];
  if (place.load() == nullptr) place.store(parts_.emplace_back(std::make_unique<Part>()).get());
  return place.load();
}

void UndefinedMemory::set(uint64_t address, uint64_t size_bytes, bool is_undefined) {
  for (const uint64_t end = address + size_bytes; address < end;) {
    const uint64_t part_end = std::min(end, (address / kPartBytes + 1) * kPartBytes);
    Part* const part = is_undefined ? make(address) : find(address);
    while (part != nullptr && address < part_end) {
      const uint64_t first = address % kWordBits;
      const uint64_t count = std::min(kWordBits - first, part_end - address);
      std::atomic<uint64_t>& word = (*part)[address % kPartBytes / kWordBits];
      if (is_undefined) {
        word.fetch_or(bits(first, count), std::memory_order_relaxed);
      } else if ((word.load(std::memory_order_relaxed) & bits(first, count)) != 0) {
        word.fetch_and(~bits(first, count), std::memory_order_relaxed);
      }
      address += count;
    }
    address = part_end;
  }
}

uint64_t UndefinedMemory::first_undefined(uint64_t address, uint64_t size_bytes) const {
  const uint64_t begin = address, end = address + size_bytes;
  while (address < end) {
    const uint64_t part_end = std::min(end, (address / kPartBytes + 1) * kPartBytes);
    const Part* const part = find(address);
    while (part != nullptr && address < part_end) {
      const uint64_t first = address % kWordBits;
      const uint64_t count = std::min(kWordBits - first, part_end - address);
      const uint64_t word =
          (*part)[address % kPartBytes / kWordBits].load(std::memory_order_relaxed) &
          bits(first, count);
      if (word != 0) return address - first + static_cast<uint64_t>(std::countr_zero(word)) - begin;
      address += count;
    }
    address = part_end;
  }
  return size_bytes;
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
    if (find(to + done) != nullptr) add(to + done, undefined);
    done += undefined;
  }
}

void UndefinedMemory::define_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& part : parts_) {
    for (std::atomic<uint64_t>& word : *part) word.store(0, std::memory_order_relaxed);
  }
}

}  // namespace km::cpu
