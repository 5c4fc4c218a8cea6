// Calls without exceptions: each returns a value or the failure.
#include <cstdio>
#include <kernelmill/kernelmill.hpp>
#include <vector>

namespace {

km::result<std::vector<int>> filled(const km::nothrow::context& context, int value) {
  auto stream = km::nothrow::stream::create(context);
  if (!stream) return stream.error();
  auto slice = km::nothrow::slice<int>::create(context, 4);
  if (!slice) return slice.error();
  if (auto done = slice->fill(*stream, value); !done) return done.error();
  return slice->to_vector(*stream);
}

}  // namespace

int main() {
  const auto none = km::nothrow::context::create("nowhere");
  std::printf("nowhere: %s\n", none.error().what());
  const auto result = km::nothrow::context::create("auto").and_then(
      [](km::nothrow::context&& context) { return filled(context, 7); });
  if (!result) {
    std::fprintf(stderr, "%s\n%s\n", result.error().what(), result.error().suggestion());
    return 1;
  }
  std::printf("filled with %d\n", result->at(3));
  return none.status() == KM_ERROR_BACKEND_UNAVAILABLE && result->at(3) == 7 ? 0 : 1;
}
