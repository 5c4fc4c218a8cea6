// The memory of a context by address, for checked accesses and for messages.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace km::cpu {

struct AddressRange {
  uint64_t begin = 0, size_bytes = 0;

  bool is_empty() const { return size_bytes == 0; }
  bool holds(uint64_t address, uint64_t access_bytes) const {
    return access_bytes <= size_bytes && address - begin <= size_bytes - access_bytes;
  }
};

class Allocations {
 public:
  /// Managed and page-locked memory, which kernels of all contexts may access.
  static Allocations& of_all_contexts();

  void add(uint64_t address, uint64_t size_bytes);
  void remove(uint64_t address, uint64_t size_bytes);

  /// Allows kernels to access the peer's memory. The reference is weak: the peer may be destroyed.
  void add_peer(const std::shared_ptr<const Allocations>& peer);
  /// True if kernels may access the memory of a peer.
  bool has_peers() const { return !peers().empty(); }
  /// The number of the last add_peer(), for drop_peer().
  uint64_t last_peer() const;
  /// Forbids the access again, unless the peer was added after `last`.
  void drop_peer(const std::shared_ptr<const Allocations>& peer, uint64_t last);

  /// The allocation of this context, a peer or all contexts that holds all of [address, address +
  /// size_bytes); empty if there is none.
  AddressRange find(uint64_t address, uint64_t size_bytes) const;
  /// Like find(), in this context alone.
  AddressRange find_own(uint64_t address, uint64_t size_bytes) const;
  /// The place of an address relative to the nearest allocation: "4 bytes past the end of the
  /// 1024-byte allocation at 0x7f...".
  struct Located {
    std::string text;  // empty: no allocation is near
    AddressRange allocation;
  };
  Located locate(uint64_t address) const;

 private:
  struct Peer {
    std::weak_ptr<const Allocations> allocations;
    uint64_t number;
  };
  std::vector<Peer> peers() const;
  void forget_peer(const Allocations* peer, uint64_t last);

  mutable std::mutex mutex_;
  // A multimap, because ranges of host memory may be registered several times and overlap.
  std::multimap<uint64_t, uint64_t> sizes_;
  uint64_t largest_bytes_ = 0;
  std::vector<Peer> peers_;
  uint64_t last_peer_ = 0;
};

/// Addresses below this count as null pointers with an offset, because no memory lies there.
constexpr uint64_t kNullBytes = 4096;

/// The text of a located address.
std::string text_of(const Allocations::Located& located);
/// Locates an address and returns the text.
std::string place_of(uint64_t address, const Allocations& allocations);

}  // namespace km::cpu
