// Loads, stores and atomics in all their forms, each on memory that no other thread uses.
#pragma once

#include <string>
#include <vector>

#include "kernel.h"
#include "reference/inputs.h"

namespace km::fuzz {

/// One way to write a memory instruction; registers are named by class, %r? and so on, and the
/// address is %y3.
struct MemoryForm {
  std::string mnemonic;
  std::string text;
  std::string form;   // the row of the table
  std::string space;  // "global", "shared", "local", "const" or "" for a generic address
  bool reads_only = false;
};

/// What the list of refused ones is made of.
inline constexpr unsigned kMemorySamples = 150;
inline constexpr uint64_t kMemorySeed = 1;

/// Up to `samples` ways to write each row of the table, as the seed picks them.
std::vector<MemoryForm> memory_forms(unsigned samples, uint64_t seed);

/// The lines that bring the address of 64 bytes of the thread's own into %y3.
std::vector<std::string> address_lines(const MemoryForm& form, reference::Random& random);

/// The instruction with its address in front; `register_of` chooses a register of a class.
template <class Choose>
Statement memory_statement(const MemoryForm& form, reference::Random& random, Choose register_of) {
  Statement statement{address_lines(form, random), {}};
  std::string line = form.text;
  std::string vector;  // registers of the one that is open: all different
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '{' || line[at] == '}') vector.clear();
    if (line[at] != '?') continue;
    std::string reg = register_of(line[at - 1]);
    while (vector.find(reg) != std::string::npos) reg = register_of(line[at - 1]);
    vector += reg + " ";
    line.replace(at - 2, 3, reg);
  }
  statement.before.push_back(line);
  return statement;
}

}  // namespace km::fuzz
