// Notes on source lines: the text of KM_DUMP=lines,samples as data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace km::tools {

/// Operations of one kind on a line. Those of kind `work` have no text.
struct Note {
  std::string kind, text;
  double cost = 0;
  uint32_t count = 0;
};

/// The text of a note with how many operations it is of, if several; empty for work.
std::string text_of(const Note& note);

struct NotedLine {
  std::string file;  ///< empty: the text of the PTX
  uint32_t line = 0;
  double cost = 0;
  uint32_t samples = 0;
  std::vector<Note> notes;
};

struct NotedKernel {
  std::string symbol;
  std::string mode, reason;  ///< "a", "b" or "c", and why it is not a
  uint32_t lanes = 0;
  double cost = 0;               ///< the sum of all lines, at least a little
  uint32_t samples = 0;          ///< of all lines and of the engine's functions; 0: was not run
  uint32_t engine_samples = 0;   ///< of the engine's functions that its code calls
  std::vector<NotedLine> lines;  ///< by file and line

  /// The part of the kernel's time on this line: by samples if the kernel was run, else by costs.
  double share(const NotedLine& line) const {
    return samples == 0 ? line.cost / cost : double(line.samples) / samples;
  }
};

/// The kernels that a dump of lines and samples is of. Of several variants
/// of a kernel the last one counts, since a kernel that runs is compiled again if it needs other
/// code; samples are those of all.
std::vector<NotedKernel> notes_of(const std::string& dump);

/// A sentence of advice, and the share of the line that it is about.
struct Advice {
  double share = 0;
  std::string place, text;
};

/// Advice on the lines that cost most, these first.
std::vector<Advice> advise(const NotedKernel& kernel);

/// The file that the kernel's most costly lines are of.
std::string main_file(const NotedKernel& kernel);

/// "FILE:LINE", or "PTX line LINE".
std::string place_of(const NotedLine& line);

}  // namespace km::tools
