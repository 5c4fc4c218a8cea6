// Texture and surface objects by handle, including destroyed ones that queued kernels may still
// read.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "base/assert.h"
#include "core/object/backend_call.h"
#include "dropin/cuda/stream/context_streams.h"
#include "dropin/cuda/texture/texture.h"

namespace km::dropin {
namespace {

struct ListedImage {
  ImageObject object;
  std::vector<QueuedWork> readers;  // queued when it was destroyed
  bool readers_are_known = true;    // false: kept until its context ends
};

using ObjectList = std::map<uint64_t, ListedImage>;  // by handle
struct Objects {
  std::mutex mutex;
  ObjectList list;
  ObjectList destroyed;      // queued kernels may still read them
  uint64_t next_handle = 0;  // the destroyed image to examine next
  std::atomic<bool> has_destroyed{false};
};
Objects& objects() {
  static Objects* const all = new Objects;  // never destroyed: calls may come during exit
  return *all;
}

/// The caller holds the lock.
CUresult look_up(Objects& all, uint64_t handle, bool is_surface, ObjectList::iterator* out) {
  *out = all.list.find(handle);
  if (*out != all.list.end() && (*out)->second.object.is_surface == is_surface) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is not a live %s",
              static_cast<unsigned long long>(handle), is_surface ? "surface" : "texture");
}

bool may_be_read(const ListedImage& image) {
  return !image.readers_are_known ||
         std::any_of(image.readers.begin(), image.readers.end(),
                     [](const QueuedWork& work) { return !work.is_over(); });
}

/// Ends an image and moves it out of the list. The caller holds the lock.
void take_image(ObjectList& from, ObjectList::iterator image, ObjectList& gone) {
  KM_ASSERT(image->second.object.entries != nullptr, "an image has been made");
  image->second.object.entries->image_destroy(image->first);
  gone.insert(from.extract(image));
}

/// Ends the images for which `ends` returns true. The caller holds the lock.
template <typename Ends>
void take_images(ObjectList& from, ObjectList& gone, Ends ends) {
  for (auto each = from.begin(); each != from.end();) {
    const auto next = std::next(each);
    if (ends(each->second)) take_image(from, each, gone);
    each = next;
  }
}

/// Destroyed images that each create or destroy call examines: more than the one that a call adds,
/// so that the list shrinks, yet few, so that a blocked stream's many images cost each call little.
constexpr size_t kImagesPerCall = 4;

/// Examines the next images and ends those whose readers have completed.
void end_some_images(size_t most) {
  ObjectList gone;  // frees memory after the lock
  Objects& all = objects();
  const std::lock_guard lock(all.mutex);
  for (size_t i = 0; i < most && !all.destroyed.empty(); ++i) {
    auto next = all.destroyed.lower_bound(all.next_handle);
    if (next == all.destroyed.end()) next = all.destroyed.begin();
    all.next_handle = next->first + 1;
    if (!may_be_read(next->second)) take_image(all.destroyed, next, gone);
  }
  all.has_destroyed = !all.destroyed.empty();
}

}  // namespace

CUresult create_image(Context& context, ImageObject object, uint64_t* out) {
  end_some_images(kImagesPerCall);
  ImageSource source;
  CU_TRY(source.read(context, object.resource, object.is_surface));
  if (object.has_view) CU_TRY(source.apply(object.view));
  if (!object.is_surface) {
    CU_TRY(set_sampling(object.texture, source.texels, object.resource.resType, &source.image));
  }
  CU_TRY(image_entries_of(context, &object.entries));
  object.context = &context;
  const Ref<km::Context> core = context.core();
  object.memory = std::move(source.memory);
  const bool is_surface = object.is_surface;
  uint64_t handle = 0;
  CU_CHECK(call_backend(object.entries->image_create, &source.image, &handle));
  const kmb_image_entries* const entries = object.entries;
  try {
    Objects& all = objects();
    const std::lock_guard lock(all.mutex);
    [[maybe_unused]] const bool is_new =
        all.list.emplace(handle, ListedImage{std::move(object), {}}).second;
    KM_ASSERT(is_new, "the handle of an image is unique");
  } catch (const std::bad_alloc&) {
    entries->image_destroy(handle);
    throw;
  }
  // The context has ended meanwhile: its end destroyed only the images listed by then.
  if (!context.has_core(*core)) {
    static_cast<void>(destroy_image(handle, is_surface));
    return fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context was destroyed during the call");
  }
  *out = handle;
  return CUDA_SUCCESS;
}

CUresult destroy_image(uint64_t handle, bool is_surface) {
  Objects& all = objects();
  Ref<Context> context;
  {
    const std::lock_guard lock(all.mutex);
    ObjectList::iterator found;
    CU_TRY(look_up(all, handle, is_surface, &found));
    context = Ref<Context>::share(*found->second.object.context);
    KM_ASSERT(!all.destroyed.contains(handle), "an image is destroyed once");
    found->second.readers_are_known = false;  // until they have been determined
    all.destroyed.insert(all.list.extract(found));
    all.has_destroyed = true;
  }
  std::vector<QueuedWork> readers = ContextStreams::of(*context).queued_work();
  const bool are_over = readers.empty();
  ObjectList gone;  // frees memory after the lock
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.destroyed.find(handle);
    if (found != all.destroyed.end()) {  // its context has not ended
      found->second.readers = std::move(readers);
      found->second.readers_are_known = true;
      if (are_over) take_image(all.destroyed, found, gone);
    }
  }
  end_some_images(kImagesPerCall);
  return CUDA_SUCCESS;
}

void end_unread_images() {
  constexpr size_t kImagesAtOnce = 64;
  if (objects().has_destroyed.load(std::memory_order_relaxed)) end_some_images(kImagesAtOnce);
}

CUresult find_image(uint64_t handle, bool is_surface, ImageObject* out) {
  Objects& all = objects();
  const std::lock_guard lock(all.mutex);
  ObjectList::iterator found;
  CU_TRY(look_up(all, handle, is_surface, &found));
  *out = found->second.object;
  return CUDA_SUCCESS;
}

void destroy_images(const Context& context) {
  ObjectList gone;  // frees memory after the lock
  Objects& all = objects();
  const std::lock_guard lock(all.mutex);
  const auto is_of_context = [&](const ListedImage& image) {
    return image.object.context == &context;
  };
  take_images(all.list, gone, is_of_context);
  take_images(all.destroyed, gone, is_of_context);
}

}  // namespace km::dropin
