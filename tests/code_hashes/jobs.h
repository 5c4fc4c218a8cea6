// Objects to be made: each kernel in each instruction set, execution mode and kind of variant.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "modules.h"
#include "simt/engine.h"

namespace km::code_hashes {

/// One object, and its row in a table.
struct Job {
  std::string name;  // "kernels/atomics.cu sum avx2 a 256,1,1"
  std::shared_ptr<const simt::Program> program;
  uint32_t kernel = 0;
  simt::Variant variant;
  std::string error;  // of the module; then there is nothing to make
};

/// One of `every` objects of the modules for the machines, chosen by their names, in an order that
/// does not depend on the engine.
std::vector<Job> jobs_of(const std::vector<ModuleText>& modules, unsigned every,
                         std::span<const simt::Machine> machines);

/// The result of making an object.
struct Outcome {
  std::string hash;     // of the object's bytes, or of the message of an error: 32 digits
  std::string failure;  // of LLVM; empty if the object was made, or its kernel is not supported
};
Outcome outcome_of(const Job& job);

}  // namespace km::code_hashes
