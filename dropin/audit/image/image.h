// A library or program that the dynamic linker has mapped: its tables, in memory.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

namespace km::audit {

class Image {
 public:
  explicit Image(const link_map& object) noexcept : base_(object.l_addr), dynamic_(object.l_ld) {}

  uintptr_t base() const noexcept { return base_; }
  const ElfW(Dyn) * dynamic() const noexcept { return dynamic_; }
  /// The address in an entry, which the dynamic linker has moved unless the table is read-only.
  uintptr_t address_of(const ElfW(Dyn) & entry) const noexcept {
    const uintptr_t value = entry.d_un.d_ptr;
    return value < base_ ? value + base_ : value;
  }
  /// The table that an entry with this tag names; null if there is no such entry.
  const void* table(ElfW(Sxword) tag) const noexcept;

  /// Makes a range of bytes writable, or again what its segment is. False if it lies in no segment
  /// or the system refuses.
  bool set_writable(const void* begin, size_t size_bytes, bool is_writable) const noexcept;

 private:
  const ElfW(Phdr) * segment_of(uintptr_t address) const noexcept;

  uintptr_t base_;
  const ElfW(Dyn) * dynamic_;
};

}  // namespace km::audit
