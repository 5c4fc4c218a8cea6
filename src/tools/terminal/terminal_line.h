// One line of the terminal that is drawn again and again, beside the text of others.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace km::tools {

/// The terminal behind standard error. As long as the object lives, whatever the process writes to
/// it, by standard error and by standard output, comes through a pipe: forward() erases the line
/// before it passes that text on. A signal that ends or stops the process erases the line too.
/// One object at a time. Its functions are called by one thread, which may not hold anything that
/// those who write wait for.
class TerminalLine {
 public:
  /// Null if standard error is no terminal that can erase a line, or if no pipe can be made.
  static std::unique_ptr<TerminalLine> open();
  /// Standard error and output lead to the terminal again, and the line is gone.
  ~TerminalLine();
  TerminalLine(const TerminalLine&) = delete;
  TerminalLine& operator=(const TerminalLine&) = delete;

  /// Can be polled for text to forward.
  int reader() const { return reader_; }
  /// The characters that a line has.
  size_t columns() const;
  /// Passes on the text that is there.
  void forward();
  /// Draws `text`, unless a line of others has begun and not ended: it would hide that.
  void draw(std::string_view text);

 private:
  TerminalLine(int terminal, int reader) : terminal_(terminal), reader_(reader) {}

  const int terminal_, reader_;
  bool is_within_text_ = false;  // a line of others has not ended
};

}  // namespace km::tools
