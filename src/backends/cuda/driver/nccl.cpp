#include "backends/cuda/driver/nccl.h"

#include "backends/cuda/driver/library_symbols.h"

namespace km::cuda {
namespace {

using nccl_library::Status;

const LibraryFile kFiles[] = {{"libnccl.so.2", 11}};

const LibraryAbout kAbout{
    "NCCL", "carries communicators out", "nvidia-nccl", "comm", EnvVar::KM_NCCL, "KM_NCCL", kFiles};

const char* status_name(Status status) {
  switch (status) {
    case nccl_library::kSuccess:
      return "ncclSuccess";
    case nccl_library::kUnhandledCudaError:
      return "ncclUnhandledCudaError";
    case nccl_library::kSystemError:
      return "ncclSystemError";
    case nccl_library::kInternalError:
      return "ncclInternalError";
    case nccl_library::kInvalidArgument:
      return "ncclInvalidArgument";
    case nccl_library::kInvalidUsage:
      return "ncclInvalidUsage";
    case nccl_library::kRemoteError:
      return "ncclRemoteError";
    case nccl_library::kInProgress:
      return "ncclInProgress";
  }
  return "an unknown status";
}

/// Core has checked the arguments, so a wrong one is an id that is none, several ranks on one
/// device, or a type that the release does not have.
km_status meaning_of(Status status) {
  const bool is_wrong =
      status == nccl_library::kInvalidArgument || status == nccl_library::kInvalidUsage;
  return is_wrong ? KM_ERROR_INVALID_ARGUMENT : KM_ERROR_IO;
}

/// "2.28.9" of 22809; releases before 2.9 are too old to matter.
std::string version_of(int code) {
  return std::to_string(code / 10000) + "." + std::to_string(code / 100 % 100) + "." +
         std::to_string(code % 100);
}

}  // namespace

Result<Nccl> Nccl::load(const std::string& path) {
  Result<LibrarySymbols> opened = LibrarySymbols::open(kAbout, path);
  if (!opened) return opened.error();
  LibrarySymbols& symbols = *opened;
  Nccl result;
  result.path_ = symbols.path();
#define KM_NCCL_CALL(name, ...) \
  result.name = reinterpret_cast<nccl_library::name##_type>(symbols.address(#name));
#include "cuda/nccl_functions.def"
#undef KM_NCCL_CALL
  result.ncclGetLastError =
      reinterpret_cast<nccl_library::ncclGetLastError_type>(symbols.address("ncclGetLastError"));
  KM_TRY(symbols.require_all());
  int version = 0;
  if (result.ncclGetVersion(&version) != nccl_library::kSuccess) {
    return symbols.not_usable("does not report its version");
  }
  result.version_ = version_of(version);
  return result;
}

Result<const Nccl*> Nccl::instance() {
  static const Result<Nccl> loaded = find_and_load<Nccl>(kAbout);
  if (!loaded) return loaded.error();
  return &*loaded;
}

Error nccl_error(const Nccl& library, const char* function, Status status,
                 nccl_library::Comm comm) {
  const char* const said = library.ncclGetLastError(comm);
  std::string advice = said == nullptr || *said == 0 ? "" : std::string(": ") + said;
  while (!advice.empty() && advice.back() == '\n') advice.pop_back();
  return library_failure(function, status_name(status), static_cast<int>(status),
                         {meaning_of(status), advice.c_str()});
}

}  // namespace km::cuda
