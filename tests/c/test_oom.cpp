// Every allocation of the library fails once: the call says KM_ERROR_OUT_OF_HOST_MEMORY, its
// out-parameters stay untouched, and everything works again afterwards.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
#include "support/testing.h"
}

namespace {

std::atomic<long> g_until_failure{-1};
std::atomic<long> g_allocations{0};

void* allocate(std::size_t size) {
  ++g_allocations;
  if (g_until_failure >= 0 && g_until_failure-- == 0) return nullptr;
  return std::malloc(size != 0 ? size : 1);
}

}  // namespace

// The library takes these in place of the C++ runtime's.
void* operator new(std::size_t size) {
  if (void* memory = allocate(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

template <class Handle>
const Handle kUntouched = reinterpret_cast<Handle>(0x5A5A);

// One call: true when it succeeded; otherwise it must have failed cleanly.
template <class Handle>
bool created(km_status status, Handle handle) {
  if (status == KM_SUCCESS) return true;
  assert_int_equal(status, KM_ERROR_OUT_OF_HOST_MEMORY);
  assert_true(handle == kUntouched<Handle>);
  expect_message("the host is out of memory");
  return false;
}

bool done(km_status status) {
  assert_true(status == KM_SUCCESS || status == KM_ERROR_OUT_OF_HOST_MEMORY);
  return status == KM_SUCCESS;
}

void count_release(void* count) { ++*static_cast<std::atomic<int>*>(count); }

struct Scenario {
  const fixture* f;
  km_context context = kUntouched<km_context>;
  km_stream stream = kUntouched<km_stream>, shared = kUntouched<km_stream>;
  km_event event = kUntouched<km_event>;
  km_slice slice = kUntouched<km_slice>, view = kUntouched<km_slice>;
  km_slice wrapped = kUntouched<km_slice>, found = kUntouched<km_slice>;
  km_module module = kUntouched<km_module>;
  km_function function = kUntouched<km_function>;
  km_launch launch = kUntouched<km_launch>;
  km_program program = kUntouched<km_program>;
  uint64_t address = 0, offset = 0;
  std::atomic<int> released{0};
  char bytes[64] = {};

  bool create() {
    return created(km_context_create(f->device, &context), context) &&
           created(km_stream_create(context, 0, 0, &stream), stream) &&
           created(km_context_default_stream(context, &shared), shared) &&
           created(km_event_create(context, 0, &event), event) &&
           created(km_slice_create(context, 16, 4, 0, &slice), slice) &&
           created(km_slice_view(slice, 0, 8, &view), view) &&
           created(km_slice_from_host(context, bytes, 64, 1, count_release, &released, &wrapped),
                   wrapped) &&
           created(km_module_load_ptx(context, test_ptx, std::strlen(test_ptx), "m", &module),
                   module) &&
           created(km_module_function(module, "fill_index", &function), function) &&
           created(km_launch_create(stream, function, &launch), launch) &&
           created(km_program_create("text", 4, nullptr, &program), program);
  }
  bool use() {
    const uint32_t base = 1, count = 16;
    return done(km_slice_address(slice, &address)) &&
           created(km_context_find_slice(context, address + 4, &found, &offset), found) &&
           done(km_program_add_option(program, "an option that is not a short string at all")) &&
           done(km_slice_fill_u32(stream, slice, 0, 1, 16)) &&
           done(km_slice_fill_u32(shared, slice, 0, 1, 16)) &&
           done(km_launch_set_grid(launch, 1, 1, 1)) &&
           done(km_launch_set_block(launch, 32, 1, 1)) &&
           done(km_launch_arg_slice(launch, slice, 0)) &&
           done(km_launch_arg_scalar(launch, &base, sizeof base)) &&
           done(km_launch_arg_scalar(launch, &count, sizeof count)) &&
           done(km_launch_submit(launch)) && done(km_event_record(event, stream)) &&
           done(km_stream_wait_event(shared, event)) && done(km_stream_synchronize(shared));
  }
  template <class Handle>
  void destroy(km_status (*call)(Handle), Handle handle) {
    if (handle != kUntouched<Handle>) OK(call(handle));
  }
  void destroy_all() {
    destroy(km_program_destroy, program);
    destroy(km_launch_destroy, launch);
    destroy(km_function_destroy, function);
    destroy(km_module_destroy, module);
    destroy(km_slice_destroy, found);
    destroy(km_slice_destroy, view);
    destroy(km_slice_destroy, slice);
    // The memory is still the caller's where no slice was made of it.
    assert_int_equal(released, 0);
    destroy(km_slice_destroy, wrapped);
    destroy(km_event_destroy, event);
    destroy(km_stream_destroy, shared);
    destroy(km_stream_destroy, stream);
    destroy(km_context_destroy, context);
    wait_for_release();
  }
  void wait_for_release() {
    const int expected = wrapped != kUntouched<km_slice> ? 1 : 0;
    for (int i = 0; i < 1000000000 && released != expected; ++i) {
    }
    assert_int_equal(released, expected);
  }
};

bool run(const fixture* f) {
  Scenario scenario{f};
  const bool worked = scenario.create() && scenario.use();
  g_until_failure = -1;
  scenario.destroy_all();
  return worked;
}

void each_allocation_fails_once(void** state) {
  const fixture* f = static_cast<fixture*>(*state);
  if (is_fake(f)) skip();  // its own allocations would fail, too
#ifdef KM_TEST_SANITIZED
  skip();  // with a shared C++ runtime LLVM's allocations come here as well, and it ends the
           // process when one fails
#endif
  assert_true(run(f));
  g_allocations = 0;
  assert_true(run(f));
  const long count = g_allocations;
  assert_true(count > 20);
  for (long index = 0; index < count; ++index) {
    g_until_failure = index;
    run(f);
  }
  assert_true(run(f));
}

}  // namespace

int main() {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_fails_once)};
  return RUN_ON_DEVICES("oom", tests);
}
