#include "dropin/audit/device_files/device_files.h"

#include "dropin/audit/device_files/calls.h"
#include "dropin/audit/image/symbol_table.h"

namespace km::audit {
namespace {

void put_before(const SymbolTable& table, const Overrides& overrides) {
  for (size_t i = 0; i < overrides.count; ++i) {
    const Override& each = overrides.begin[i];
    ElfW(Sym)* const symbol = table.find(each.name);
    if (symbol == nullptr) continue;
    *each.own = table.address_of(*symbol);
    static_cast<void>(table.redirect(*symbol, each.function));
  }
}

}  // namespace

void set_device_files(std::string_view folder, unsigned devices) noexcept {
  driver_files.set(folder, devices);
}

void answer_for_device_files(const Image& c_library) noexcept {
  if (!driver_files.are_there()) return;
  const SymbolTable table(c_library);
  if (!table.is_readable()) return;
  const ElfW(Sym)* const location = table.find("__errno_location");
  if (location == nullptr) return;
  own_calls.errno_location = reinterpret_cast<int* (*)()>(table.address_of(*location));
  put_before(table, path_overrides());
  put_before(table, listing_overrides());
}

}  // namespace km::audit
