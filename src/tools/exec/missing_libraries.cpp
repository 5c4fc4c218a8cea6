#include "tools/exec/missing_libraries.h"

#include <elf.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/cuda/nvidia_libraries.h"
#include "base/file/file.h"

namespace km::tools {
namespace {

/// The folders of a colon-separated list.
std::vector<std::string> folders_of(const std::string& list) {
  std::vector<std::string> folders;
  std::istringstream rest(list);
  for (std::string folder; std::getline(rest, folder, ':');) {
    folders.push_back(folder.empty() ? "." : folder);
  }
  return folders;
}

std::optional<std::string> find_in(const std::string& list, const std::string& name, int mode) {
  for (const std::string& folder : folders_of(list)) {
    const std::string path = folder + "/" + name;
    if (access(path.c_str(), mode) == 0) return path;
  }
  return std::nullopt;
}

std::string path_of(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* const list = std::getenv("PATH");
  return find_in(list != nullptr ? list : "", program, X_OK).value_or(program);
}

/// Bounds-checked access to a file's bytes.
class Bytes {
 public:
  explicit Bytes(const std::string& all) : all_(all) {}
  template <class T>
  bool read(uint64_t at, T* out) const {
    if (at > all_.size() || all_.size() - at < sizeof(T)) return false;
    std::memcpy(out, all_.data() + at, sizeof(T));
    return true;
  }
  std::string_view text(uint64_t at) const {
    if (at >= all_.size()) return {};
    return std::string_view(all_).substr(at, strnlen(all_.data() + at, all_.size() - at));
  }

 private:
  const std::string& all_;
};

std::vector<Elf64_Phdr> segments_of(const Bytes& bytes) {
  Elf64_Ehdr header{};
  std::vector<Elf64_Phdr> segments;
  if (!bytes.read(0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return segments;
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return segments;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!bytes.read(header.e_phoff + i * sizeof segment, &segment)) break;
    segments.push_back(segment);
  }
  return segments;
}

uint64_t file_place_of(const std::vector<Elf64_Phdr>& segments, uint64_t address) {
  for (const Elf64_Phdr& each : segments) {
    const bool is_inside = address >= each.p_vaddr && address - each.p_vaddr < each.p_filesz;
    if (each.p_type == PT_LOAD && is_inside) return each.p_offset + (address - each.p_vaddr);
  }
  return UINT64_MAX;
}

/// The names of the libraries that the file requires (DT_NEEDED).
std::vector<std::string> needed_by(const Bytes& bytes) {
  const std::vector<Elf64_Phdr> segments = segments_of(bytes);
  std::vector<uint64_t> places;
  uint64_t strings = UINT64_MAX;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    Elf64_Dyn entry{};
    for (uint64_t at = segment.p_offset; bytes.read(at, &entry); at += sizeof entry) {
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED) places.push_back(entry.d_un.d_val);
      if (entry.d_tag == DT_STRTAB) strings = file_place_of(segments, entry.d_un.d_ptr);
    }
  }
  std::vector<std::string> names;
  if (strings == UINT64_MAX) return names;
  for (const uint64_t place : places) names.emplace_back(bytes.text(strings + place));
  return names;
}

}  // namespace

std::string missing_libraries(const std::string& program, const std::string& library_path) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 30;
  const std::string path = path_of(program);
  const Result<std::string> content = read_file(path, kMostBytes);
  if (!content) return {};
  std::string files, advice;
  for (const std::string& name : needed_by(Bytes(*content))) {
    const NvidiaLibrary* const known = find_nvidia_library(name);
    if (known == nullptr || find_in(library_path, name, F_OK)) continue;
    files += (files.empty() ? "" : ", ") + name + " (" + known->name + ")";
    if (advice.find(known->advice) == std::string::npos) {
      advice += (advice.empty() ? "" : "; ") + std::string(known->advice);
    }
  }
  if (files.empty()) return {};
  return program + " needs " + files + ", which Kernelmill does not have: " + advice;
}

}  // namespace km::tools
