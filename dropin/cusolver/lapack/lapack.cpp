#include "dropin/cusolver/lapack/lapack.h"

#include "base/process/openblas.h"

namespace km::cusolver {

namespace {

struct Library {
  void* routines[kRoutineCount][4];
};

constexpr const char* kNames[kRoutineCount][4] = {
#define KM_LAPACK(routine, s, d, c, z) {#s, #d, #c, #z},
#include "dropin/cusolver/lapack/lapack.def"
#undef KM_LAPACK
};

Result<Library> load(const std::string& path) {
  const Result<Dylib> opened = open_openblas(path);
  if (!opened) return opened.error();
  Library library{};
  for (int routine = 0; routine < kRoutineCount; ++routine) {
    for (int type = 0; type < 4; ++type) {
      const char* const name = kNames[routine][type];
      library.routines[routine][type] = opened->symbol(name);
      if (library.routines[routine][type] != nullptr) continue;
      return make_error(KM_ERROR_BLAS_UNAVAILABLE,
                        "%s has no %s: it was built without LAPACK, or is too old", path.c_str(),
                        name);
    }
  }
  return library;
}

const Result<Library>& instance() {
  static const Result<Library> loaded =
      find_openblas("LAPACK, which cuSOLVER's routines need,", load);
  return loaded;
}

}  // namespace

cusolverStatus_t require_lapack() {
  const Result<Library>& found = instance();
  if (found) return CUSOLVER_STATUS_SUCCESS;
  return frame::fail(CUSOLVER_STATUS_NOT_INITIALIZED, "%s", found.error().message.c_str());
}

void* lapack_routine(Routine routine, Type type) noexcept {
  return instance()->routines[routine][static_cast<int>(type)];
}

}  // namespace km::cusolver
