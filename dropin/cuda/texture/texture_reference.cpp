#include "dropin/cuda/texture/texture_reference.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <utility>

#include "base/assert.h"
#include "base/search.h"

namespace km::dropin {
namespace {

void release(Object* object) { object->handle_gone(); }

struct Declared {
  bool is_surface = false;
  Ref<TextureReference> made;  // null until first requested
};

struct Modules {
  std::mutex mutex;
  std::map<uint64_t, std::map<std::string, Declared>> list;  // by module, then by name
};
Modules& modules() {
  static Modules* const all = new Modules;  // never destroyed: calls may come during exit
  return *all;
}

bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

/// Finds the names that follow a type in declarations such as `.global .texref a, b;`.
void find_names(const std::string& ptx, const std::string& type, bool is_surface,
                std::map<std::string, Declared>* out) {
  for (size_t at = find_word(ptx, type); at != std::string::npos; at = find_word(ptx, type, at)) {
    at += type.size();
    if (at < ptx.size() && is_name_part(ptx[at])) continue;
    const size_t end = ptx.find(';', at);
    while (at < end && at < ptx.size()) {
      while (at < ptx.size() && std::isspace(static_cast<unsigned char>(ptx[at])) != 0) ++at;
      const size_t begin = at;
      while (at < ptx.size() && is_name_part(ptx[at])) ++at;
      if (at == begin) break;
      (*out)[ptx.substr(begin, at - begin)].is_surface = is_surface;
      at = std::min(ptx.find(',', at), end);
      if (at < end) ++at;
    }
  }
}

void retire_all(std::map<std::string, Declared>& declared) {
  for (auto& [name, each] : declared) {
    if (each.made) retire<TextureReference>(MayBlock::at_end(), handle_of(*each.made));
  }
}

}  // namespace

constinit Table table_of_TextureReference(static_cast<int>(0xC0), release);

TextureReference::TextureReference(Context& context, Ref<km::Memory> variable, bool is_surface)
    : context_(Ref<Context>::share(context)),
      variable_(std::move(variable)),
      is_surface_(is_surface) {
  for (auto& mode : state_.texture.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
}

TextureReference::~TextureReference() {
  static_cast<void>(take(MayBlock::at_end(), {}, version_, 0));
}

ReferenceState TextureReference::state(uint64_t* version) const {
  const std::lock_guard lock(mutex_);
  if (version != nullptr) *version = version_;
  return state_;
}

CUresult TextureReference::make_image(const ReferenceState& state, uint64_t* image) {
  if (!state.is_bound) return CUDA_SUCCESS;
  ImageObject object;
  object.resource = state.resource;
  object.texture = state.texture;
  object.is_surface = is_surface_;
  return create_image(*context_, std::move(object), image);
}

/// Running kernels read the variable and then the image, so both must stay until they complete. The
/// lock is not held during the wait, because host functions in that work may use the reference.
bool TextureReference::take(const MayBlock& may_block, const ReferenceState& next, uint64_t version,
                            uint64_t image) {
  std::unique_lock lock(mutex_);
  if (image_ != image) {
    lock.unlock();
    static_cast<void>(wait_for_work(may_block, *context_->core()));
    lock.lock();
  }
  const bool is_taken = version_ == version;
  uint64_t gone = image;  // freed if the state has changed meanwhile
  if (is_taken) {
    if (variable_ && variable_->host_pointer() != nullptr) {
      std::memcpy(variable_->host_pointer(), &image, sizeof image);
    }
    KM_ASSERT(image == 0 || next.is_bound, "a reference that is not bound has no image");
    gone = std::exchange(image_, image);
    state_ = next;
    ++version_;
  }
  lock.unlock();
  if (gone != 0) static_cast<void>(destroy_image(gone, is_surface_));
  return is_taken;
}

void note_references(uint64_t module, const std::string& ptx) {
  std::map<std::string, Declared> found;
  find_names(ptx, ".texref", false, &found);
  find_names(ptx, ".tex .u32", false, &found);  // the syntax before .texref
  find_names(ptx, ".tex .u64", false, &found);
  find_names(ptx, ".surfref", true, &found);
  if (found.empty()) return;
  Modules& all = modules();
  const std::lock_guard lock(all.mutex);
  KM_ASSERT(module != 0 && !all.list.contains(module),
            "a module is registered once, by its handle");
  all.list[module] = std::move(found);
}

void forget_references_of(uint64_t module) {
  std::map<std::string, Declared> gone;
  {
    Modules& all = modules();
    const std::lock_guard lock(all.mutex);
    const auto found = all.list.find(module);
    if (found == all.list.end()) return;
    gone = std::move(found->second);
    all.list.erase(found);
  }
  retire_all(gone);
}

void forget_references(const Context& context) {
  std::vector<CUtexref> handles;
  table_of<TextureReference>().for_each_live([&](uint64_t, Object& object) {
    auto& each = static_cast<TextureReference&>(object);
    if (&each.context() == &context) handles.push_back(handle_of(each));
  });
  for (const CUtexref handle : handles) retire<TextureReference>(MayBlock::at_end(), handle);
}

CUresult find_reference(const DeclaringModule& module, const char* name, bool is_surface,
                        CUtexref* out) {
  Modules& all = modules();
  const std::lock_guard lock(all.mutex);
  const auto listed = all.list.find(module.id);
  const char* const kind = is_surface ? "surface" : "texture";
  if (listed == all.list.end() || !listed->second.contains(name) ||
      listed->second[name].is_surface != is_surface) {
    return fail(CUDA_ERROR_NOT_FOUND, "the module has no %s reference '%s'", kind, name);
  }
  Declared& declared = listed->second[name];
  if (!declared.made) {
    CU_ASSIGN(Ref<km::Memory> variable, module.core.global(name));
    if (variable->size_bytes() < sizeof(uint64_t)) {
      return fail(CUDA_ERROR_NOT_FOUND, "'%s' is no %s reference", name, kind);
    }
    declared.made = make_ref<TextureReference>(module.context, std::move(variable), is_surface);
    publish(Ref<TextureReference>(declared.made));
  }
  KM_ASSERT(&declared.made->context() == &module.context && declared.made->is_of_module(),
            "a declared reference belongs to its module");
  *out = handle_of(*declared.made);
  return CUDA_SUCCESS;
}

}  // namespace km::dropin
