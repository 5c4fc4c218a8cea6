#define KM_ASSERTIONS 1
#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace km {

void assertion_failed(const char* condition, const char* message, const char* file,
                      int line) noexcept {
  std::fprintf(stderr, "kernelmill: %s:%d: invariant broken: %s (%s)\n", file, line, message,
               condition);
  std::abort();  // tidy: exit: state that breaks an invariant must not reach results
}

}  // namespace km
