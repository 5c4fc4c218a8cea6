// A generated kernel as a tree of statements, so that parts of it can be taken out.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace km::fuzz {

/// Lines of PTX around up to several bodies. `$` in a line stands for a number that no other
/// statement has, so that labels and registers of its own stay apart.
struct Statement {
  std::vector<std::string> before;
  struct Body {
    std::vector<Statement> statements;
    std::vector<std::string> after;  // lines that follow this body
  };
  std::vector<Body> bodies;
};

/// Everything that a launch needs but the memory's content.
struct Kernel {
  std::string name;
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::array<uint32_t, 2> uniforms{};  // parameters
  std::vector<Statement> statements;
  std::vector<std::string> stored;  // registers written out at the end
  bool in_rows = false;             // a register of all threads together, else all of a thread
  unsigned masks = 0;               // registers %m and %n that statements use
  uint64_t input_seed = 0;
  std::array<uint32_t, 2> missing_bytes{};  // at the ends of the input and of the records

  uint32_t threads() const { return block[0] * block[1] * block[2]; }
  uint64_t all_threads() const { return uint64_t{threads()} * grid[0] * grid[1] * grid[2]; }
};

// Sizes of the memory that kernels use. A thread's results and 64 bytes for it to play with are a
// record each; in rows, all results come first.
inline constexpr uint32_t kInputBytes = 4096, kRecordBytes = 512, kScratchBytes = 64,
                          kScratchOffset = 320;
/// Two for each of twelve operations, in 8 bytes each: see Generator::reduction.
inline constexpr uint32_t kCounters = 24;
/// Places behind the counters, in 8 bytes each: see Generator::mark.
inline constexpr uint32_t kMarks = 32;

/// The registers that statements compute with, per class: %r0 ... and so on.
inline constexpr unsigned kWords = 8, kLongs = 4, kHalves = 8, kFloats = 8, kDoubles = 4,
                          kPredicates = 4;

/// The size of a register, a predicate stored as a word.
unsigned bytes_of(const std::string& reg);

/// The newest target of the device under test; only CPU devices can be of a chosen capability.
const char* device_target();
/// Sets the target, before the first kernel is made, for devices that do not have sm_100a.
void set_device_target(const char* target);

/// The first lines of a module for that target.
std::string module_header();
/// A module with these kernels and the functions that they call.
std::string module_text(const std::vector<Kernel>& kernels);

/// How many statements there are, inner ones included.
size_t count_statements(const std::vector<Statement>& statements);

/// The registers that statements write.
std::set<std::string> written_registers(const std::vector<Statement>& statements);

}  // namespace km::fuzz
