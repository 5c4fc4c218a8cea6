// The description of a file's kernels for the wrappers: names, types, structures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernelmill/c_api.h"

namespace km::tools {

/// The type of a value, element or member.
struct WrapType {
  enum class Kind {
    bytes,      // bytes of an unknown type
    scalar,     // `lanes` of `scalar`, a vector if there are several
    structure,  // structures[structure]
    address,    // a pointer in a structure, or an array of pointers
    any,        // elements of any type: void
  };
  Kind kind = Kind::bytes;
  km_element_type scalar = KM_ELEMENT_TYPE_UNKNOWN;
  uint32_t lanes = 1;
  size_t structure = 0;
  uint64_t size_bytes = 0;  // size of one element; 0: unknown
};

struct WrapMember {
  std::string name;
  WrapType type;
  uint64_t offset_bytes = 0;
  std::vector<uint64_t> counts;  // extents of an array, the outermost first

  uint64_t size_bytes() const {
    uint64_t size = type.size_bytes;
    for (const uint64_t count : counts) size *= count;
    return size;
  }
};

/// A structure that kernels take by value or by address; its gaps are members of bytes.
struct WrapStructure {
  std::string cuda_name;    // "ns::Point<int>"
  std::string name;         // "ns_Point_int"
  uint64_t size_bytes = 0;  // 0: only the name is known
  uint64_t align_bytes = 1;
  /// Its name in signatures, for slices; empty: no parameter points to it.
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
  std::string symbol;  // name in the PTX
  std::string name;    // name of the function
  std::string cuda_name;
  std::vector<WrapParam> params;
};

struct Wrapper {
  std::string module;   // derived from the file's name
  std::string command;  // the command line, for the comment at the top
  std::string ptx;
  std::string object;  // object code for the CPU; empty: not requested
  std::vector<WrapStructure> structures;
  std::vector<WrapKernel> kernels;
};

}  // namespace km::tools
