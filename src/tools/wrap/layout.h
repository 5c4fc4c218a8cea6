// CUDA C++ structures as lists of members without gaps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/wrap/dwarf.h"
#include "tools/wrap/model.h"

namespace km::tools {

/// Collects the structures that parameters use, each one once.
class Layouts {
 public:
  Layouts(const DebugInfo& info, std::vector<WrapStructure>* structures)
      : info_(info), structures_(structures) {}

  /// The type of the entry at an offset; `cuda_name` is its name for display.
  WrapType type_at(uint64_t offset, const std::string& cuda_name);
  /// The named type of a parameter with this size.
  WrapType value(uint64_t offset, const std::string& cuda_name, uint64_t size_bytes);
  /// The named target type of a pointer, always a structure so that its slices are distinct.
  /// Enumerations become structures of one number.
  WrapType pointed_to(uint64_t offset, const std::string& cuda_name);
  /// The target type's offset of a pointer's entry; for other entries the offset itself; 0 if
  /// unknown.
  uint64_t target_of(uint64_t offset) const;

 private:
  /// The offset without typedefs and qualifiers.
  uint64_t plain(uint64_t offset) const;
  /// A type without members, for one whose name only is known.
  WrapType named(const std::string& cuda_name, uint64_t size_bytes);
  WrapType enumeration(const std::string& cuda_name, const WrapType& number);
  WrapType base_type(const DebugEntry& entry) const;
  WrapType structure(uint64_t offset, const DebugEntry& entry, const std::string& cuda_name);
  bool read_members(const DebugEntry& entry, WrapStructure* structure);
  bool read_member(const DebugEntry& entry, WrapMember* member);
  std::string unused_name(const std::string& cuda_name) const;

  const DebugInfo& info_;
  std::vector<WrapStructure>* structures_;
  std::map<uint64_t, size_t> known_;  // by the entry's offset
  std::map<std::string, size_t> known_names_;
};

}  // namespace km::tools
