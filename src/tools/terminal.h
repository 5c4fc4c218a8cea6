// Colour on terminals, and bars for what takes long.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace km::tools {

enum class Colour { bold, red, green, yellow, dim };

/// True if `stream` is a terminal that shows colours, unless NO_COLOR is set.
bool has_colours(FILE* stream);
/// The text in a colour when `stream` has colours, else the text alone.
std::string painted(Colour colour, const std::string& text, FILE* stream);

/// A line on standard error, where that is a terminal, about work that takes more than two seconds:
/// a bar as long as the share that is done is known, else the time so far. It is gone afterwards.
class Progress {
 public:
  /// `what` is being done: "compiling scale.cu".
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of `all` are over.
  void set(size_t done, size_t all);
  /// True if a line may be drawn: what else goes to the terminal is to go through print().
  bool is_visible() const { return line_ != nullptr; }
  /// Writes to standard output what belongs to the work; the line makes room for it.
  void print(std::string_view text);

 private:
  class Line;
  std::unique_ptr<Line> line_;  // null: nobody would see it
};

}  // namespace km::tools
