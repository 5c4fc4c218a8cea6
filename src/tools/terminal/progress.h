// Progress bars for long work.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace km::tools {

/// A line on standard error, if that is a terminal, about work that takes more than two seconds: a
/// bar if the share done is known, otherwise the elapsed time. It is erased at the end, and while
/// the process writes other text to the terminal. Only one may exist at a time.
class Progress {
 public:
  /// `what` describes the work: "compiling scale.cu".
  explicit Progress(const std::string& what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Reports that `done` of `all` parts are complete. Any thread may call it.
  void set(size_t done, size_t all);

 private:
  class Line;
  std::unique_ptr<Line> line_;  // null: standard error is not a terminal
};

}  // namespace km::tools
