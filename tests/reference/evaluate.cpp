#include "reference/evaluate.h"

#include "ptx/forms.h"

namespace km::reference {

Handler find_handler(const Instruction& in) {
  using ptx::Family;
  switch (ptx::family_of(in)) {
    case Family::integer: {
      const Handler handler = find_integer(in);
      return handler ? handler : find_bits(in);
    }
    case Family::division:
    case Family::carry:
      return find_integer(in);
    case Family::bits:
    case Family::permute:
      return find_bits(in);
    case Family::real:
    case Family::half:
    case Family::approx:
      return in.has(Modifier::approx) || in.has(Modifier::full) ? find_approx(in) : find_float(in);
    case Family::compare:
      return find_compare(in);
    case Family::convert:
    case Family::narrow_float:
      return find_convert(in);
    case Family::video:
      return find_video(in);
    default:
      return nullptr;
  }
}

Round round_of(const Instruction& in) {
  if (in.has(Modifier::rz) || in.has(Modifier::rzi)) return Round::rz;
  if (in.has(Modifier::rm) || in.has(Modifier::rmi)) return Round::rm;
  if (in.has(Modifier::rp) || in.has(Modifier::rpi)) return Round::rp;
  return in.has(Modifier::rna) ? Round::rna : Round::rn;
}

}  // namespace km::reference
