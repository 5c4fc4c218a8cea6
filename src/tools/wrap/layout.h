// Structures of CUDA C++ as members without gaps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/wrap/dwarf.h"
#include "tools/wrap/model.h"

namespace km::tools {

/// Collects the structures that parameters use, each once.
class Layouts {
 public:
  Layouts(const DebugInfo& info, std::vector<WrapStructure>* structures)
      : info_(info), structures_(structures) {}

  /// The type that the entry at an offset describes. `cuda_name` is the name to show for it.
  WrapType type_at(uint64_t offset, const std::string& cuda_name);
  /// The type with a name that a parameter has, which takes so many bytes.
  WrapType value(uint64_t offset, const std::string& cuda_name, uint64_t size_bytes);
  /// The type with a name that a pointer points to: always a structure, so that slices of it are
  /// told apart. Enumerations are structures of one number.
  WrapType pointed_to(uint64_t offset, const std::string& cuda_name);
  /// The type that a pointer's entry points to, or the offset itself; 0: it is not known.
  uint64_t target_of(uint64_t offset) const;

 private:
  /// Skips typedefs and qualifiers.
  uint64_t plain(uint64_t offset) const;
  /// A type of which only the name is known, as one without members.
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
