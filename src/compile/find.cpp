#include "compile/find.h"

#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/arch/constants.h"
#include "base/env.h"
#include "base/process/dylib.h"

namespace km {
namespace {

namespace fs = std::filesystem;

/// The number of levels that are searched upwards from the library's folder for a checkout:
/// build/<preset>/stage/lib is four below it.
constexpr int kCheckoutDepth = 4;

/// The subfolders of a toolkit, a wheel or a folder of wheels that may contain the library.
constexpr std::array kLibraryFolders = {
    ".",
    "lib64",
    "lib",
    "targets/" KM_TOOLKIT_FOLDER "/lib",
    "lib/" KM_LIBRARY_FOLDER,
    "nvidia/cu[0-9]*/lib",    // wheels from CUDA 13 on
    "nvidia/cuda_nvrtc/lib",  // wheels of CUDA 11 and 12
};

constexpr std::array kLoaderNames = {
    "libnvrtc.so.13",   "libnvrtc.so.12",   "libnvrtc.so.11.2",
    "libnvrtc.so.11.1", "libnvrtc.so.11.0", "libnvrtc.so",
};

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// The paths below `root` that match `pattern`, newest version first.
std::vector<std::string> glob_below(const std::string& root, const std::string& pattern) {
  std::string escaped;
  for (const char c : root) {
    if (std::strchr("*?[\\", c) != nullptr) escaped += '\\';
    escaped += c;
  }
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob((escaped + pattern).c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  // "cu13" before "cu12", "libnvrtc.so.13" before "libnvrtc.so".
  std::sort(paths.begin(), paths.end(), [](const std::string& a, const std::string& b) {
    return strverscmp(a.c_str(), b.c_str()) > 0;
  });
  return paths;
}

/// True if only this user or root can have created the files: libraries of others, for example in
/// /tmp, are never loaded into this process.
bool is_trusted(const std::string& folder) {
  struct stat status{};
  if (stat(folder.c_str(), &status) != 0) return false;
  return status.st_uid == 0 || status.st_uid == geteuid();
}

void add_libraries_below(const std::string& root, std::vector<std::string>& out) {
  for (const char* folder : kLibraryFolders) {
    for (std::string& path : glob_below(root, std::string("/") + folder + "/libnvrtc.so*")) {
      out.push_back(std::move(path));
    }
  }
}

void add_checkout(const std::string& code_folder, std::vector<std::string>& out) {
  fs::path folder(code_folder);
  for (int level = 0; level <= kCheckoutDepth; ++level) {
    const std::string wheels = (folder / ".deps").string();
    if (exists(wheels) && is_trusted(wheels)) add_libraries_below(wheels, out);
    if (!folder.has_relative_path()) return;
    folder = folder.parent_path();
  }
}

void add_python(const std::string& prefix, std::vector<std::string>& out) {
  for (const char* packages : {"site-packages", "dist-packages"}) {
    for (const std::string& folder : glob_below(prefix, std::string("/lib/python3*/") + packages)) {
      add_libraries_below(folder, out);
    }
  }
}

void append_place(std::string& text, const std::string& place) {
  if (!text.empty()) text += ", ";
  text += place;
}

bool is_package_folder(const fs::path& folder) {
  return folder.filename() == "site-packages" || folder.filename() == "dist-packages";
}

void add_packages(const std::string& packages, NvrtcSearch& search) {
  append_place(search.looked_at, packages);
  add_libraries_below(packages, search.candidates);
}

/// Kernelmill's own wheel is in site-packages/kernelmill/lib, and the wheels that it requires are
/// in its site-packages.
void add_packages_around(const std::string& code_folder, NvrtcSearch& search) {
  const fs::path packages = fs::path(code_folder).parent_path().parent_path();
  if (is_package_folder(packages)) add_packages(packages.string(), search);
}

/// The folder of Python packages that contains the file; empty if there is none.
std::string package_folder_of(const std::string& file) {
  for (fs::path at(file); at.has_relative_path(); at = at.parent_path()) {
    if (is_package_folder(at)) return at.string();
  }
  return {};
}

NvrtcSearch search_named(const std::string& km_nvrtc) {
  NvrtcSearch search;
  search.looked_at = "KM_NVRTC=" + km_nvrtc;
  std::error_code ignored;
  if (fs::is_directory(km_nvrtc, ignored)) {
    add_libraries_below(km_nvrtc, search.candidates);
    add_python(km_nvrtc, search.candidates);
    if (search.candidates.empty()) search.looked_at += " (a folder without libnvrtc.so*)";
  } else if (exists(km_nvrtc) || km_nvrtc.find('/') == std::string::npos) {
    search.candidates.push_back(km_nvrtc);
  } else {
    search.looked_at += " (no such file)";
  }
  return search;
}

/// The virtual environment whose python is the running program, by its path; empty if there is
/// none.
std::string virtual_environment_of_program() {
  const fs::path program(program_invocation_name);
  if (!program.has_parent_path()) return {};
  const fs::path prefix = program.parent_path() / "..";
  return exists((prefix / "pyvenv.cfg").string()) ? prefix.lexically_normal().string()
                                                  : std::string();
}

void add_if_unique(std::vector<std::string>& list, const std::string& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

bool has_cuda_headers(const fs::path& folder) {
  for (const char* header : {"cuda_runtime.h", "cuda_fp16.h", "cuda/std/version"}) {
    if (exists((folder / header).string())) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> loaded_package_folders() {
  std::vector<std::string> folders;
  for (const std::string& file : loaded_libraries()) {
    const std::string folder = package_folder_of(file);
    if (!folder.empty()) add_if_unique(folders, folder);
  }
  return folders;
}

NvrtcSurroundings nvrtc_surroundings() {
  NvrtcSurroundings result;
  result.km_nvrtc = env(EnvVar::KM_NVRTC).value_or("");
  result.code_folders.push_back(folder_of_code(reinterpret_cast<const void*>(&search_nvrtc)));
  std::error_code ignored;
  add_if_unique(result.code_folders,
                fs::read_symlink("/proc/self/exe", ignored).parent_path().string());
  // A virtual environment's Python may also run without VIRTUAL_ENV, so its loaded packages are
  // searched.
  result.package_folders = loaded_package_folders();
  if (const std::string prefix = virtual_environment_of_program(); !prefix.empty()) {
    result.python_prefixes.push_back(prefix);
  }
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const auto prefix = foreign_env(name)) result.python_prefixes.push_back(*prefix);
  }
  const auto home = foreign_env("HOME");
  const auto data = foreign_env("XDG_DATA_HOME");
  if (home) result.python_prefixes.push_back(*home + "/.local");
  // `kernelmill setup` creates the folder nvrtc; users may have a virtual environment beside it.
  if (data && data->starts_with('/')) result.data_folders.push_back(*data + "/kernelmill");
  if (home) add_if_unique(result.data_folders, *home + "/.local/share/kernelmill");
  result.python_prefixes.insert(result.python_prefixes.end(), result.data_folders.begin(),
                                result.data_folders.end());
  result.python_prefixes.insert(result.python_prefixes.end(), {"/usr/local", "/usr"});
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto toolkit = foreign_env(name)) add_if_unique(result.toolkits, *toolkit);
  }
  result.toolkits.emplace_back("/usr/local/cuda");
  for (const std::string& toolkit : glob_below("/usr/local", "/cuda-*")) {
    result.toolkits.push_back(toolkit);
  }
  return result;
}

NvrtcSearch search_nvrtc(const NvrtcSurroundings& surroundings) {
  if (!surroundings.km_nvrtc.empty()) return search_named(surroundings.km_nvrtc);
  NvrtcSearch search;
  append_place(search.looked_at, "KM_NVRTC (not set)");
  for (const std::string& folder : surroundings.code_folders) {
    if (folder.empty()) continue;
    append_place(search.looked_at, folder + " and the .deps folders above it");
    add_checkout(folder, search.candidates);
    add_packages_around(folder, search);
  }
  for (const std::string& folder : surroundings.package_folders) add_packages(folder, search);
  for (const std::string& folder : surroundings.data_folders) {
    append_place(search.looked_at, folder + "/nvrtc");
    if (is_trusted(folder)) add_libraries_below(folder + "/nvrtc", search.candidates);
  }
  for (const std::string& prefix : surroundings.python_prefixes) {
    append_place(search.looked_at, prefix + "/lib/python3*");
    add_python(prefix, search.candidates);
  }
  for (const std::string& toolkit : surroundings.toolkits) {
    append_place(search.looked_at, toolkit);
    add_libraries_below(toolkit, search.candidates);
  }
  if (surroundings.use_loader_path) {
    append_place(search.looked_at, "the loader's path (libnvrtc.so.13, .12, .11.2 ...)");
    search.candidates.insert(search.candidates.end(), kLoaderNames.begin(), kLoaderNames.end());
  }
  return search;
}

std::vector<std::string> cuda_include_dirs(const std::string& library_path) {
  std::vector<std::string> dirs;
  const std::string named = env(EnvVar::KM_CUDA_INCLUDE).value_or("");
  for (size_t start = 0; start < named.size();) {
    const size_t end = std::min(named.find(':', start), named.size());
    if (end > start) add_if_unique(dirs, named.substr(start, end - start));
    start = end + 1;
  }
  std::error_code ignored;
  const fs::path folder = fs::weakly_canonical(library_path, ignored).parent_path();
  // The layouts of a wheel or toolkit, of Debian's /usr/lib/<triplet>, and of the separate wheels
  // of CUDA 11 and 12.
  for (const char* relative : {"../include", "../../include", "../../cuda_runtime/include",
                               "../../cuda_cccl/include", "../../../include"}) {
    const fs::path dir = (folder / relative).lexically_normal();
    if (!has_cuda_headers(dir)) continue;
    add_if_unique(dirs, dir.string());
    // Since CUDA 13, <cuda/std/...> is one level down.
    if (has_cuda_headers(dir / "cccl")) add_if_unique(dirs, (dir / "cccl").string());
  }
  return dirs;
}

}  // namespace km
