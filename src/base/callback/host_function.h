// Host functions that a driver calls on a thread of its own, where it permits no calls of its own.
#pragma once

namespace km {

/// True while this thread runs one.
bool in_host_function();

class HostFunctionScope {
 public:
  HostFunctionScope();
  ~HostFunctionScope();
  HostFunctionScope(const HostFunctionScope&) = delete;
  HostFunctionScope& operator=(const HostFunctionScope&) = delete;

 private:
  const bool before_;
};

}  // namespace km
