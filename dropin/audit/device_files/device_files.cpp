#include "dropin/audit/device_files/device_files.h"

#include "dropin/audit/device_files/calls.h"

namespace km::audit {
void set_device_files(std::string_view folder, unsigned devices) noexcept {
  driver_files.set(folder, devices);
}

void answer_for_device_files(const SymbolTable& table) noexcept {
  if (!driver_files.are_there()) return;
  const ElfW(Sym)* const location = table.find("__errno_location");
  if (location == nullptr) return;
  own_calls.errno_location = reinterpret_cast<int* (*)()>(table.address_of(*location));
  table.put_before(path_overrides());
  table.put_before(listing_overrides());
}

}  // namespace km::audit
