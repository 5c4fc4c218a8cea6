#include "math/lapack/lapack.h"

#include <atomic>

#include "base/assert.h"

namespace km::math {
namespace {

constexpr const char* kNames[kRoutineCount][4] = {
#define KM_LAPACK(routine, s, d, c, z) {#s, #d, #c, #z},
#include "math/lapack/lapack.def"
#undef KM_LAPACK
};

std::atomic<const LapackRoutines*> routines{nullptr};

}  // namespace

Result<LapackRoutines> find_lapack(const Dylib& library, const std::string& path) {
  LapackRoutines found{};
  for (int routine = 0; routine < kRoutineCount; ++routine) {
    for (int type = 0; type < 4; ++type) {
      const char* const name = kNames[routine][type];
      found.of[routine][type] = library.symbol(name);
      if (found.of[routine][type] != nullptr) continue;
      return make_error(KM_ERROR_BLAS_UNAVAILABLE,
                        "%s has no %s: it was built without LAPACK, or is too old. Install a newer "
                        "OpenBLAS, or set KM_OPENBLAS to one",
                        path.c_str(), name);
    }
  }
  return found;
}

void use_lapack(const LapackRoutines& found) { routines.store(&found, std::memory_order_release); }

void* lapack_routine(Routine routine, Type type) noexcept {
  const LapackRoutines* const found = routines.load(std::memory_order_acquire);
  KM_ASSERT(found != nullptr, "LAPACK was not found, or not looked for");
  return found->of[routine][static_cast<int>(type)];
}

}  // namespace km::math
