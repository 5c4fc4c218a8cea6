#include "reference/operands.h"

#include "reference/values.h"

namespace km::reference {

ptx::Assignment specs_of(const Instruction& in) {
  return ptx::assign_operands(ptx::all_forms()[in.form], in).value_or(ptx::Assignment{});
}

Bits fill_register(Bits value, Type type, unsigned register_bits) {
  const unsigned bits = ptx::size_bits(type);
  if (bits < register_bits && ptx::is_signed(type)) {
    value = static_cast<Bits>(sign_extend(value, bits));
  } else {
    value = truncate(value, bits);
  }
  return truncate(value, register_bits);
}

}  // namespace km::reference
