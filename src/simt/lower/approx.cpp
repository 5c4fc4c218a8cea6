#include "simt/lower/lanes.h"
namespace km::simt::lower {
Handler find_approx(const ptx::Instruction&) { return nullptr; }
}  // namespace km::simt::lower
