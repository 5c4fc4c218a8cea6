// Descriptors that are too large to be copied: calls find them by id and lock them.
#pragma once

#include <memory>
#include <mutex>

#include "dropin/cudnn/frame/library.h"
#include "dropin/library/handles.h"

namespace km::cudnn {

/// Makes an object with a `mutex` and gives the program its id.
template <class T, class H>
cudnnStatus_t create_object(H* out, unsigned tag) {
  const uint64_t id = library::handle_map<T>().add(
      std::make_shared<T>(), library::handle_tag(library::HandleKind::kDnnSequence, tag));
  const cudnnStatus_t given = give(out, reinterpret_cast<H>(id));
  if (given != CUDNN_STATUS_SUCCESS) library::handle_map<T>().remove(id);
  return given;
}
template <class T, class H>
cudnnStatus_t destroy_object(H handle) {
  if (handle == nullptr || library::handle_map<T>().remove(reinterpret_cast<uint64_t>(handle))) {
    return CUDNN_STATUS_SUCCESS;
  }
  return invalid("the descriptor is not live");
}
/// Runs `body` with the object, whose lock is held.
template <class T, class H, class Body>
cudnnStatus_t with_object(H handle, Body&& body) {
  const std::shared_ptr<T> found =
      library::handle_map<T>().find(reinterpret_cast<uint64_t>(handle));
  if (found == nullptr) return invalid("the descriptor is not live");
  const std::lock_guard lock(found->mutex);
  return body(*found);
}

/// The numbers of kinds of such objects.
constexpr unsigned kRnnTag = 1, kRnnDataTag = 2, kAttentionTag = 3, kSequenceDataTag = 4;

}  // namespace km::cudnn
