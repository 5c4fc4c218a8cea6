// Texture and surface objects by their handles, and those that queued kernels may still read.
#include <algorithm>
#include <map>
#include <mutex>

#include "core/object/backend_call.h"
#include "dropin/cuda/stream/stream.h"
#include "dropin/cuda/texture/texture.h"

namespace km::dropin {
namespace {

/// Work that a stream had queued when an image was destroyed.
struct QueuedWork {
  Ref<km::Stream> stream;
  uint64_t ticket = 0;
};

struct ListedImage {
  ImageObject object;
  std::vector<QueuedWork> readers;  // since it was destroyed
  bool readers_are_known = true;    // false: it stays until its context ends
};

using ObjectList = std::map<uint64_t, ListedImage>;  // by handle
struct Objects {
  std::mutex mutex;
  ObjectList list;
  ObjectList destroyed;  // whose readers may not be over
};
Objects& objects() {
  static Objects* const all = new Objects;  // never destroyed: calls may come while a process ends
  return *all;
}

/// With the lock.
CUresult look_up(Objects& all, uint64_t handle, bool is_surface, ObjectList::iterator* out) {
  *out = all.list.find(handle);
  if (*out != all.list.end() && (*out)->second.object.is_surface == is_surface) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is no live %s",
              static_cast<unsigned long long>(handle), is_surface ? "surface" : "texture");
}

bool may_be_read(const ListedImage& image) {
  return !image.readers_are_known ||
         std::any_of(image.readers.begin(), image.readers.end(),
                     [](const QueuedWork& work) { return !work.stream->is_over(work.ticket); });
}

/// Moves the images that `ends` is true of out of the list, and ends them. With the lock.
template <typename Ends>
void take_images(ObjectList& from, ObjectList& gone, Ends ends) {
  for (auto each = from.begin(); each != from.end();) {
    const auto next = std::next(each);
    if (ends(each->second)) {
      each->second.object.entries->image_destroy(each->first);
      gone.insert(from.extract(each));
    }
    each = next;
  }
}

/// Ends the destroyed images that nobody reads any more.
void end_unread_images() {
  ObjectList gone;  // memory goes without the lock
  Objects& all = objects();
  const std::lock_guard lock(all.mutex);
  take_images(all.destroyed, gone, [](const ListedImage& image) { return !may_be_read(image); });
}

/// The work that the context's streams have queued; false: the host is out of memory.
bool find_readers(Context& context, std::vector<QueuedWork>* out) {
  try {
    std::vector<Ref<Stream>> streams;
    context.all_streams(&streams);
    for (const Ref<Stream>& stream : streams) {
      km::Stream& core = stream->core();
      const uint64_t ticket = core.last_ticket();
      if (!core.is_over(ticket)) out->push_back({Ref<km::Stream>::share(core), ticket});
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

CUresult create_image(Context& context, ImageObject object, uint64_t* out) {
  end_unread_images();
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
    all.list.emplace(handle, ListedImage{std::move(object), {}});
  } catch (const std::bad_alloc&) {
    entries->image_destroy(handle);
    throw;
  }
  // Whoever ends the context destroys what was listed until then.
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
    found->second.readers_are_known = false;  // until they are known
    all.destroyed.insert(all.list.extract(found));
  }
  std::vector<QueuedWork> readers;
  const bool are_known = find_readers(*context, &readers);
  if (are_known) {
    const std::lock_guard lock(all.mutex);
    const auto found = all.destroyed.find(handle);
    if (found != all.destroyed.end()) {  // its context has not ended
      found->second.readers = std::move(readers);
      found->second.readers_are_known = true;
    }
  }
  end_unread_images();
  return CUDA_SUCCESS;
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
  ObjectList gone;  // memory goes without the lock
  Objects& all = objects();
  const std::lock_guard lock(all.mutex);
  const auto is_of_context = [&](const ListedImage& image) {
    return image.object.context == &context;
  };
  take_images(all.list, gone, is_of_context);
  take_images(all.destroyed, gone, is_of_context);
}

}  // namespace km::dropin
