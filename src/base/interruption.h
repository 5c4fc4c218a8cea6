// Long work that is to end before it is done.
#pragma once

#include "base/result.h"

namespace km {

/// Asked between the steps of work that takes long: loading a module, making code of a kernel.
class Interruption {
 public:
  virtual ~Interruption() = default;
  /// The error with which the work is to end now. Called on any thread, many thousand times a
  /// second.
  virtual Status check() const = 0;
};

/// Success where nobody interrupts.
inline Status check(const Interruption* interruption) {
  return interruption != nullptr ? interruption->check() : Status();
}

}  // namespace km
