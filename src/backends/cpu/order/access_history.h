// AccessHistory, who has accessed each byte last.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "backends/cpu/order/queued_operation.h"

namespace km::cpu {

/// For each page the last accesses to its bytes, by origin. The caller protects it from other
/// threads.
class AccessHistory {
 public:
  /// Decides about the order of two origins.
  class Judge {
   public:
    virtual ~Judge() = default;
    /// True if all that `before` did comes before what `now` does.
    virtual bool is_ordered(const AccessOrigin& before, const AccessOrigin& now) = 0;
    /// True if `before` comes before all that is queued from now on or still runs.
    virtual bool is_over(const AccessOrigin& before) = 0;
  };

  /// Compares the accesses with those of others, and keeps them.
  std::vector<StreamConflict> add(const std::shared_ptr<const AccessOrigin>& now,
                                  std::span<PageTouches> pages, Judge& judge);
  /// Forgets memory that begins a new life.
  void forget(uint64_t address, uint64_t size_bytes);

 private:
  /// A page keeps no more accesses than this, but drops the oldest.
  static constexpr size_t kMostLayers = 64, kFewLayers = 8;
  /// The bytes of a page that one origin has accessed in one way.
  struct Layer {
    std::shared_ptr<const AccessOrigin> origin;
    Touch touch;
    ByteSet bytes;
  };
  using Layers = std::vector<Layer>;
  class Comparison;

  static void make_room(Layers& layers, Judge& judge);
  std::unordered_map<uint64_t, Layers> pages_;  // by number
};

}  // namespace km::cpu
