// Text that may be shown on a terminal. Names of files and kernels come from outside and may hold
// anything, control sequences of terminals above all.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace km {

/// Text with escapes in place of what terminals would obey: control characters but line ends and
/// tabs ("\x1b", "\u009b" beyond ASCII), and bytes that are no UTF-8 ("\xff"). All other characters
/// stay. What is printable stays as it is, so that text may pass more than once.
std::string printable(std::string_view text);

/// printable() for a name, which is one line: line ends and tabs are escapes, too ("\n").
std::string printable_name(std::string_view name);

/// Gives printable(text) piece by piece to those who must not allocate.
class PrintablePieces {
 public:
  explicit PrintablePieces(std::string_view text) : rest_(text) {}
  /// The next piece, which is valid until the next call; empty at the end.
  std::string_view next();

 private:
  std::string_view rest_;
  char escape_[8];
};

}  // namespace km
