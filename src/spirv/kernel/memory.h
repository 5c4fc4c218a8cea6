// Accesses to memory: loads, stores, atomics, and conversions between address spaces.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "spirv/kernel/access_groups.h"
#include "spirv/kernel/shader.h"

namespace km::spirv {

class Memory {
 public:
  explicit Memory(Shader& shader);

  void lower_load(const simt::Inst& inst);
  void lower_store(const simt::Inst& inst);
  void lower_atomic(const simt::Inst& inst);
  void lower_address(const simt::Inst& inst);  // cvta, isspacep
  void lower_copy(const simt::Inst& inst);     // cp.async

  /// Bytes of local memory at a 64-bit address in the generic space, for the arguments of printf.
  V load_any_word(V generic_address);

 private:
  /// The target of an access: an address in a known space, or one that says its space.
  struct Place {
    ptx::Space space = ptx::Space::generic;
    V address = nullptr;  // 64 bits
    /// A parameter's address that a register holds, which may lead anywhere.
    bool is_computed = false;
  };
  using Access = std::function<void(const Place&)>;

  V whole_parameter_address(V address);
  V is_parameter(V address, uint32_t size_bytes);
  void check_copy(const simt::Inst& inst, V from, V to, V kept, uint32_t size_bytes);
  bool refuse_untorn(const ptx::Instruction& ptx, uint32_t bits);
  Place place_of(const simt::Inst& inst, const ptx::Operand& operand);
  /// Calls `access` for each space that the place may be in, where it is in that one, unless a
  /// check fails.
  void in_space(const simt::Inst& inst, const Place& place, uint32_t size_bytes,
                uint32_t align_bytes, const Access& access);
  void checked(const simt::Inst& inst, const Place& place, uint32_t size_bytes,
               uint32_t align_bytes, const Access& access);
  V is_allocated(V address, uint32_t size_bytes);
  V allocation_of(V address, uint32_t size_bytes);
  /// A check that stands for all accesses of a group, at the first of them.
  V is_member_allocated(const AccessGroups::Member& member, V address);
  V allocated_places(const AccessGroup& group, V first);
  V is_inside(const simt::Inst& inst, const Place& place, uint32_t size_bytes);
  bool is_known_inside(const Place& place, uint32_t size_bytes, uint32_t align_bytes) const;

  V load(const Place& place, uint32_t bits, uint32_t align_bytes, bool is_volatile);
  void store(const Place& place, V value, uint32_t align_bytes, bool is_volatile);
  bool has_words(const Place& place) const;
  Id word_pointer(const Place& place, V index);
  V load_words(const Place& place, uint32_t bits);
  void store_words(const Place& place, V value);
  void store_part(const Place& place, V value);

  // ---- Atomics.
  V atomic(const simt::Inst& inst, const Place& place, V first, V second);
  V atomic_word(const simt::Inst& inst, const Place& place, V first, V second);
  V atomic_part(const simt::Inst& inst, const Place& place, V first, V second);
  V atomic_wide_shared(const simt::Inst& inst, const Place& place, V first, V second);
  /// The content of memory after the operation.
  V updated(const simt::Inst& inst, const Place& place, V old, V first, V second);
  V exchange_loop(Id pointer, llvm::Type* type, bool is_shared, const std::function<V(V)>& update);
  V compare_exchange(Id pointer, bool is_shared, V expected, V fresh);

  Shader& s;
  llvm::IRBuilder<>& b;
  bool has_shared_pointers_ = false, has_local_pointers_ = false, has_param_pointers_ = false;
  /// Addresses on the stack of alloca have the tag of local memory wherever they are.
  const bool has_stack_;
  std::optional<AccessGroups> groups_;              // in checked code
  std::map<uint32_t, Shader::Variable> allocated_;  // a bit for each place of a group
};

}  // namespace km::spirv
