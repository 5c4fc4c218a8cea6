// Every memory form by itself, on the engine and on the interpreter.
#pragma once

#include <cstdint>

namespace km::fuzz {

/// Checks one form in `every`, another one for each seed, and the list of refused ones; with
/// `write` it writes the list instead. Returns the number of failures, which it prints.
uint64_t check_memory_forms(uint64_t every, uint64_t seed, bool write);

}  // namespace km::fuzz
