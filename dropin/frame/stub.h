// Exported functions that are not implemented.
#pragma once

#include "dropin/frame/call.h"

namespace km::frame {

/// An exported function that is not implemented, for any arguments: L::kNotSupported.
template <class L>
struct Stub {
  const char* function;

  template <class... Arguments>
  typename L::Status operator()(Arguments...) const {
    return call<L>(function, [] {
      explain("the function is not implemented");
      return L::kNotSupported;
    });
  }
};

}  // namespace km::frame
