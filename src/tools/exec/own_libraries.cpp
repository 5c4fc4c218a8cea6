#include "tools/exec/own_libraries.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "base/process/dylib.h"
#include "km_version.h"
#include "tools/error.h"

namespace km::tools {
namespace {

namespace fs = std::filesystem;

const std::string kCommands = "bin/";
constexpr const char* kVersionFolders[] = {"", "13/", "12/"};

/// "libcublas.so.13" is one; "libcublas.so" is a second name that only linkers use.
bool is_library(const std::string& name) {
  const size_t version = name.find(".so.");
  return name.starts_with("lib") && version != std::string::npos;
}

std::string stem_of(const std::string& file) {
  const size_t begin = file.rfind('/') + 1;
  return file.substr(begin, file.find(".so") - begin);
}

/// The folder that KM_NVRTC selects, directly or by a file in it; empty if it is unset.
std::string nvrtc_folder() {
  const char* const named = std::getenv("KM_NVRTC");
  if (named == nullptr || *named == '\0') return {};
  std::error_code none;
  const fs::path path(named);
  return fs::is_directory(path, none) ? path.string() : path.parent_path().string();
}

}  // namespace

OwnLibraries OwnLibraries::find() {
  OwnLibraries found;
  found.folder_ = folder_of_code(reinterpret_cast<const void*>(&km_version)) +
                  "/kernelmill-" KM_VERSION_STRING "/cuda";
  for (const std::string version : kVersionFolders) {
    std::vector<std::string> files;
    std::error_code none;
    for (const auto& each : fs::directory_iterator(found.folder_ + "/" + version, none)) {
      const std::string name = each.path().filename().string();
      if (is_library(name)) files.push_back(version + name);
    }
    std::sort(files.begin(), files.end());
    found.files_.insert(found.files_.end(), files.begin(), files.end());
  }
  std::error_code none;
  for (const auto& each : fs::directory_iterator(found.command_folder(), none)) {
    found.files_.push_back(kCommands + each.path().filename().string());
  }
  return found;
}

Status OwnLibraries::leave_alone(const std::string& name) {
  const std::string wanted = name.starts_with("lib") ? name : "lib" + name;
  const auto is_meant = [&](const std::string& file) {
    if (file.starts_with(kCommands)) return file == kCommands + name;
    return stem_of(file) == stem_of(wanted) &&
           (!is_library(wanted) || file.substr(file.rfind('/') + 1) == wanted);
  };
  const size_t before = files_.size();
  std::vector<std::string> rest;
  std::remove_copy_if(files_.begin(), files_.end(), std::back_inserter(rest), is_meant);
  if (rest.size() == before) {
    return usage_error("--no-replace is '" + name + "', which exec does not replace; give " +
                       names());
  }
  files_ = rest;
  return {};
}

bool OwnLibraries::have_driver() const {
  return std::find(files_.begin(), files_.end(), "libcuda.so.1") != files_.end();
}

std::string OwnLibraries::names() const {
  std::vector<std::string> stems;
  for (const std::string& file : files_) {
    const bool is_command = file.starts_with(kCommands);
    const std::string stem = is_command ? file.substr(kCommands.size()) : stem_of(file).substr(3);
    if (std::find(stems.begin(), stems.end(), stem) == stems.end()) stems.push_back(stem);
  }
  std::string text;
  for (size_t i = 0; i < stems.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == stems.size() ? " or " : ", ") + stems[i];
  }
  return text;
}

std::string OwnLibraries::library_path() const {
  std::string path = folder_ + ":" + folder_ + "/13:" + folder_ + "/12";
  if (const std::string nvrtc = nvrtc_folder(); !nvrtc.empty()) path += ":" + nvrtc;
  const char* const before = std::getenv("LD_LIBRARY_PATH");
  if (before != nullptr && *before != '\0') path += std::string(":") + before;
  return path;
}

std::string OwnLibraries::setting() const {
  std::string text = folder_;
  for (const std::string& file : files_) text += ":" + file;
  return text;
}

}  // namespace km::tools
