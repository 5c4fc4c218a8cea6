#include "reference/values.h"

namespace km::reference {

using ptx::Type;

Type element_of(Type type) {
  switch (type) {
    case Type::f16x2:
      return Type::f16;
    case Type::bf16x2:
      return Type::bf16;
    case Type::u16x2:
      return Type::u16;
    case Type::s16x2:
      return Type::s16;
    case Type::f32x2:
      return Type::f32;
    case Type::e4m3x2:
    case Type::e4m3x4:
      return Type::e4m3;
    case Type::e5m2x2:
    case Type::e5m2x4:
      return Type::e5m2;
    case Type::e2m3x2:
    case Type::e2m3x4:
      return Type::e2m3;
    case Type::e3m2x2:
    case Type::e3m2x4:
      return Type::e3m2;
    case Type::e2m1x2:
    case Type::e2m1x4:
      return Type::e2m1;
    default:
      return type;
  }
}

bool is_packed(Type type) { return element_of(type) != type; }

unsigned element_count(Type type) {
  switch (type) {
    case Type::e4m3x4:
    case Type::e5m2x4:
    case Type::e2m3x4:
    case Type::e3m2x4:
    case Type::e2m1x4:
      return 4;
    default:
      return is_packed(type) ? 2 : 1;
  }
}

const Format* format_of(Type type) {
  switch (element_of(type)) {
    case Type::f16:
      return &kF16;
    case Type::bf16:
      return &kBf16;
    case Type::f32:
      return &kF32;
    case Type::f64:
      return &kF64;
    case Type::tf32:
      return &kTf32;
    case Type::e4m3:
      return &kE4m3;
    case Type::e5m2:
      return &kE5m2;
    case Type::e2m3:
      return &kE2m3;
    case Type::e3m2:
      return &kE3m2;
    case Type::e2m1:
      return &kE2m1;
    default:
      return nullptr;
  }
}

bool is_plain_integer(Type type) {
  const ptx::TypeKind kind = ptx::kind_of(type);
  return kind == ptx::TypeKind::unsigned_int || kind == ptx::TypeKind::signed_int;
}

bool has_sign(Type type) { return ptx::is_signed(element_of(type)); }

}  // namespace km::reference
