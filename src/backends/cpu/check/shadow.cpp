#include "backends/cpu/check/shadow.h"

namespace km::cpu {

GlobalShadow& GlobalShadow::instance() {
  // The object is never destroyed, because kernels may run while the process exits.
  static GlobalShadow& shadow = *new GlobalShadow;
  return shadow;
}

GlobalShadow::Leaf* GlobalShadow::leaf_of(uint64_t address) {
  std::atomic<Leaf*>& root = roots_[address >> (kPieceBits + kLeafBits)];
  Leaf* leaf = root.load(std::memory_order_acquire);
  if (leaf != nullptr) return leaf;
  const std::lock_guard lock(mutex_);
  leaf = root.load(std::memory_order_acquire);
  if (leaf != nullptr) return leaf;
  leaf = leaves_.emplace_back(std::make_unique<Leaf>()).get();
  root.store(leaf, std::memory_order_release);
  return leaf;
}

ShadowPiece* GlobalShadow::piece_of(uint64_t address) {
  if (address >> kAddressBits != 0) return nullptr;
  Leaf& leaf = *leaf_of(address);
  std::atomic<ShadowPiece*>& place =
      leaf[(address >> kPieceBits) & ((uint64_t{1} << kLeafBits) - 1)];
  ShadowPiece* piece = place.load(std::memory_order_acquire);
  if (piece != nullptr) return piece;
  const std::lock_guard lock(mutex_);
  piece = place.load(std::memory_order_acquire);
  if (piece != nullptr) return piece;
  const uint64_t begin = address & ~(kPieceBytes - 1);
  piece = pieces_.emplace_back(std::make_unique<ShadowPiece>(begin, kPieceBytes)).get();
  place.store(piece, std::memory_order_release);
  return piece;
}

}  // namespace km::cpu
