#include "base/process/dylib.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/file/file.h"

namespace km {
namespace {

std::string real_path(const char* path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path, nullptr), std::free);
  return real ? std::string(real.get()) : std::string(path);
}

// RTLD_DEEPBIND, with which a library finds its own symbols first, or 0 under a sanitizer, whose
// runtime ends the process if the flag is set.
int own_symbols_first() {
  for (const char* runtime : {"__asan_init", "__hwasan_init", "__msan_init", "__tsan_init"}) {
    if (dlsym(RTLD_DEFAULT, runtime) != nullptr) return 0;
  }
  return RTLD_DEEPBIND;
}

Status copy_file(const std::string& path, int to) {
  KM_ASSIGN(const File from, open_file(path));
  struct stat about{};
  if (fstat(from.get(), &about) != 0) return file_error("copy", path, errno);
  const WriteSignalGuard guard;
  off_t at = 0;
  while (at < about.st_size) {
    const ssize_t count = sendfile(to, from.get(), &at, static_cast<size_t>(about.st_size - at));
    if (count <= 0) return file_error("copy", path, count == 0 ? EIO : errno);
  }
  return {};
}

/// The loader would open the path and, if it is a pipe, wait forever for its writer.
Status check_not_special(const std::string& path) {
  struct stat about{};
  if (path.find('/') == std::string::npos || stat(path.c_str(), &about) != 0) return {};
  if (S_ISREG(about.st_mode)) return {};
  return make_error(KM_ERROR_NOT_FOUND, "%s: it is %s, not a shared library", path.c_str(),
                    file_kind_name(about.st_mode));
}

Error loader_error(const std::string& path) {
  const char* const reason = dlerror();
  return make_error(KM_ERROR_NOT_FOUND, "%s: %s", path.c_str(),
                    reason != nullptr ? reason : "unknown reason");
}

/// Opens the library in a file without a path; `path` is its name in messages.
Result<void*> open_memory_file(File& file, const std::string& path) {
  // The name has the process id, because debuggers open it in their own process, where /proc/self
  // differs.
  const std::string name =
      "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file.get());
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | own_symbols_first());
  if (handle == nullptr) return loader_error(path);
  // The descriptor stays open so that its number is not reused: the loader would take another file
  // of this name for this library.
  file.release();
  return handle;
}

}  // namespace

Result<Dylib> Dylib::open_private(const std::string& path) {
  // A copy has another inode, by which the loader tells libraries apart.
  KM_ASSIGN(File copy, create_memory_file("kernelmill-private-library"));
  KM_TRY(copy_file(path, copy.get()));
  KM_ASSIGN(void* const handle, open_memory_file(copy, path));
  return Dylib(handle);
}

Result<Dylib> Dylib::open_overriding(const std::string& path,
                                     std::span<const ImportOverride> overrides) {
  KM_TRY(check_not_special(path));
  // The loader expands '$' in the name of a library that another one needs.
  if (own_symbols_first() == 0 || path.find('$') != std::string::npos) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "%s: its imports cannot be replaced", path.c_str());
  }
  KM_ASSIGN(const std::vector<char> image, image_of_overrides(path, overrides));
  KM_ASSIGN(File file, create_memory_file("kernelmill-import-overrides"));
  if (!file.write_all(image.data(), image.size())) return file_error("write", path, errno);
  KM_TRY(open_memory_file(file, path));
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (handle == nullptr) return loader_error(path);
  return Dylib(handle);
}

void* program_symbol(const char* name) { return dlsym(RTLD_DEFAULT, name); }

std::vector<std::string> loader_folders() {
  std::vector<std::string> folders;
  void* const self = dlopen(nullptr, RTLD_NOW);
  Dl_serinfo size;
  if (self == nullptr || dlinfo(self, RTLD_DI_SERINFOSIZE, &size) != 0) return folders;
  std::vector<char> buffer(size.dls_size);
  auto* const info = reinterpret_cast<Dl_serinfo*>(buffer.data());
  *info = size;
  if (dlinfo(self, RTLD_DI_SERINFO, info) != 0) return folders;
  for (unsigned i = 0; i < info->dls_cnt; ++i) folders.emplace_back(info->dls_serpath[i].dls_name);
  return folders;
}

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> files;
  const auto add = [](dl_phdr_info* library, size_t, void* out) {
    if (library->dlpi_name != nullptr && *library->dlpi_name != '\0') {
      static_cast<std::vector<std::string>*>(out)->emplace_back(library->dlpi_name);
    }
    return 0;
  };
  dl_iterate_phdr(add, &files);
  return files;
}

Result<Dylib> Dylib::open(const std::string& path) {
  KM_TRY(check_not_special(path));
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return Dylib(handle);
  const char* reason = dlerror();
  return make_error(KM_ERROR_NOT_FOUND, "%s", reason != nullptr ? reason : "unknown reason");
}

Result<Dylib> Dylib::open_replaced(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return open(path);
  // The linker compares paths by their letters, and after that files by their inodes.
  return open(path.substr(0, slash) + "/." + path.substr(slash));
}

void* Dylib::symbol(const char* name) const { return dlsym(handle_, name); }

void* symbol_of_process(const char* name) { return dlsym(RTLD_DEFAULT, name); }

namespace {

/// The loader's tables of a library's imported functions.
struct Imports {
  const ElfW(Rela) * relocations = nullptr;
  size_t size_bytes = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;

  explicit Imports(const link_map& map) {
    for (const ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry) {
      // The loader has relocated these entries to addresses.
      const auto* const place = reinterpret_cast<const char*>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_JMPREL) relocations = reinterpret_cast<const ElfW(Rela)*>(place);
      if (entry->d_tag == DT_PLTRELSZ) size_bytes = entry->d_un.d_val;
      if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(place);
      if (entry->d_tag == DT_STRTAB) names = place;
    }
  }

  /// The slot with the address of an imported function; null if it is not imported.
  void** slot_of(const char* name, const link_map& map) const {
    if (relocations == nullptr || symbols == nullptr || names == nullptr) return nullptr;
    for (size_t i = 0; i < size_bytes / sizeof *relocations; ++i) {
      const ElfW(Sym)& symbol = symbols[ELF64_R_SYM(relocations[i].r_info)];
      if (std::strcmp(names + symbol.st_name, name) != 0) continue;
      return reinterpret_cast<void**>(map.l_addr + relocations[i].r_offset);
    }
    return nullptr;
  }
};

struct Place {
  uintptr_t base, address;
  bool is_read_only;
};

/// Finds out whether the loader made a range of a library read-only after its relocation (RELRO).
int find_read_only(dl_phdr_info* object, size_t, void* argument) {
  auto* const place = static_cast<Place*>(argument);
  if (object->dlpi_addr != place->base) return 0;
  for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_GNU_RELRO && place->address - begin < header.p_memsz) {
      place->is_read_only = true;
    }
  }
  return 1;
}

}  // namespace

bool Dylib::replace_import(const char* name, void* function) const {
  link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return false;
  void** const slot = Imports(*map).slot_of(name, *map);
  if (slot == nullptr) return false;
  Place place{map->l_addr, reinterpret_cast<uintptr_t>(slot), false};
  dl_iterate_phdr(find_read_only, &place);
  const auto page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  void* const page = reinterpret_cast<void*>(place.address / page_bytes * page_bytes);
  if (place.is_read_only && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(slot, function, __ATOMIC_RELEASE);
  if (place.is_read_only) mprotect(page, page_bytes, PROT_READ);
  return true;
}

std::string Dylib::path() const {
  link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
  return map->l_name;
}

std::string file_of_code(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  return real_path(info.dli_fname);
}

std::string folder_of_code(const void* address) {
  const std::string path = file_of_code(address);
  if (path.empty()) return {};
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string(".") : path.substr(0, slash);
}

}  // namespace km
