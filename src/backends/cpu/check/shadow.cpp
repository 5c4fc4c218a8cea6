#include "backends/cpu/check/shadow.h"

#include "base/assert.h"

namespace km::cpu {

GlobalShadow& GlobalShadow::instance() {
  // The object is never destroyed, because kernels may run while the process exits.
  static GlobalShadow& shadow = *new GlobalShadow;
  return shadow;
}

GlobalShadow::Use::Use() {
  GlobalShadow& shadow = instance();
  const std::lock_guard lock(shadow.mutex_);
  ++shadow.uses_;
}

GlobalShadow::Use::~Use() {
  GlobalShadow& shadow = instance();
  const std::lock_guard lock(shadow.mutex_);
  KM_ASSERT(shadow.uses_ != 0, "a use of the shadow ends twice");
  if (--shadow.uses_ == 0) shadow.pieces_.clear();
}

}  // namespace km::cpu
