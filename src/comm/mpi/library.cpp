#include "comm/mpi/library.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "base/env.h"
#include "base/log.h"
#include "base/process/at_exit.h"

namespace km::comm {
namespace {

/// The values of mpi_abi.h (MPI 5).
const MpiLibrary::Constants kStandard{0x101, 0x247, 0x143, -1, 4096, nullptr};
/// The values of MPICH, which Intel MPI and MVAPICH have too.
const MpiLibrary::Constants kMpich{0x44000000, 0x4c00010d, 0x54000001,
                                   -2,         3,          reinterpret_cast<void*>(1)};

constexpr const char* kOpenMpi = "libmpi.so.40";

/// The names to try, best first: what is loaded, then the launcher's own, then the standard's.
std::vector<std::string> candidates() {
  if (const auto named = env(EnvVar::KM_MPI)) return {*named};
  std::vector<std::string> names = {"libmpi_abi.so.1", "libmpi.so.12", "libmpich.so.12"};
  const bool is_open_mpi = foreign_env("OMPI_COMM_WORLD_SIZE").has_value();
  names.insert(is_open_mpi ? names.begin() : names.end(), kOpenMpi);
  std::vector<std::string> found;
  for (const std::string& path : loaded_libraries()) {
    const std::string name = path.substr(path.rfind('/') + 1);
    if (std::find(names.begin(), names.end(), name) != names.end()) found.push_back(path);
  }
  found.insert(found.end(), names.begin(), names.end());
  return found;
}

const MpiLibrary* begun_library = nullptr;

/// Programs that have not begun MPI do not end it, and launchers take that for a crash.
void finalize(int) { begun_library->end(); }

}  // namespace

Failure mpi_failure(const char* function, int code) {
  return make_failure(FailureKind::kSystem, "%s gave error %d", function, code);
}

Failure mpi_is_over() {
  return make_failure(FailureKind::kSystem, "MPI is over in this process (MPI_Finalize)");
}

Failure MpiLibrary::find_world_rank(uint32_t* out) {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const auto text = foreign_env(name);
    if (!text) continue;
    *out = static_cast<uint32_t>(std::strtoul(text->c_str(), nullptr, 10));
    return {};
  }
  const MpiLibrary* library = nullptr;
  if (Failure failure = get(&library)) return failure;
  *out = library->world_rank();
  return {};
}

bool MpiLibrary::is_usable() const {
  int is_over = 0;
  return MPI_Finalized(&is_over) == 0 && is_over == 0;
}

void MpiLibrary::end() const {
  constexpr int kMostWaits = 2000;
  for (int i = 0; i < kMostWaits && users_.load() != 0; ++i) usleep(1000);
  const std::unique_lock lock(end_mutex_);
  if (is_usable() && endless_calls_ == 0) MPI_Finalize();
}

/// The address of one of Open MPI's objects, or 0. A program that is linked with the library may
/// have its own copy of the object, which the library then uses.
MpiLibrary::Handle MpiLibrary::object(const char* name) const {
  const bool is_programs = program_symbol("MPI_Comm_rank") == library_->symbol("MPI_Comm_rank");
  void* const programs = is_programs ? program_symbol(name) : nullptr;
  return reinterpret_cast<Handle>(programs != nullptr ? programs : library_->symbol(name));
}

/// MPICH and the standard have one set of names; their handles differ.
Failure MpiLibrary::read_constants() {
  char text[8192] = {};  // the longest version text is MPICH's
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string version(text);
  about_ = version.substr(0, version.find_first_of("\n,")) + " (" + library_->path() + ")";
  std::replace(about_.begin(), about_.end(), '\t', ' ');
  const Handle world = object("ompi_mpi_comm_world");
  if (world != 0) {
    constants_ = {world, object("ompi_mpi_byte"), object("ompi_mpi_errors_return"), -1, 3, nullptr};
  } else if (library_->path().find("libmpi_abi") != std::string::npos) {
    constants_ = kStandard;
  } else if (version.find("MPICH") != std::string::npos ||
             version.find("Intel") != std::string::npos) {
    constants_ = kMpich;
  } else {
    return make_failure(FailureKind::kSystem,
                        "%s has an unknown ABI: those of MPI 5 (libmpi_abi), MPICH and Open MPI "
                        "are known",
                        about_.c_str());
  }
  return {};
}

Failure MpiLibrary::load(const std::string& path) {
  Result<Dylib> opened = Dylib::open(path);
  if (!opened) return make_failure(FailureKind::kSystem, "%s", opened.error().message.c_str());
  library_ = std::move(*opened);
  const char* missing = nullptr;
#define KM_MPI_CALL(name, ...)                                      \
  name = reinterpret_cast<decltype(name)>(library_->symbol(#name)); \
  if (name == nullptr && missing == nullptr) missing = #name;
#include "comm/mpi/functions.def"
#undef KM_MPI_CALL
  if (missing == nullptr) return read_constants();
  return make_failure(FailureKind::kSystem, "%s is not MPI: it lacks %s", path.c_str(), missing);
}

Failure MpiLibrary::begin() {
  int is_begun = 0, level = 0;
  if (const int code = MPI_Initialized(&is_begun)) return mpi_failure("MPI_Initialized", code);
  if (is_begun == 0) {
    const int code = MPI_Init_thread(nullptr, nullptr, constants_.thread_multiple, &level);
    if (code != 0) return mpi_failure("MPI_Init_thread", code);
    begun_library = this;
    if (!run_at_exit(finalize)) {
      return make_failure(FailureKind::kSystem, "no memory to end MPI with the process");
    }
  } else if (const int code = MPI_Query_thread(&level)) {
    return mpi_failure("MPI_Query_thread", code);
  }
  if (level < constants_.thread_multiple) {
    return make_failure(FailureKind::kSystem,
                        "%s runs without MPI_THREAD_MULTIPLE, which communicators need: begin it "
                        "by MPI_Init_thread",
                        about_.c_str());
  }
  int rank = 0, ranks = 0;
  // A program that has begun MPI keeps its own handler, on which its calls rely.
  if (is_begun == 0) MPI_Comm_set_errhandler(constants_.comm_world, constants_.errors_return);
  if (const int code = MPI_Comm_rank(constants_.comm_world, &rank)) {
    return mpi_failure("MPI_Comm_rank", code);
  }
  if (const int code = MPI_Comm_size(constants_.comm_world, &ranks)) {
    return mpi_failure("MPI_Comm_size", code);
  }
  world_rank_ = static_cast<uint32_t>(rank);
  world_ranks_ = static_cast<uint32_t>(ranks);
  return {};
}

Failure MpiLibrary::find(MpiLibrary* out) {
  std::string failures;
  for (const std::string& path : candidates()) {
    Failure failure = out->load(path);
    if (!failure) {
      log(LogLevel::kInfo, "comm", "MPI: %s", out->about().c_str());
      return out->begin();
    }
    failures += "; " + failure.text;
  }
  return make_failure(
      FailureKind::kSystem,
      "no MPI was found, which KM_COMM=mpi asks for%s. Install MPICH or Open MPI, or "
      "set KM_MPI to the library",
      failures.c_str());
}

Failure MpiLibrary::get(const MpiLibrary** out) {
  static auto* const library = new MpiLibrary;  // threads may use it until the process ends
  static const Failure failure = find(library);
  *out = library;
  if (failure || library->is_usable()) return failure;
  return make_failure(FailureKind::kSystem, "MPI_Finalize has ended MPI in this process");
}

}  // namespace km::comm
