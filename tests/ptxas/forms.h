// Example instructions of all rows of instructions.def, with the names of context.py.
#pragma once

#include <iosfwd>

namespace km::ptx::test {

/// Prints examples of each form, a line each: one for each word that the form takes, with and
/// without what may be left out.
void print_forms(std::ostream& out);

}  // namespace km::ptx::test
