#include "reference/evaluate.h"

namespace km::reference {

Handler find_handler(const Instruction& in) {
  for (auto find :
       {find_integer, find_bits, find_float, find_approx, find_compare, find_convert, find_video}) {
    if (Handler handler = find(in)) return handler;
  }
  return nullptr;
}

}  // namespace km::reference
