// Long work that its caller may interrupt.
#pragma once

#include "base/result.h"

namespace km {

/// Polled between the steps of long work: loading a module, generating a kernel's code.
class Interruption {
 public:
  virtual ~Interruption() = default;
  /// The error with which the work has to stop now, or success. It may be called on any thread and
  /// many thousand times per second, so it has to be cheap.
  virtual Status check() const = 0;
};

/// Success if there is nobody to interrupt (null).
inline Status check(const Interruption* interruption) {
  return interruption != nullptr ? interruption->check() : Status();
}

}  // namespace km
