// Lookup in maps whose values are created on first use.
#pragma once

#include "dropin/cuda/frame/call.h"

namespace km::dropin {

/// The value of a key. If there is none, `make(Value*)` creates it; if that fails or throws, the
/// map is unchanged, so no caller ever sees a partly made value.
template <class Map, class Make>
CUresult find_or_make(Map& map, const typename Map::key_type& key, typename Map::mapped_type** out,
                      Make&& make) {
  const auto [place, is_new] = map.try_emplace(key);
  if (is_new) {
    struct Undo {
      Map& map;
      typename Map::iterator place;
      bool is_due = true;
      ~Undo() {
        if (is_due) map.erase(place);
      }
    } undo{map, place};
    CU_TRY(make(&place->second));
    undo.is_due = false;
  }
  *out = &place->second;
  return CUDA_SUCCESS;
}

}  // namespace km::dropin
