#include "dropin/audit/image/image.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/arch/constants.h"
#include "dropin/audit/system_call.h"

namespace km::audit {
namespace {

int protection_of(const ElfW(Phdr) & segment) {
  return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
         ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

}  // namespace

const void* Image::table(ElfW(Sxword) tag) const noexcept {
  for (const ElfW(Dyn)* entry = dynamic_; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == tag) return reinterpret_cast<const void*>(address_of(*entry));
  }
  return nullptr;
}

const ElfW(Phdr) * Image::segment_of(uintptr_t address) const noexcept {
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(base_);
  const auto* const segments = reinterpret_cast<const ElfW(Phdr)*>(base_ + header->e_phoff);
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const ElfW(Phdr)& each = segments[i];
    const uintptr_t begin = base_ + each.p_vaddr;
    if (each.p_type == PT_LOAD && address >= begin && address - begin < each.p_memsz) return &each;
  }
  return nullptr;
}

bool Image::set_writable(const void* begin, size_t size_bytes, bool is_writable) const noexcept {
  const auto address = reinterpret_cast<uintptr_t>(begin);
  const ElfW(Phdr)* const segment = segment_of(address);
  if (segment == nullptr) return false;
  const uintptr_t first = address & ~(arch::kMostPageBytes - 1);
  const int protection = protection_of(*segment);
  return km_audit_system_call(SYS_mprotect, static_cast<long>(first),
                              static_cast<long>(address + size_bytes - first),
                              is_writable ? protection | PROT_WRITE : protection) == 0;
}

}  // namespace km::audit
