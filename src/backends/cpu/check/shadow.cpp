#include "backends/cpu/check/shadow.h"

namespace km::cpu {

GlobalShadow& GlobalShadow::instance() {
  // The object is never destroyed, because kernels may run while the process exits.
  static GlobalShadow& shadow = *new GlobalShadow;
  return shadow;
}

}  // namespace km::cpu
