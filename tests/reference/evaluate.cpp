#include "reference/evaluate.h"

namespace km::reference {

Handler find_handler(const Instruction& in) {
  for (auto find :
       {find_integer, find_bits, find_float, find_approx, find_compare, find_convert, find_video}) {
    if (Handler handler = find(in)) return handler;
  }
  return nullptr;
}

Round round_of(const Instruction& in) {
  if (in.has(Modifier::rz) || in.has(Modifier::rzi)) return Round::rz;
  if (in.has(Modifier::rm) || in.has(Modifier::rmi)) return Round::rm;
  if (in.has(Modifier::rp) || in.has(Modifier::rpi)) return Round::rp;
  return in.has(Modifier::rna) ? Round::rna : Round::rn;
}

}  // namespace km::reference
