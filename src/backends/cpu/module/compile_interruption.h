// Stops the loading of a module or the compilation of its code when the context is reset or the
// time limit passes.
#pragma once

#include <chrono>
#include <string>

#include "backends/cpu/device/context.h"
#include "base/interruption.h"

namespace km::cpu {

class CompileInterruption final : public Interruption {
 public:
  /// Starts the time limit. `what` names the work in messages: "module 'a.ptx'".
  CompileInterruption(const Context& context, std::string what);
  Status check() const override;

 private:
  const Context& context_;
  const std::string what_;
  const uint64_t resets_;
  const std::chrono::steady_clock::time_point start_;
};

}  // namespace km::cpu
