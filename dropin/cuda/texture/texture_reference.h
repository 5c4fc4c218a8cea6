// Texture and surface references: variables of modules that name an image, as CUDA had them before
// objects. The variable holds the handle of the image that the reference is bound to.
#pragma once

#include <mutex>
#include <string>

#include "core/module/module.h"
#include "core/object/callback.h"
#include "dropin/cuda/texture/texture.h"

namespace km::dropin {

class TextureReference;

template <>
struct HandleOf<TextureReference> {
  using Type = cu::CUtexref;
};
extern Table table_of_TextureReference;
template <>
inline HandleTable& table_of<TextureReference>() {
  return table_of_TextureReference.table;
}

/// The resource that a reference is bound to, and how it is sampled.
struct ReferenceState {
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  CUarray_format format = CU_AD_FORMAT_FLOAT;
  int channels = 1;
  bool is_bound = false;
};

class TextureReference final : public Handled {
 public:
  static constexpr bool kEndWaits = true;

  TextureReference(Context& context, Ref<km::Memory> variable, bool is_surface);
  ~TextureReference() override;

  Context& context() const { return *context_; }
  bool is_surface() const { return is_surface_; }
  /// True if it lives as long as its module, and not until cuTexRefDestroy.
  bool is_of_module() const { return static_cast<bool>(variable_); }
  ReferenceState state() const { return state(nullptr); }
  /// Takes over what change(state) makes of the state, and binds the image again. If there is no
  /// such image, the state stays as it was with `must_bind`; else the reference names no image
  /// until a further change, and a kernel that reads it ends with a fault. A change that meets
  /// another thread's is made once more, on top of it.
  template <class Change>
  CUresult change(bool must_bind, Change&& change) {
    CU_ASSIGN(const MayBlock may_block, require_may_block());
    bool is_taken = false;
    while (!is_taken) {
      uint64_t version = 0;
      ReferenceState next = state(&version);
      CU_TRY(change(next));
      uint64_t image = 0;
      const CUresult made = make_image(next, &image);
      if (made != CUDA_SUCCESS && must_bind) return made;
      is_taken = take(may_block, next, version, image);
    }
    return CUDA_SUCCESS;
  }

 private:
  ReferenceState state(uint64_t* version) const;
  /// The image that a state binds; 0 if it binds none.
  CUresult make_image(const ReferenceState& state, uint64_t* image);
  /// Waits for the context's work and takes over state and image. False: the state is no longer
  /// of that version; the image is gone.
  bool take(const MayBlock& may_block, const ReferenceState& next, uint64_t version,
            uint64_t image);

  const Ref<Context> context_;
  const Ref<km::Memory> variable_;  // null: of no module
  const bool is_surface_;
  // Guards what follows; it is not held while the context's work is waited for.
  mutable std::mutex mutex_;
  ReferenceState state_;
  uint64_t version_ = 0;  // how many changes the state has had
  uint64_t image_ = 0;
};

/// Notes which references a module's text declares.
void note_references(uint64_t module, const std::string& ptx);
void forget_references_of(uint64_t module);
/// A module whose text declares references, with the number that note_references() was given.
struct DeclaringModule {
  uint64_t id;
  Context& context;
  km::Module& core;
};
/// The reference of that name, one for each. CUDA_ERROR_NOT_FOUND: the module declares none.
CUresult find_reference(const DeclaringModule& module, const char* name, bool is_surface,
                        CUtexref* out);
/// The references of a context end with it.
void forget_references(const Context& context);

}  // namespace km::dropin
