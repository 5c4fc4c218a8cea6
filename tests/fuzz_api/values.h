// Values for arguments: what is usual, what lies at bounds, what is wrong.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "memory.h"
#include "pool.h"

namespace km::fuzz {

/// What all threads of a round share.
struct Shared {
  explicit Shared(size_t handle_types) : handles(handle_types), lost(handle_types) {}

  std::vector<Pool> handles;  // by type
  std::vector<Pool> lost;     // those that live, but not what they belong to
  Pool addresses;
  HostMemory host;
  std::atomic<uint32_t> groups{1};
};

/// Draws the values of one call.
class Values {
 public:
  Values(Shared& shared, CallMemory& memory, uint64_t seed)
      : random(seed), shared_(&shared), memory_(&memory) {}

  /// Whether the next value is to be a wrong one.
  bool is_wrong();
  Word number(NumberClass kind, bool wrong);
  /// A number at which something ends: of types, of addresses, of pages.
  Word edge();
  Word any() { return random.next(); }
  /// A handle of the type, from the group of those drawn before if there is one.
  Word handle(size_t type, bool wrong);
  /// From now on handles of the type are this one, and belong to its group.
  void pin(size_t type, const PoolEntry& entry);
  /// A handle of this type that the call has got already is the parent of what is drawn next.
  void set_parent_type(size_t type) { parent_type_ = type; }
  Word parent() const { return parent_; }
  /// An address of device memory, with as many bytes after it as `out_size_bytes` says.
  Word address(bool wrong, uint64_t* out_size_bytes = nullptr);
  Word enumerator(const Enumeration& all, bool wrong);
  std::string text(TextClass kind, bool wrong);

  uint32_t group() const { return group_; }
  /// The next call begins, with handles of this group where there are some.
  void begin(uint32_t group) { group_ = group, parent_ = 0; }
  Shared& shared() { return *shared_; }
  CallMemory& memory() { return *memory_; }
  /// Addresses that were live once are left out.
  void set_host_addresses(bool host) { host_addresses_ = host; }
  /// How often values of this call are wrong: one in so many; 0: none.
  void set_wrong_in(unsigned count) { wrong_in_ = count; }

  Random random;

 private:
  Word wrong_handle(size_t type);

  Shared* shared_;
  CallMemory* memory_;
  unsigned wrong_in_ = 0;
  bool host_addresses_ = false;
  uint32_t group_ = 0;
  size_t parent_type_ = 0;
  Word parent_ = 0;
  std::vector<std::pair<size_t, PoolEntry>> pins_;
};

}  // namespace km::fuzz
