// Functions that take a path: the C library's own answer counts, unless it is that there is no such
// file.
#include <cerrno>
#include <iterator>

#include "dropin/audit/device_files/calls.h"

namespace km::audit {

constinit OwnCalls own_calls{};
constinit DriverFiles driver_files;

namespace {

template <class Result, class Call>
Result answer(const char* path, Result failure, Call&& call) {
  const Result result = call(path);
  if (result != failure || !may_be_driver_file(path)) return result;
  StandIn other;
  if (*own_calls.errno_location() != ENOENT || !driver_files.find(path, &other)) return result;
  return call(other.path);
}

}  // namespace

extern "C" {

#define KM_PATH_CALL(name, result, failure, parameters, arguments)                               \
  static result km_audit_##name parameters {                                                     \
    return answer<result>(path, failure,                                                         \
                          [&](const char* path) -> result { return own_calls.name arguments; }); \
  }
#include "dropin/audit/device_files/path_calls.def"
#undef KM_PATH_CALL

}  // extern "C"

Overrides path_overrides() noexcept {
  static const Override all[] = {
#define KM_PATH_CALL(name, result, failure, parameters, arguments) \
  {#name, reinterpret_cast<void*>(&km_audit_##name), reinterpret_cast<void**>(&own_calls.name)},
#include "dropin/audit/device_files/path_calls.def"
#undef KM_PATH_CALL
  };
  return {all, std::size(all)};
}

}  // namespace km::audit
