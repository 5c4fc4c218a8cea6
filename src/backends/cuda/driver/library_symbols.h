// The search for NVIDIA's libraries, and their functions: cuBLAS, cuFFT, cuSPARSE, cuSOLVER and
// NCCL.
#pragma once

#include <string>

#include "backend/interface.h"
#include "backends/cuda/driver/driver.h"
#include "backends/cuda/driver/library_files.h"
#include "base/env.h"
#include "base/log.h"
#include "base/process/dylib.h"
#include "base/result.h"

namespace km::cuda {

/// A library as it is known before it is found.
struct LibraryAbout {
  const char* name;     // "cuFFT"
  const char* purpose;  // "runs transforms"
  const char* package;  // of Python, which has it too
  const char* log_area;
  EnvVar variable;  // has the library or its folder
  const char* variable_name;
  std::span<const LibraryFile> files;  // the newest first
};

/// The functions of an open library. It remembers the first one that is missing.
class LibrarySymbols {
 public:
  static Result<LibrarySymbols> open(const LibraryAbout& about, const std::string& path);

  /// The function's address; null if the library lacks it.
  void* address(const char* name);
  const std::string& path() const { return path_; }
  /// Fails if a function that was asked for is missing.
  Status require_all() const;
  Error not_usable(const std::string& why) const;
  /// The version in messages, "12.4", by the library's function for its properties. Fails if a
  /// function is missing.
  template <class GetProperty, class Property>
  Result<std::string> version(GetProperty get, Property major, Property minor) const {
    KM_TRY(require_all());
    int numbers[2] = {};
    if (static_cast<int>(get(major, &numbers[0])) != 0 ||
        static_cast<int>(get(minor, &numbers[1])) != 0) {
      return not_usable("does not report its version");
    }
    return std::to_string(numbers[0]) + "." + std::to_string(numbers[1]);
  }

 private:
  LibrarySymbols(const char* name, Dylib library, std::string path)
      : name_(name), library_(std::move(library)), path_(std::move(path)) {}

  const char* name_;
  Dylib library_;
  std::string path_, missing_;
};

/// The error of a library that was not found, with what to install. `failures` has the reasons of
/// those that were tried.
Error library_not_found(const LibraryAbout& about, const std::string& named,
                        const std::string& failures);

/// Opens the best library that works.
template <class Library>
Result<Library> find_and_load(const LibraryAbout& about) {
  const std::string named = env(about.variable).value_or("");
  std::string failures;
  for (const std::string& path :
       library_candidates(about.files, named, cuda_toolkits(), driver_version())) {
    Result<Library> loaded = Library::load(path);
    if (loaded) {
      log(LogLevel::kInfo, about.log_area, "%s %s at %s", about.name, loaded->version().c_str(),
          loaded->path().c_str());
      return loaded;
    }
    failures += "; " + loaded.error().message;
  }
  return library_not_found(about, named, failures);
}

/// The meaning of a library's status for callers.
struct LibraryMeaning {
  km_status status;
  const char* advice;
};
/// The error of a failed function, with the library's own status as native code.
Error library_failure(const char* function, const char* status_name, int status,
                      const LibraryMeaning& meaning);

}  // namespace km::cuda
