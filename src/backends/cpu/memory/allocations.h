// The memory of a context by address: what kernels may touch, and what messages speak of.
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
  /// Managed and page-locked memory, which kernels of all contexts may touch.
  static Allocations& of_all_contexts();

  void add(uint64_t address, uint64_t size_bytes);
  void remove(uint64_t address, uint64_t size_bytes);

  /// Kernels may touch what `peer` has, too; or no longer. It is forgotten when it is gone.
  void set_peer(const std::shared_ptr<const Allocations>& peer, bool enabled);

  /// The allocation that holds all of [address, address + size_bytes), of this context, a peer or
  /// all contexts; empty: none does.
  AddressRange find(uint64_t address, uint64_t size_bytes) const;
  /// The place of `address` relative to the nearest allocation: "4 bytes past the end of the
  /// 1024-byte allocation at 0x7f...". Empty when there is none.
  std::string locate(uint64_t address) const;

 private:
  AddressRange find_own(uint64_t address, uint64_t size_bytes) const;
  std::vector<std::weak_ptr<const Allocations>> peers() const;

  mutable std::mutex mutex_;
  // Memory of the host's may be known several times over, and overlap.
  std::multimap<uint64_t, uint64_t> sizes_;
  uint64_t largest_bytes_ = 0;
  std::vector<std::weak_ptr<const Allocations>> peers_;
};

}  // namespace km::cpu
