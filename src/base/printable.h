// Text that is safe to show on a terminal. Names of files and kernels come from outside and may
// contain anything, including control sequences of terminals.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace km {

/// Escapes the characters that terminals would interpret: control characters except line ends and
/// tabs ("\x1b", "\u009b" beyond ASCII), and bytes that are invalid UTF-8 ("\xff"). Other
/// characters stay, so the function is idempotent.
std::string printable(std::string_view text);

/// Like printable(), for a name, which is one line: line ends and tabs are escaped too ("
/// ").
std::string printable_name(std::string_view name);

/// Like printable(), with entities in place of the characters that are special in HTML.
std::string escape_html(std::string_view text);

/// Produces printable(text) piece by piece, for callers that must not allocate.
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
