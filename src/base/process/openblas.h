// Finds and loads OpenBLAS at run time, as a separate copy that is set to one thread: callers have
// threads of their own, and the host program's OpenBLAS is not changed.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "base/log.h"
#include "base/process/dylib.h"
#include "base/result.h"

namespace km {

/// The files to try, best first. `named` is KM_OPENBLAS or empty.
std::vector<std::string> openblas_candidates(const std::string& named,
                                             const std::vector<std::string>& folders);

/// Opens a private copy of the library in the file at `path`, set to one thread.
/// KM_ERROR_BLAS_UNAVAILABLE if it is not OpenBLAS for POSIX threads.
Result<Dylib> open_openblas(const std::string& path);

/// The error if none of the candidates could be loaded. `purpose` is what the library does for the
/// caller, `failures` begins with "; " and says why each file was refused.
Error openblas_missing(const char* purpose, const std::string& named, const std::string& failures);

/// The first of the candidates that `load`, a function of a path, returns without an error.
template <class Load>
auto find_openblas(const char* purpose, Load&& load) -> decltype(load(std::string())) {
  const std::string named = env(EnvVar::KM_OPENBLAS).value_or("");
  std::string failures;
  for (const std::string& path : openblas_candidates(named, loader_folders())) {
    auto loaded = load(path);
    if (loaded) {
      log(LogLevel::kInfo, "blas", "OpenBLAS at %s", path.c_str());
      return loaded;
    }
    failures += "; " + loaded.error().message;
  }
  return openblas_missing(purpose, named, failures);
}

}  // namespace km
