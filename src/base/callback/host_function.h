// Host functions that a driver calls on its own thread, on which it permits no calls of the driver.
#pragma once

namespace km {

/// True while this thread runs such a function.
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
