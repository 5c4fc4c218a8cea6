#include "dropin/nvjitlink/nvidia_linker.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/env.h"
#include "base/log.h"
#include "base/process/dylib.h"
#include "compile/find.h"
#include "dropin/library/own_files.h"

namespace km::nvjitlink {
namespace {

namespace fs = std::filesystem;

/// The folders of wheels and toolkits that may hold the library.
constexpr const char* kFolders[] = {".", "lib64", "lib", "nvidia/cu13/lib", "nvidia/nvjitlink/lib"};
const std::string kOwnName = "libnvJitLink.so." + std::to_string(KM_JITLINK_MAJOR);

void add_below(const std::string& root, std::vector<std::string>* found) {
  for (const char* folder : kFolders) {
    for (const std::string& name :
         {kOwnName, std::string("libnvJitLink.so.13"), std::string("libnvJitLink.so.12")}) {
      std::error_code ignored;
      const fs::path path = fs::path(root) / folder / name;
      if (fs::exists(path, ignored) && !library::is_own_file(path)) found->push_back(path.string());
    }
  }
}

std::vector<std::string> candidates() {
  std::vector<std::string> found;
  if (const auto named = env(EnvVar::KM_NVJITLINK)) {
    std::error_code ignored;
    if (fs::is_directory(*named, ignored)) {
      add_below(*named, &found);
    } else {
      found.push_back(*named);
    }
    return found;
  }
  const NvrtcSurroundings surroundings = nvrtc_surroundings();
  for (const auto& roots :
       {loader_folders(), surroundings.package_folders, surroundings.toolkits}) {
    for (const std::string& root : roots) add_below(root, &found);
  }
  for (const std::string& prefix : surroundings.python_prefixes) {
    std::error_code ignored;
    for (const auto& each : fs::directory_iterator(fs::path(prefix) / "lib", ignored)) {
      add_below((each.path() / "site-packages").string(), &found);
    }
  }
  return found;
}

/// The functions of NVIDIA's library that are used.
struct NvidiaLinker {
  decltype(&::nvJitLinkCreate) create;
  decltype(&::nvJitLinkDestroy) destroy;
  decltype(&::nvJitLinkAddData) add_data;
  decltype(&::nvJitLinkComplete) complete;
  decltype(&::nvJitLinkGetLinkedPtxSize) ptx_size;
  decltype(&::nvJitLinkGetLinkedPtx) ptx;
  decltype(&::nvJitLinkGetErrorLogSize) error_size;
  decltype(&::nvJitLinkGetErrorLog) error_log;
  decltype(&::nvJitLinkGetInfoLogSize) info_size;
  decltype(&::nvJitLinkGetInfoLog) info_log;
};

std::optional<NvidiaLinker> load() {
  for (const std::string& path : candidates()) {
    const Result<Dylib> library = Dylib::open_replaced(path);
    if (!library) continue;
    NvidiaLinker linker{};
    bool is_complete = true;
    const auto find = [&](auto* function, const char* name) {
      *function =
          reinterpret_cast<std::remove_pointer_t<decltype(function)>>(library->symbol(name));
      is_complete = is_complete && *function != nullptr;
    };
    find(&linker.create, "nvJitLinkCreate");
    find(&linker.destroy, "nvJitLinkDestroy");
    find(&linker.add_data, "nvJitLinkAddData");
    find(&linker.complete, "nvJitLinkComplete");
    find(&linker.ptx_size, "nvJitLinkGetLinkedPtxSize");
    find(&linker.ptx, "nvJitLinkGetLinkedPtx");
    find(&linker.error_size, "nvJitLinkGetErrorLogSize");
    find(&linker.error_log, "nvJitLinkGetErrorLog");
    find(&linker.info_size, "nvJitLinkGetInfoLogSize");
    find(&linker.info_log, "nvJitLinkGetInfoLog");
    if (!is_complete) continue;
    log(LogLevel::kInfo, "cuda", "NVIDIA's nvJitLink at %s", path.c_str());
    return linker;
  }
  return std::nullopt;
}

const std::optional<NvidiaLinker>& nvidia_linker() {
  static const std::optional<NvidiaLinker> linker = load();
  return linker;
}

/// A text that one function measures and another one gives.
template <class Size, class Text>
std::string read_text(nvJitLinkHandle handle, Size size_of, Text text_of) {
  size_t size = 0;
  if (size_of(handle, &size) != NVJITLINK_SUCCESS || size == 0) return {};
  std::string text(size + 1, '\0');
  if (text_of(handle, text.data()) != NVJITLINK_SUCCESS) return {};
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

nvJitLinkResult link(const NvidiaLinker& linker, nvJitLinkHandle handle,
                     const std::vector<LinkTimeInput>& inputs) {
  for (const LinkTimeInput& input : inputs) {
    LIB_TRY(linker.add_data(handle, input.type, input.bytes.data(), input.bytes.size(),
                            input.name.c_str()));
  }
  return linker.complete(handle);
}

}  // namespace

bool has_nvidia_linker() { return nvidia_linker().has_value(); }

nvJitLinkResult compile_link_time_inputs(const std::vector<LinkTimeInput>& inputs,
                                         const std::vector<std::string>& options, std::string* ptx,
                                         std::string* errors, std::string* infos) {
  const std::optional<NvidiaLinker>& linker = nvidia_linker();
  if (!linker) {
    *errors += std::string(kNoNvidiaLinker) + "\n";
    return NVJITLINK_ERROR_NVVM_COMPILE;
  }
  std::vector<const char*> words;
  bool gives_ptx = false;
  for (const std::string& option : options) {
    gives_ptx = gives_ptx || option == "-ptx";
    if (option != "-r") words.push_back(option.c_str());
  }
  if (!gives_ptx) words.push_back("-ptx");
  nvJitLinkHandle handle = nullptr;
  auto result = linker->create(&handle, static_cast<uint32_t>(words.size()), words.data());
  if (result == NVJITLINK_SUCCESS) result = link(*linker, handle, inputs);
  if (handle == nullptr) return result;
  *errors += read_text(handle, linker->error_size, linker->error_log);
  *infos += read_text(handle, linker->info_size, linker->info_log);
  if (result == NVJITLINK_SUCCESS) *ptx = read_text(handle, linker->ptx_size, linker->ptx);
  linker->destroy(&handle);
  return result;
}

}  // namespace km::nvjitlink
