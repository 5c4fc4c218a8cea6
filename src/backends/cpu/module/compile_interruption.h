// A reset of the context, or the time limit, ends the loading of a module or the making of code.
#pragma once

#include <chrono>
#include <string>

#include "backends/cpu/device/context.h"
#include "base/interruption.h"

namespace km::cpu {

class CompileInterruption final : public Interruption {
 public:
  /// Begins with the work. `what` is for the message: "module 'a.ptx'".
  CompileInterruption(const Context& context, std::string what);
  Status check() const override;

 private:
  const Context& context_;
  const std::string what_;
  const uint64_t resets_;
  const std::chrono::steady_clock::time_point start_;
};

}  // namespace km::cpu
