// Texture and surface references: module variables that name an image, CUDA's interface before
// texture objects. The variable holds the handle of the bound image.
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

/// The resource that a reference is bound to, and its sampling parameters.
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
  /// True if the module owns the reference; false if it lives until cuTexRefDestroy.
  bool is_of_module() const { return static_cast<bool>(variable_); }
  ReferenceState state() const { return state(nullptr); }
  /// Applies `change` to the state and binds the image again. If the image cannot be created, the
  /// state is unchanged with `must_bind`; otherwise the reference names no image until a further
  /// change, and a kernel that reads it ends with a fault. If another thread changes the state
  /// meanwhile, `change` is applied again on top of that.
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
  /// Creates the image that a state binds; 0 if it binds none.
  CUresult make_image(const ReferenceState& state, uint64_t* image);
  /// Waits for the context's work, then sets state and image. Returns false if the state's version
  /// has changed meanwhile; the image is then freed.
  bool take(const MayBlock& may_block, const ReferenceState& next, uint64_t version,
            uint64_t image);

  const Ref<Context> context_;
  const Ref<km::Memory> variable_;  // null: not a module's
  const bool is_surface_;
  // Guards the members below. It is not held while the context's work is waited for.
  mutable std::mutex mutex_;
  ReferenceState state_;
  uint64_t version_ = 0;  // number of changes of the state
  uint64_t image_ = 0;
};

/// Records the references that a module's PTX declares.
void note_references(uint64_t module, const std::string& ptx);
void forget_references_of(uint64_t module);
/// A module whose PTX declares references, with the number passed to note_references().
struct DeclaringModule {
  uint64_t id;
  Context& context;
  km::Module& core;
};
/// Finds the reference of that name; each name has one object. CUDA_ERROR_NOT_FOUND if the module
/// does not declare it.
CUresult find_reference(const DeclaringModule& module, const char* name, bool is_surface,
                        CUtexref* out);
/// Ends the references of a context.
void forget_references(const Context& context);

}  // namespace km::dropin
