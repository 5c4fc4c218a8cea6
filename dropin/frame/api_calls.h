// The exported functions of an API whose calls a profiler may hear of: each calls the library's own
// function of another name. Without a listener that costs one load and a jump.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>

#include "dropin/frame/api_listener.h"

namespace km::frame {

/// A call's arguments, laid out as a C structure with a member for each parameter.
template <class... A>
class ApiParameters {
 public:
  explicit ApiParameters(const A&... arguments) {
    size_t offset = 0;
    (put(arguments, &offset), ...);
  }
  const void* data() const { return bytes_; }

 private:
  template <class T>
  static constexpr size_t aligned(size_t offset) {
    return (offset + alignof(T) - 1) / alignof(T) * alignof(T);
  }
  static constexpr size_t size() {
    size_t end = 0;
    ((end = aligned<A>(end) + sizeof(A)), ...);
    return std::max<size_t>(end, 1);
  }
  template <class T>
  void put(const T& argument, size_t* offset) {
    *offset = aligned<T>(*offset);
    std::memcpy(bytes_ + *offset, &argument, sizeof argument);
    *offset += sizeof argument;
  }

  alignas(std::max_align_t) std::byte bytes_[size()] = {};
};

/// Tells the listener of a call's beginning, and of its end even if the thread ends in the call.
class ToldCall {
 public:
  ToldCall(const ApiListener& listener, const ApiCall& call) : listener_(listener), call_(call) {
    listener_.begins(call_);
  }
  ~ToldCall() { listener_.ends(call_); }
  ToldCall(const ToldCall&) = delete;
  ToldCall& operator=(const ToldCall&) = delete;
  void set_result(const void* result) { call_.result = result; }

 private:
  const ApiListener& listener_;
  ApiCall call_;
};

template <class R, class... A>
[[gnu::noinline, gnu::cold]] R call_and_tell(const ApiListener& listener, ApiDomain domain,
                                             uint32_t number, const char* name, R (*own)(A...),
                                             A... arguments) {
  const ApiParameters<A...> parameters(arguments...);
  // The result outlives the listener's last look at it.
  R result{};
  ToldCall told(listener, {domain, number, name, parameters.data(), nullptr, {}});
  result = own(arguments...);
  told.set_result(&result);
  return result;
}

/// Calls the library's own function.
template <class R, class... A>
[[gnu::always_inline]] inline R call_own(const ApiListenerPlace& listener, ApiDomain domain,
                                         uint32_t number, const char* name, R (*own)(A...),
                                         A... arguments) {
  const ApiListener* const found = listener.load(std::memory_order_acquire);
  if (found == nullptr || number == 0) [[likely]]
    return own(arguments...);
  return call_and_tell(*found, domain, number, name, own, arguments...);
}

}  // namespace km::frame
