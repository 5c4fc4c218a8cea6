// Two coroutines that wait for streams on one thread, without blocking it. C++20.
#include <cstdio>
#include <kernelmill/kernelmill.hpp>
#include <utility>

namespace {

km::task<float> last_of(const km::context& context, float value) {
  const km::stream stream(context);
  const km::slice<float> slice(context, 1 << 20);
  slice.fill(stream, value);
  co_await stream;
  co_return slice.to_vector(stream).back();
}

km::task<> both(const km::context& context, float& sum) {
  sum += co_await last_of(context, 1.5f);
  sum += co_await last_of(context, 2.5f);
}

}  // namespace

int main() try {
  const km::context context("auto");
  float first = 0, second = 0;
  auto one = both(context, first), two = both(context, second);
  km::sync_wait_all(one, two);
  std::printf("%g and %g\n", static_cast<double>(first), static_cast<double>(second));
  return first == 4 && second == 4 ? 0 : 1;
} catch (const km::error& error) {
  std::fprintf(stderr, "%s\n%s\n", error.what(), error.suggestion());
  return 1;
}
