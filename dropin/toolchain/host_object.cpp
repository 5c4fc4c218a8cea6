#include "dropin/toolchain/host_object.h"

#include <ar.h>
#include <elf.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "dropin/toolchain/fat_binary.h"

namespace km::toolchain {
namespace {

constexpr uint16_t kCudaMachine = 190;
constexpr size_t kFatbinAlignment = 8;

template <class T>
bool read_at(std::string_view bytes, uint64_t offset, T* value) {
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) return false;
  std::memcpy(value, bytes.data() + offset, sizeof(T));
  return true;
}

std::string_view part(std::string_view bytes, uint64_t offset, uint64_t size_bytes) {
  if (offset > bytes.size() || size_bytes > bytes.size() - offset) return {};
  return bytes.substr(offset, size_bytes);
}

bool is_for_fatbins(std::string_view section) {
  return section == ".nv_fatbin" || section == "__nv_relfatbin";
}

/// Fat binaries that follow each other, with padding between them.
void find_in_section(std::string_view section, std::vector<std::string_view>* found) {
  for (size_t at = 0; at + kFatbinAlignment <= section.size();) {
    const std::string_view rest = section.substr(at);
    uint32_t magic = 0;
    const bool begins =
        read_at(rest, 0, &magic) && magic == kFatbinMagic && list_fatbin(rest.data(), rest.size());
    if (!begins) {
      at += kFatbinAlignment;
      continue;
    }
    const uint64_t size = fatbin_bytes(rest.data());
    found->push_back(rest.substr(0, size));
    at += (size + kFatbinAlignment - 1) / kFatbinAlignment * kFatbinAlignment;
  }
}

void find_in_object(std::string_view bytes, std::vector<std::string_view>* found) {
  Elf64_Ehdr header{};
  if (!is_host_object(bytes) || !read_at(bytes, 0, &header)) return;
  Elf64_Shdr names{};
  if (!read_at(bytes, header.e_shoff + uint64_t{header.e_shstrndx} * sizeof names, &names)) return;
  const std::string_view all_names = part(bytes, names.sh_offset, names.sh_size);
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section{};
    if (!read_at(bytes, header.e_shoff + i * sizeof section, &section)) return;
    if (section.sh_type != SHT_PROGBITS || section.sh_name >= all_names.size()) continue;
    const std::string_view rest = all_names.substr(section.sh_name);
    if (!is_for_fatbins(rest.substr(0, std::min(rest.find('\0'), rest.size())))) continue;
    find_in_section(part(bytes, section.sh_offset, section.sh_size), found);
  }
}

void find_in_archive(std::string_view bytes, std::vector<std::string_view>* found) {
  constexpr size_t kMemberAlignment = 2;
  size_t at = SARMAG;
  ar_hdr header{};
  while (read_at(bytes, at, &header)) {
    uint64_t size = 0;
    const auto read = std::from_chars(header.ar_size, header.ar_size + sizeof header.ar_size, size);
    if (read.ec != std::errc()) return;
    at += sizeof header;
    find_in_object(part(bytes, at, size), found);
    if (size > bytes.size() - at) return;
    at += (size + kMemberAlignment - 1) / kMemberAlignment * kMemberAlignment;
  }
}

}  // namespace

bool is_archive(std::string_view bytes) { return bytes.starts_with(ARMAG); }

bool is_host_object(std::string_view bytes) {
  Elf64_Ehdr header{};
  return bytes.starts_with(ELFMAG) && read_at(bytes, 0, &header) &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine != kCudaMachine;
}

std::vector<std::string_view> find_fatbins(std::string_view bytes) {
  std::vector<std::string_view> found;
  if (is_archive(bytes)) {
    find_in_archive(bytes, &found);
  } else {
    find_in_object(bytes, &found);
  }
  return found;
}

}  // namespace km::toolchain
