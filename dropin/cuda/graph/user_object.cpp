#include "dropin/cuda/graph/user_object.h"

#include <mutex>

#include "base/assert.h"

namespace km::dropin {

void UserObject::retain(uint64_t count) {
  const std::lock_guard lock(lock_);
  of_program_ += count;
}

bool UserObject::release(uint64_t count) {
  {
    const std::lock_guard lock(lock_);
    if (of_program_ < count) return false;
    of_program_ -= count;
    if (of_program_ != 0 || of_graphs_ != 0) return true;
  }
  end();
  return true;
}

void UserObject::retain_for_graph(uint64_t count) {
  const std::lock_guard lock(lock_);
  of_graphs_ += count;
}

bool UserObject::move_to_graph(uint64_t count) {
  const std::lock_guard lock(lock_);
  if (of_program_ < count) return false;
  of_program_ -= count;
  of_graphs_ += count;
  return true;
}

void UserObject::release_of_graph(uint64_t count) {
  {
    const std::lock_guard lock(lock_);
    KM_ASSERT(of_graphs_ >= count, "graphs release what they were given");
    of_graphs_ -= count;
    if (of_program_ != 0 || of_graphs_ != 0) return;
  }
  end();
}

/// The handle ends, and the program's function is called.
void UserObject::end() {
  const Ref<UserObject> kept = Ref<UserObject>::share(*this);
  retire<UserObject>(handle_of(*this));
  call_contained([this] { destroy_(pointer_); });
}

UserReferences::~UserReferences() {
  for (const auto& [object, count] : counts_) {
    object->release_of_graph(count);
    object->unref();
  }
}

void UserReferences::add(UserObject& object, uint64_t count) {
  const auto [known, is_new] = counts_.try_emplace(&object, 0);
  if (is_new) object.ref();
  KM_ASSERT(count != 0, "a reference count that is added is not 0");
  known->second += count;
}

void UserReferences::add_all_of(const UserReferences& other) {
  for (const auto& [object, count] : other.counts_) {
    add(*object, count);
    object->retain_for_graph(count);
  }
}

bool UserReferences::take(UserObject& object, uint64_t count) {
  const auto known = counts_.find(&object);
  if (known == counts_.end() || known->second < count) return false;
  KM_ASSERT(known->second != 0, "an object without references is removed");
  known->second -= count;
  if (known->second != 0) return true;
  counts_.erase(known);
  object.unref();  // the caller holds another reference
  return true;
}

}  // namespace km::dropin
