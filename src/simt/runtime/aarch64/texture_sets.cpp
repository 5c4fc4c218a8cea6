#include "simt/runtime/texture.h"

namespace km::simt {

TextureFetch* texture_fetch_of(KernelSet) { return fetch_texture_plain; }

}  // namespace km::simt
