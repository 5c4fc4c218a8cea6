// Debug information in PTX: layouts of structures and names of parameters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace km::tools {

/// One entry of the section .debug_info (DWARF 2) with the attributes that layouts need.
struct DebugEntry {
  uint64_t tag = 0;
  std::string name;
  uint64_t type = 0;  // offset of the entry of its type; 0: none
  uint64_t size_bytes = 0;
  uint64_t encoding = 0;
  uint64_t count = 0;         // number of an array's elements
  uint64_t offset_bytes = 0;  // offset of a member
  bool has_count = false, is_bit_field = false;
  std::vector<uint64_t> children;
};

/// DWARF's numbers of the tags and encodings that are used.
enum DebugTag : uint64_t {
  kTagArray = 0x01,
  kTagClass = 0x02,
  kTagEnumeration = 0x04,
  kTagParameter = 0x05,
  kTagMember = 0x0d,
  kTagPointer = 0x0f,
  kTagReference = 0x10,
  kTagStructure = 0x13,
  kTagTypedef = 0x16,
  kTagUnion = 0x17,
  kTagInheritance = 0x1c,
  kTagSubrange = 0x21,
  kTagBase = 0x24,
  kTagConst = 0x26,
  kTagSubprogram = 0x2e,
  kTagVolatile = 0x35,
  kTagRestrict = 0x37,
};
enum DebugEncoding : uint64_t {
  kEncodingBoolean = 0x02,
  kEncodingFloat = 0x04,
  kEncodingSigned = 0x05,
  kEncodingSignedChar = 0x06,
  kEncodingUnsigned = 0x07,
  kEncodingUnsignedChar = 0x08,
};

class DebugInfo {
 public:
  /// Reads the debug information in PTX compiled with `-G`; damaged or missing sections give no
  /// entries.
  static DebugInfo read(std::string_view ptx);
  /// The entry at an offset; null if there is none.
  const DebugEntry* entry(uint64_t offset) const;
  /// The entry of a kernel by its name in the PTX; null if there is none.
  const DebugEntry* kernel(const std::string& symbol) const;

 private:
  std::map<uint64_t, DebugEntry> entries_;
  std::map<std::string, uint64_t> kernels_;
};

}  // namespace km::tools
