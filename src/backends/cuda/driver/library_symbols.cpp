#include "backends/cuda/driver/library_symbols.h"

namespace km::cuda {

Result<LibrarySymbols> LibrarySymbols::open(const LibraryAbout& about, const std::string& path) {
  Result<Dylib> library = Dylib::open(path);
  if (!library) {
    return make_error(KM_ERROR_BLAS_UNAVAILABLE, "%s", library.error().message.c_str());
  }
  std::string found = library->path().empty() ? path : library->path();
  return LibrarySymbols(about.name, std::move(*library), std::move(found));
}

void* LibrarySymbols::address(const char* name) {
  void* const found = library_.symbol(name);
  if (found == nullptr && missing_.empty()) missing_ = name;
  return found;
}

Status LibrarySymbols::require_all() const {
  if (missing_.empty()) return {};
  return not_usable(std::string("is not ") + name_ + ": it lacks " + missing_);
}

Error LibrarySymbols::not_usable(const std::string& why) const {
  return make_error(KM_ERROR_BLAS_UNAVAILABLE, "%s %s", path_.c_str(), why.c_str());
}

Error library_not_found(const LibraryAbout& about, const std::string& named,
                        const std::string& failures) {
  const LibraryFile* wanted = &about.files.front();
  for (const LibraryFile& file : about.files) {
    wanted = &file;
    if (file.cuda_major <= driver_version() / 1000) break;
  }
  return make_error(
      KM_ERROR_BLAS_UNAVAILABLE,
      "%s, which %s on NVIDIA GPUs, was not found%s%s%s%s%s. Install that of the CUDA toolkit for "
      "the driver's CUDA %s or older, from %d on (%s; the Python package %s has it too), or set %s "
      "to the library or to its folder",
      about.name, about.purpose, named.empty() ? " in the loader's folders" : " at ",
      named.empty() ? "" : about.variable_name, named.empty() ? "" : "=", named.c_str(),
      failures.c_str(), version_text(driver_version()).c_str(), about.files.back().cuda_major,
      wanted->name.c_str(), about.package, about.variable_name);
}

Error library_failure(const char* function, const char* status_name, int status,
                      const LibraryMeaning& meaning) {
  Error error = make_error(meaning.status, "%s gave %s (%d)%s", function, status_name, status,
                           meaning.advice);
  error.native_code = status;
  return error;
}

}  // namespace km::cuda
