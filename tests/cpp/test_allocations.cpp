// The hot calls of the header allocate nothing on the host.
#include <atomic>
#include <cstdlib>
#include <new>

#include "support.h"

#ifndef KM_TEST_SANITIZED  // which has operators of its own
namespace {
std::atomic<long> allocation_count{0};
}

// GCC takes what is inlined of one for a mismatch with what it knows of the others.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocation_count;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

struct Allocations : km_test::Fixture {
  km::function fill = km_test::load(context).function("fill_index");
  km::slice<std::uint32_t> out = km::slice<std::uint32_t>::zeroed(context, 64);
  km::slice<std::uint32_t> other = km::slice<std::uint32_t>::zeroed(context, 64);

  template <class Call>
  static long during(Call call) {
    call();  // what is made on first use
    const long before = allocation_count;
    for (int i = 0; i < 100; ++i) call();
    return allocation_count - before;
  }
};

TEST_F(Allocations, LaunchesCopiesAndWaitsAllocateNothing) {
  auto launch = stream.launch(fill);
  launch.grid(1).block(64);
  auto twin = *km::nothrow::launch::create(stream, fill);
  const km::event event(context);
  EXPECT_EQ(during([&] { launch.args(out, 1u, 64u).submit(); }), 0);
  EXPECT_EQ(during([&] { (void)twin.grid(1).block(64).args(out, 1u, 64u).submit(); }), 0);
  EXPECT_EQ(during([&] { stream.launch_kernel(fill, 1, 64, 0, km::read_only(out), 1u, 64u); }), 0);
  EXPECT_EQ(during([&] { other.copy_from(stream, out); }), 0);
  EXPECT_EQ(during([&] { out.fill(stream, 3u); }), 0);
  EXPECT_EQ(during([&] { event.record(stream), stream.wait(event), event.query(); }), 0);
  EXPECT_EQ(during([&] { stream.query(), stream.synchronize(); }), 0);
  EXPECT_GT(during([&] { out.to_vector(stream); }), 0);  // the count works
}

}  // namespace
#endif
