// ImageAccesses, for textures and surfaces.
#pragma once

#include "simt/codegen/values.h"
#include "simt/runtime/image.h"

namespace km::simt {

/// Lowers the family `image`. Texture sampling is too long to generate at each access: the operands
/// of all lanes are stored in memory, a function of the runtime computes, and the results are
/// loaded.
class ImageAccesses : private EmitterBase {
 public:
  ImageAccesses(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, Values& values)
      : EmitterBase(builder, plan), frame_(frame), values_(values) {}

  /// Lowers one instruction of the family.
  void lower(const Inst& inst);

 private:
  llvm::Constant* form_constant(const ImageForm& form);
  Value* memory(const char* name, uint64_t size_bytes);
  Value* slot(uint32_t index);
  void store(const Inst& inst, const ptx::Operand& operand, uint32_t index);
  void store_list(const Inst& inst, const ptx::Operand& operand, uint32_t first);
  void store_coordinates(const Inst& inst, const ImageForm& form, const ptx::Operand& place);
  void store_extras(const Inst& inst, const ImageForm& form);
  void store_data(const Inst& inst, const ImageForm& form, const ptx::Operand& data);
  /// The handle of a texture or surface, which may differ between lanes.
  struct Handle {
    // `of_all` is an i64; if lanes differ, `lanes` points to one i64 per lane, otherwise it is
    // null.
    Value *of_all = nullptr, *lanes = nullptr;
  };
  Handle handle_of(const Inst& inst, const ptx::Operand& operand);
  void define_results(const Inst& inst, const ImageForm& form);
  void define_words(const Inst& inst, const ImageForm& form, const ptx::Operand& target);

  LaunchFrame& frame_;
  Values& values_;
  Value* slots_ = nullptr;
};

}  // namespace km::simt
