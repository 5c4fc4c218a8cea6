// Bars for what takes long.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace km::tools {

/// A line on standard error, where that is a terminal, about work that takes more than two seconds:
/// a bar as long as the share that is done is known, else the time so far. It is gone afterwards,
/// and makes room for all that the process writes to the terminal meanwhile. One at a time.
class Progress {
 public:
  /// `what` is being done: "compiling scale.cu".
  explicit Progress(const std::string& what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of `all` are over.
  void set(size_t done, size_t all);

 private:
  class Line;
  std::unique_ptr<Line> line_;  // null: nobody would see it
};

}  // namespace km::tools
