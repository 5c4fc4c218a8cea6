#include "dropin/cuda/graph/user_object.h"

#include "base/assert.h"

namespace km::dropin {

bool UserObject::release(uint64_t count) {
  uint64_t before = count_.load();
  do {
    if (before < count) return false;
  } while (!count_.compare_exchange_weak(before, before - count));
  if (before != count) return true;
  const Ref<UserObject> kept = Ref<UserObject>::share(*this);
  retire<UserObject>(handle_of(*this));
  call_contained([this] { destroy_(pointer_); });
  return true;
}

UserReferences::~UserReferences() {
  for (const auto& [object, count] : counts_) {
    object->release(count);
    object->unref();
  }
}

void UserReferences::add(UserObject& object, uint64_t count) {
  const auto [known, is_new] = counts_.try_emplace(&object, 0);
  if (is_new) object.ref();
  KM_ASSERT(count != 0, "a graph has references or none");
  known->second += count;
}

void UserReferences::add_all_of(const UserReferences& other) {
  for (const auto& [object, count] : other.counts_) {
    add(*object, count);
    object->retain(count);
  }
}

bool UserReferences::take(UserObject& object, uint64_t count) {
  const auto known = counts_.find(&object);
  if (known == counts_.end() || known->second < count) return false;
  KM_ASSERT(known->second != 0, "an object without references is forgotten");
  known->second -= count;
  if (known->second != 0) return true;
  counts_.erase(known);
  object.unref();  // the caller has another
  return true;
}

}  // namespace km::dropin
