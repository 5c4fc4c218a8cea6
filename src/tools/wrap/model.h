// The kernels of a file as wrappers need them: names, types, structures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernelmill/c_api.h"

namespace km::tools {

/// A type of a value, an element or a member.
struct WrapType {
  enum class Kind {
    bytes,      // nothing more is known
    scalar,     // `scalar`, of which `lanes` make a vector
    structure,  // structures[structure]
    address,    // a pointer in a structure, or an array of them
    any,        // elements of any type: void
  };
  Kind kind = Kind::bytes;
  km_element_type scalar = KM_ELEMENT_TYPE_UNKNOWN;
  uint32_t lanes = 1;
  size_t structure = 0;
  uint64_t size_bytes = 0;  // of one; 0: not known
};

struct WrapMember {
  std::string name;
  WrapType type;
  uint64_t offset_bytes = 0;
  std::vector<uint64_t> counts;  // of an array, the outermost first

  uint64_t size_bytes() const {
    uint64_t size = type.size_bytes;
    for (const uint64_t count : counts) size *= count;
    return size;
  }
};

/// A structure that kernels take by value or by address, with its gaps as members of bytes.
struct WrapStructure {
  std::string cuda_name;    // "ns::Point<int>"
  std::string name;         // "ns_Point_int"
  uint64_t size_bytes = 0;  // 0: only its name is known
  uint64_t align_bytes = 1;
  /// The name that signatures have for it, for slices; empty: no parameter points to it.
  std::string signature_name;
  std::vector<WrapMember> members;  // by offset, without gaps between them
};

struct WrapParam {
  std::string name;
  bool is_pointer = false;
  bool is_const = false;
  WrapType type;
  uint64_t size_bytes = 0, offset_bytes = 0;
  std::string cuda_text;  // "const float*"
};

struct WrapKernel {
  std::string symbol;  // in the PTX
  std::string name;    // of the function
  std::string cuda_name;
  std::vector<WrapParam> params;
};

struct Wrapper {
  std::string module;   // a name made of the file's
  std::string command;  // how it is made, for the comment at the top
  std::string ptx;
  std::string object;  // for the CPU; empty: not asked for
  std::vector<WrapStructure> structures;
  std::vector<WrapKernel> kernels;
};

}  // namespace km::tools
