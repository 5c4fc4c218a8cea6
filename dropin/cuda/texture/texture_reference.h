// Texture and surface references: variables of modules that name an image, as CUDA had them before
// objects. The variable holds the handle of the image that the reference is bound to.
#pragma once

#include <mutex>
#include <string>

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
  TextureReference(Context& context, Ref<km::Memory> variable, bool is_surface);
  ~TextureReference() override;

  Context& context() const { return *context_; }
  bool is_surface() const { return is_surface_; }
  /// True if it lives as long as its module, and not until cuTexRefDestroy.
  bool is_of_module() const { return static_cast<bool>(variable_); }
  ReferenceState state() const;
  /// Takes over what change(state) makes of the state, and binds the image again. If there is no
  /// such image, the state stays as it was with `must_bind`; else the reference names no image
  /// until a further change, and a kernel that reads it ends with a fault.
  template <class Change>
  CUresult change(bool must_bind, Change&& change) {
    const std::lock_guard lock(mutex_);
    ReferenceState next = state_;
    CU_TRY(change(next));
    const CUresult bound = bind(next);
    if (bound != CUDA_SUCCESS && must_bind) return bound;
    if (bound != CUDA_SUCCESS) set_handle(0);
    state_ = next;
    return CUDA_SUCCESS;
  }

 private:
  CUresult bind(const ReferenceState& state);
  void set_handle(uint64_t handle);

  const Ref<Context> context_;
  const Ref<km::Memory> variable_;  // null: of no module
  const bool is_surface_;
  mutable std::mutex mutex_;  // guards what follows
  ReferenceState state_;
  uint64_t image_ = 0;
};

/// Notes which references a module's text declares.
void note_references(uint64_t module, const std::string& ptx);
void forget_references_of(uint64_t module);
/// The reference of that name, one for each. CUDA_ERROR_NOT_FOUND: the module declares none.
CUresult find_reference(CUmodule module, const char* name, bool is_surface, CUtexref* out);
/// The references of a context end with it.
void forget_references(const Context& context);

}  // namespace km::dropin
