// The fake backend as a plugin by the name of "cpu": what needs a working backend, but no kernels
// beyond those it knows, can be tested with it through the C ABI.
#include "support/core/fake_backend.h"

extern "C" __attribute__((visibility("default"))) const kmb_backend* km_backend_plugin() {
  static const kmb_backend table = [] {
    kmb_backend copy = km::test::fake_backend();
    copy.name = "cpu";
    return copy;
  }();
  return &table;
}
