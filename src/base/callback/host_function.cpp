#include "base/callback/host_function.h"

#include <utility>

namespace km {
namespace {

thread_local bool t_in_host_function = false;

}  // namespace

bool in_host_function() { return t_in_host_function; }

HostFunctionScope::HostFunctionScope() : before_(std::exchange(t_in_host_function, true)) {}
HostFunctionScope::~HostFunctionScope() { t_in_host_function = before_; }

}  // namespace km
