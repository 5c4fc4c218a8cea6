#include "backends/cpu/blas/openblas.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <system_error>

#include "base/arch/constants.h"
#include "base/env.h"
#include "base/log.h"
#include "base/process/dylib.h"

namespace km::cpu {
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
// OpenBLAS has at least 50 buffers, and ends the process if it runs out of them.
constexpr uint32_t kMostAbandoned = 32;
std::atomic<uint32_t> abandoned{0};

struct RoutineNames {
  const char* of_type[4];
};
constexpr RoutineNames kNames[] = {
#define KMB_BLAS(routine, s, d, c, z, cublas_s, cublas_d, cublas_c, cublas_z) \
  {{"cblas_" #s, "cblas_" #d, "cblas_" #c, "cblas_" #z}},
#include "backend/blas.def"
#undef KMB_BLAS
};

Error not_usable(const std::string& path, const char* why) {
  return make_error(KM_ERROR_BLAS_UNAVAILABLE, "%s %s", path.c_str(), why);
}

Result<OpenBlas> find_and_load() {
  const std::string named = env(EnvVar::KM_OPENBLAS).value_or("");
  std::string failures;
  for (const std::string& path : openblas_candidates(named, loader_folders())) {
    Result<OpenBlas> loaded = OpenBlas::load(path);
    if (loaded) {
      log(LogLevel::kInfo, "blas", "OpenBLAS at %s", path.c_str());
      return loaded;
    }
    failures += "; " + loaded.error().message;
  }
  return make_error(
      KM_ERROR_BLAS_UNAVAILABLE,
      "OpenBLAS, which runs BLAS on the CPU, was not found%s%s%s. Install it with 'apt install "
      "libopenblas0-pthread' or as your system has it, or set KM_OPENBLAS to the library or to its "
      "folder. Matrix products of f16 and bf16 run without it",
      named.empty() ? " in the loader's folders" : " at KM_OPENBLAS=", named.c_str(),
      failures.c_str());
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

Result<OpenBlas> OpenBlas::load(const std::string& path) {
  Result<Dylib> library = Dylib::open_private(path);
  if (!library) return not_usable("", library.error().message.c_str());
  const auto parallel = library->function<int (*)()>("openblas_get_parallel");
  const auto set_threads = library->function<void (*)(int)>("openblas_set_num_threads");
  if (parallel == nullptr || set_threads == nullptr) return not_usable(path, "is not OpenBLAS");
  if (parallel() != kPthreads) {
    return not_usable(path, "is not OpenBLAS's variant for POSIX threads (libopenblas0-pthread)");
  }
  OpenBlas result;
  result.path_ = path;
  for (size_t routine = 0; routine < KMB_BLAS_ROUTINE_COUNT; ++routine) {
    for (int type = 0; type < 4; ++type) {
      result.functions_[routine][type] = library->symbol(kNames[routine].of_type[type]);
    }
  }
  // OpenBLAS up to 0.3.13 has no csrot and zdrot; the call rotates real and imaginary parts
  // instead.
  void** const rotations = result.functions_[KMB_BLAS_ROT];
  std::copy_n(rotations, 2, rotations + 2);
  set_threads(1);
  // The library's own threads are not used.
  if (const auto stop = library->function<int (*)()>("blas_thread_shutdown_")) stop();
  return result;
}

Status OpenBlas::check(kmb_blas_routine routine, km_data_type type) const {
  if (function(routine, type) != nullptr) return {};
  return make_error(KM_ERROR_BLAS_UNAVAILABLE,
                    "%s has no %s, which this call runs on the CPU. Install a newer OpenBLAS, or "
                    "set KM_OPENBLAS to one",
                    path_.c_str(), kNames[routine].of_type[type - KM_DATA_TYPE_F32]);
}

Result<const OpenBlas*> OpenBlas::instance() {
  static const Result<OpenBlas> loaded = find_and_load();
  if (!loaded) return loaded.error();
  if (abandoned.load(std::memory_order_relaxed) >= kMostAbandoned) {
    return make_error(
        KM_ERROR_BLAS_UNAVAILABLE,
        "%u calls of OpenBLAS ended at illegal addresses in this process, which costs "
        "a buffer of the library each; start a new process",
        kMostAbandoned);
  }
  return &*loaded;
}

void OpenBlas::abandon() { abandoned.fetch_add(1, std::memory_order_relaxed); }

}  // namespace km::cpu
