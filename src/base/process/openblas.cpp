#include "base/process/openblas.h"

#include <filesystem>
#include <system_error>

#include "base/arch/constants.h"

namespace km {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFiles[] = {"libopenblas.so.0", "libopenblas.so", "libopenblasp.so.0",
                                  "libopenblasp.so"};
// Debian's pthreads variant comes first, even if /etc/alternatives selects another one; then come
// other usual folders.
constexpr const char* kFolders[] = {"/usr/lib/" KM_LIBRARY_FOLDER "/openblas-pthread",
                                    "/usr/lib/" KM_LIBRARY_FOLDER, "/usr/lib64", "/usr/local/lib",
                                    "/opt/OpenBLAS/lib"};
constexpr int kPthreads = 1;  // the result of openblas_get_parallel

Error not_usable(const std::string& path, const char* why) {
  return make_error(KM_ERROR_BLAS_UNAVAILABLE, "%s %s", path.c_str(), why);
}

}  // namespace

std::vector<std::string> openblas_candidates(const std::string& named,
                                             const std::vector<std::string>& folders) {
  std::vector<std::string> found;
  std::error_code ignored;
  const auto add_from = [&](const std::string& folder) {
    for (const char* file : kFiles) {
      std::string path = folder + "/" + file;
      if (fs::exists(path, ignored)) found.push_back(std::move(path));
    }
  };
  if (!named.empty()) {
    if (!fs::is_directory(named, ignored)) return {named};
    add_from(named);
    return found;
  }
  for (const std::string& folder : folders) add_from(folder);
  for (const char* folder : kFolders) add_from(folder);
  return found;
}

Result<Dylib> open_openblas(const std::string& path) {
  Result<Dylib> library = Dylib::open_private(path);
  if (!library) return not_usable("", library.error().message.c_str());
  const auto parallel = library->function<int (*)()>("openblas_get_parallel");
  const auto set_threads = library->function<void (*)(int)>("openblas_set_num_threads");
  if (parallel == nullptr || set_threads == nullptr) return not_usable(path, "is not OpenBLAS");
  if (parallel() != kPthreads) {
    return not_usable(path, "is not OpenBLAS's variant for POSIX threads (libopenblas0-pthread)");
  }
  set_threads(1);
  // The library's own threads are not used.
  if (const auto stop = library->function<int (*)()>("blas_thread_shutdown_")) stop();
  return library;
}

Error openblas_missing(const char* purpose, const std::string& named, const std::string& failures) {
  return make_error(
      KM_ERROR_BLAS_UNAVAILABLE,
      "OpenBLAS, which runs %s on the CPU, was not found%s%s%s. Install it with 'apt install "
      "libopenblas0-pthread' or as your system has it, or set KM_OPENBLAS to the library or to its "
      "folder",
      purpose, named.empty() ? " in the loader's folders" : " at KM_OPENBLAS=", named.c_str(),
      failures.c_str());
}

}  // namespace km
