#include "tools/nvrtc.h"

#include <link.h>

#include <string_view>

#include "tools/kernels/source.h"
#include "tools/library.h"

namespace km::tools {
namespace {

/// Stores the path of the loaded library that is NVRTC.
int keep_nvrtc(dl_phdr_info* object, size_t, void* path) {
  const std::string_view name = object->dlpi_name;
  if (name.find("/libnvrtc.so") == std::string_view::npos) return 0;
  *static_cast<std::string*>(path) = name;
  return 1;
}

/// The release in the header of PTX that NVRTC made: "... release 13.5, V13.5.37".
std::string release_of(const std::string& ptx) {
  constexpr std::string_view kMark = ", V";
  const size_t mark = ptx.find(kMark, ptx.find("release"));
  if (mark == std::string::npos) return "unknown";
  const size_t start = mark + kMark.size();
  return ptx.substr(start, ptx.find('\n', start) - start);
}

}  // namespace

Result<NvrtcFound> find_nvrtc() {
  Program program;
  KM_TRY(check(km_program_create("", 0, "empty.cu", program.out())));
  KM_TRY(check(km_program_compile(program.get())));
  NvrtcFound found;
  found.release = release_of(program_ptx(program.get()));
  dl_iterate_phdr(keep_nvrtc, &found.path);
  return found;
}

}  // namespace km::tools
