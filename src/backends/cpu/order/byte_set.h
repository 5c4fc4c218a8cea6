// ByteSet, some of the bytes of a page of memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace km::cpu {

/// Bytes of a page, which are a run in most cases and a bitmap in others.
class ByteSet {
 public:
  static constexpr uint32_t kBytes = 4096, kWordBits = 64, kWords = kBytes / kWordBits;
  using Words = std::array<uint64_t, kWords>;

  ByteSet() = default;
  /// All bytes from `from` on before `to`.
  static ByteSet of_run(uint32_t from, uint32_t to);
  /// The bytes whose bits are set.
  static ByteSet of_words(const Words& words);

  bool is_empty() const { return from_ == to_; }
  /// The lowest byte of a set that is not empty.
  uint32_t first() const { return from_; }
  uint32_t count() const;
  bool contains(uint32_t byte) const;

  /// The bytes that are in both.
  ByteSet common(const ByteSet& other) const;
  void remove(const ByteSet& other);
  void add(const ByteSet& other);

 private:
  Words words() const;

  uint16_t from_ = 0, to_ = 0;    // all bytes lie in [from_, to_)
  std::unique_ptr<Words> words_;  // null: all of these bytes
};

}  // namespace km::cpu
