#include "core/handles.h"

#include <array>
#include <memory>

namespace km {

HandleTable& handle_table(ObjectType type) {
  // Leaked on purpose: other threads may still make calls while the process exits.
  using Tables = std::array<std::unique_ptr<HandleTable>, kObjectTypeCount>;
  static const Tables& tables = [&]() -> Tables& {
    auto created = std::make_unique<Tables>();
    for (size_t i = 0; i < kObjectTypeCount; ++i) {
      (*created)[i] = std::make_unique<HandleTable>(static_cast<ObjectType>(i),
                                                    [](Object* object) { object->handle_gone(); });
    }
    return *created.release();
  }();
  return *tables[static_cast<size_t>(type)];
}

}  // namespace km
