// One kernel on the engine and on the interpreter, memory compared byte by byte.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/session.h"
#include "kernel.h"

namespace km::fuzz {

struct Outcome {
  // Refused: by the engine, when it loads the module.
  enum class Kind { equal, different, refused, broken } kind = Kind::equal;
  // The first difference, or why it could not be compared, or the fault that both have found.
  std::string what;
};

/// What kernels read and write.
struct Memory {
  std::vector<uint8_t> input, records;
  std::vector<uint64_t> counters;

  explicit Memory(const Kernel& kernel);
  Memory(std::vector<uint8_t> in, std::vector<uint8_t> out, std::vector<uint64_t> counts)
      : input(std::move(in)), records(std::move(out)), counters(std::move(counts)) {}
  bool operator==(const Memory&) const = default;
};

/// Runs the kernels of a module as long as `goes_on` says so; an outcome each. If the engine does
/// not load them together, each is loaded by itself. `broken` is a kernel that the reference cannot
/// run: the generator's fault.
std::vector<Outcome> compare(
    const std::vector<Kernel>& kernels, const std::function<bool()>& goes_on = [] { return true; });

Outcome compare_one(const Kernel& kernel);

/// Empty when the engine loads the kernel, else why it refuses it.
std::string refusal(const Kernel& kernel);

/// Runs a module that `reproducer` wrote; `kernel` gets what its comments say.
Outcome replay(const std::string& text, Kernel& kernel);

/// The kernel's module with comments that say how to launch it.
std::string reproducer(const Kernel& kernel, const Outcome& outcome);

}  // namespace km::fuzz
