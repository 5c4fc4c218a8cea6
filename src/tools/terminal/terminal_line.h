// One line of the terminal that is redrawn repeatedly, beside other output.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace km::tools {

/// Owns the terminal behind standard error. While the object exists, everything that the process
/// writes to the terminal by standard error or output passes through a pipe: forward() erases the
/// line before it passes that text on. A signal that ends or stops the process erases the line too.
/// Only one may exist at a time. One thread calls its functions, and must not hold a lock that
/// writers wait for.
class TerminalLine {
 public:
  /// Null if standard error is not a terminal that can erase a line, or if no pipe can be made.
  static std::unique_ptr<TerminalLine> open();
  /// Restores standard error and output, and erases the line.
  ~TerminalLine();
  TerminalLine(const TerminalLine&) = delete;
  TerminalLine& operator=(const TerminalLine&) = delete;

  /// A descriptor that can be polled for text to forward.
  int reader() const { return reader_; }
  /// The width of the terminal in characters.
  size_t columns() const;
  /// Passes on the text that has been written so far.
  void forward();
  /// Draws `text`, unless other output has an unfinished line, which it would overwrite.
  void draw(std::string_view text);

 private:
  TerminalLine(int terminal, int reader) : terminal_(terminal), reader_(reader) {}

  const int terminal_, reader_;
  bool is_within_text_ = false;  // other output has an unfinished line
};

}  // namespace km::tools
