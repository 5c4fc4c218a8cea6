// SourcePosition, the place in the source that the text of a position names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace km {

/// The place that a position names: a line of the source, or of the PTX text if no other is known.
struct SourcePosition {
  std::string whole;  // the position without its callers
  std::string text;   // "a.cu:14"
  std::string file;   // "a.cu"
  uint64_t line = 0;  // 0: unknown
  /// The calls that a compiler has replaced by code of this line, the innermost first: "b.cu:20".
  std::vector<std::string> callers;

  /// Reads a position: "a.cu:14 (PTX line 31)", "a.ptx:31 (a.cu:14)", "a.ptx:31" or "PTX line 31 of
  /// a", of which the last has no line.
  static SourcePosition of(std::string_view position);
  /// A position with its callers, as of() reads it: "a.cu:14 (PTX line 31), inlined at b.cu:20".
  static std::string with_callers(std::string position, const std::vector<std::string>& callers);
};

}  // namespace km
