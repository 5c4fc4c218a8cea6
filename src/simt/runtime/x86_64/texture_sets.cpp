#include "simt/runtime/texture.h"

namespace km::simt {

TextureFetch* texture_fetch_of(KernelSet set) {
  switch (set) {
    case KernelSet::widest:
      return fetch_texture_widest;
    case KernelSet::wide:
      return fetch_texture_wide;
    case KernelSet::plain:
      break;
  }
  return fetch_texture_plain;
}

}  // namespace km::simt
