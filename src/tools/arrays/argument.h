// The kernel arguments of `kernelmill run`, one --arg SPEC each:
//   TYPE:V[,V...]      numbers by value, packed without gaps (i32:5, f32:1,0,0,1 for a float4)
//   in:FILE            the array in a .npy, .png or .jpg file
//   out:FILE:SHAPE     zeroed memory, written to a file afterwards ("-": printed)
//   inout:FILE[:FILE]  an array that is read, and written afterwards (back, without a second name)
//   zeros:SHAPE        zeroed memory
//   print:SHAPE        zeroed memory, printed afterwards, up to a limit
// SHAPE is TYPE[N,...], WxHxC (an image), or @K (type and shape of argument K, counted from 0).
// Each number may also be @K.count, .bytes, .width, .height, .channels or .dim0 to .dim9.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tools/arrays/array.h"

namespace km::tools {

struct Argument {
  std::string spec;  ///< the user's text, for messages
  bool is_buffer = false;
  std::vector<std::byte> scalar;  ///< the value of an argument that is not a buffer
  ElementType scalar_type = ElementType::kU8;
  Array array;                ///< the contents of a buffer before each launch
  std::string output;         ///< destination after the launches; empty: none
  bool is_shortened = false;  ///< only the first kMaxPrinted numbers are printed
};

/// The limit of numbers that "print:" prints.
constexpr uint64_t kMaxPrinted = 4096;

/// Parses the arguments, reads their input files and checks that their outputs can be written.
Result<std::vector<Argument>> parse_arguments(const std::vector<std::string>& specs);

/// Parses "X[,Y[,Z]]", each from 1 to 2^32 - 1; messages call it `what`.
Result<std::array<uint32_t, 3>> parse_dimensions(const std::string& text, const char* what);

}  // namespace km::tools
