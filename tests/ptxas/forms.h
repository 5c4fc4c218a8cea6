// Example instructions of all rows of instructions.def and near them, with the names of context.py.
#pragma once

#include <iosfwd>

namespace km::ptx::test {

/// Prints examples of each form, a line each: one for each word that the form takes, with and
/// without what may be left out.
void print_forms(std::ostream& out);

/// Prints an example of each form with each word that it takes, and nothing that may be left out.
void print_samples(std::ostream& out);

/// Prints instructions near those of the table: other types, a modifier more or less.
void print_neighbours(std::ostream& out);

}  // namespace km::ptx::test
