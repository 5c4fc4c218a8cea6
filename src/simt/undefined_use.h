// UndefinedUse, the meanings of the marks that code for the checker's `init` has.
#pragma once

#include <cstdint>

namespace km::simt {

/// A mark's meaning: the event that the checker is told of registers and local memory that nothing
/// has written.
enum class UndefinedUse : uint32_t {
  none = 0,
  locals = 1,   // threads begin, with local memory that is undefined
  address = 2,  // an undefined register decides which memory is accessed
  branch = 3,   // an undefined register decides a branch
  store = 4,    // an undefined register is stored
};

}  // namespace km::simt
