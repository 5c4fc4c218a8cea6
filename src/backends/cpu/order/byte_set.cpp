#include "backends/cpu/order/byte_set.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"

namespace km::cpu {
namespace {

/// The bits of a word for bytes from `from` on before `to`, which count from the word's first.
uint64_t bits(uint32_t from, uint32_t to) {
  const uint64_t below = to >= ByteSet::kWordBits ? UINT64_MAX : (uint64_t{1} << to) - 1;
  return from >= ByteSet::kWordBits ? 0 : below & (UINT64_MAX << from);
}

}  // namespace

ByteSet ByteSet::of_run(uint32_t from, uint32_t to) {
  KM_ASSERT(from <= to && to <= kBytes, "a run ends beyond its page");
  ByteSet set;
  set.from_ = static_cast<uint16_t>(from);
  set.to_ = static_cast<uint16_t>(to);
  return set;
}

ByteSet ByteSet::of_words(const Words& words) {
  const auto is_used = [](uint64_t word) { return word != 0; };
  const auto first = std::find_if(words.begin(), words.end(), is_used);
  if (first == words.end()) return {};
  const auto last = std::find_if(words.rbegin(), words.rend(), is_used);
  const auto from =
      static_cast<uint32_t>((first - words.begin()) * kWordBits + std::countr_zero(*first));
  const auto to =
      static_cast<uint32_t>((words.rend() - last) * kWordBits - std::countl_zero(*last));
  ByteSet set = of_run(from, to);
  uint32_t count = 0;
  for (const uint64_t word : words) count += static_cast<uint32_t>(std::popcount(word));
  if (count != to - from) set.words_ = std::make_unique<Words>(words);
  return set;
}

ByteSet::Words ByteSet::words() const {
  if (words_ != nullptr) return *words_;
  Words all{};
  for (uint32_t i = from_ / kWordBits; i * kWordBits < to_; ++i) {
    const uint32_t begin = i * kWordBits;
    all[i] = bits(from_ > begin ? from_ - begin : 0, to_ - begin);
  }
  return all;
}

uint32_t ByteSet::count() const {
  if (words_ == nullptr) return to_ - from_;
  uint32_t sum = 0;
  for (const uint64_t word : *words_) sum += static_cast<uint32_t>(std::popcount(word));
  return sum;
}

bool ByteSet::contains(uint32_t byte) const {
  if (byte < from_ || byte >= to_) return false;
  return words_ == nullptr || ((*words_)[byte / kWordBits] >> (byte % kWordBits) & 1) != 0;
}

ByteSet ByteSet::common(const ByteSet& other) const {
  const uint32_t from = std::max(from_, other.from_), to = std::min(to_, other.to_);
  if (from >= to) return {};
  if (words_ == nullptr && other.words_ == nullptr) return of_run(from, to);
  Words both = words();
  const Words others = other.words();
  for (uint32_t i = 0; i < kWords; ++i) both[i] &= others[i];
  return of_words(both);
}

void ByteSet::remove(const ByteSet& other) {
  if (other.from_ >= to_ || from_ >= other.to_) return;
  if (other.words_ == nullptr && other.from_ <= from_ && to_ <= other.to_) {
    *this = {};
    return;
  }
  Words left = words();
  const Words others = other.words();
  for (uint32_t i = 0; i < kWords; ++i) left[i] &= ~others[i];
  *this = of_words(left);
}

void ByteSet::add(const ByteSet& other) {
  if (other.is_empty()) return;
  if (is_empty()) {
    from_ = other.from_;
    to_ = other.to_;
    if (other.words_ != nullptr) words_ = std::make_unique<Words>(*other.words_);
    return;
  }
  Words all = words();
  const Words others = other.words();
  for (uint32_t i = 0; i < kWords; ++i) all[i] |= others[i];
  *this = of_words(all);
}

}  // namespace km::cpu
