// The interface of an architecture's instructions: simt/machine/instructions.h says what each does.
#pragma once

#include "base/assert.h"
#include "simt/machine/instructions.h"

namespace km::simt {

/// The instructions of one architecture. An architecture whose machines all lack a capability
/// leaves out the functions that need it.
class InstructionSet {
 public:
  using V = instructions::V;
  using Builder = llvm::IRBuilderBase;

  virtual ~InstructionSet() = default;
  virtual V rounded(Builder&, instructions::Operation, std::span<V const>, Round) const {
    return absent();
  }
  virtual V rounded_to_s32(Builder&, V, Round) const { return absent(); }
  virtual V rounded_to_u32(Builder&, V, Round) const { return absent(); }
  virtual V saturated_to_s32(Builder&, V, Round) const { return absent(); }
  virtual V saturated_to_u32(Builder&, V, Round) const { return absent(); }
  virtual V to_s32(Builder&, V, bool /*nearest*/) const { return absent(); }
  virtual V narrow_to_f16(Builder&, V, Round) const { return absent(); }
  virtual V word_products(Builder&, V, V, bool /*is_signed*/) const { return absent(); }
  virtual V ternary_logic(Builder&, uint8_t /*table*/, V, V, V) const { return absent(); }
  virtual V permuted(Builder&, V /*source*/, V /*index*/) const { return absent(); }
  virtual V permuted(Builder&, V /*low*/, V /*high*/, V /*index*/) const { return absent(); }

  /// The constraint of inline assembly for a vector register.
  virtual const char* vector_register() const = 0;
  /// The constraint of inline assembly for a register whose bytes are addressable.
  virtual const char* byte_register() const = 0;

 private:
  static V absent() {
    KM_ASSERT(false, "machines of this architecture have the instruction");
    return nullptr;
  }
};

}  // namespace km::simt
