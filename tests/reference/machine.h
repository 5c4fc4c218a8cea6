// The interpreter: runs a kernel of a module, thread by thread, every thread with its own PC.
// Threads wait for each other only where PTX says so: at barriers and at warp operations.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptx/ir.h"

namespace km::reference {

class Program;

/// Begins the message of Machine::run() if a thread accesses memory that is not there.
inline constexpr const char* kIllegalAddress = "an illegal address";

struct Launch {
  std::string kernel;
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  uint32_t dynamic_shared_bytes = 0;
  std::vector<uint64_t> arguments;          // raw bits, in order
  uint64_t step_limit = uint64_t{1} << 32;  // instructions of all threads together
};

class Machine {
 public:
  explicit Machine(std::shared_ptr<const ptx::Module> module);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Makes the caller's bytes global memory; they must outlive the machine. Returns the address.
  uint64_t map(uint8_t* bytes, uint64_t size_bytes);

  /// The bytes of a module variable; null where there is none of that name.
  std::vector<uint8_t>* variable(const std::string& name);

  /// Fails where a thread faults, all wait, or the limit of steps is reached.
  Status run(const Launch& launch);

 private:
  std::unique_ptr<Program> program_;
};

}  // namespace km::reference
