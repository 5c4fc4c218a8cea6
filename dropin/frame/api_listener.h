// Who hears of calls of the driver API and the runtime API: the driver library keeps the listener,
// and the runtime libraries find it by an export table (cuGetExportTable) that NVIDIA's driver does
// not know.
#pragma once

#include <atomic>
#include <cstdint>

#include "cuda/driver.h"

namespace km::frame {

/// The APIs, by CUPTI's numbers.
enum class ApiDomain : uint32_t { kDriver = 1, kRuntime = 2 };

/// A call while it runs.
struct ApiCall {
  ApiDomain domain;
  uint32_t number;         // CUPTI's, of the function
  const char* name;        // of the function
  const void* parameters;  // laid out as a C structure of them
  const void* result;      // null before the end
  uint64_t memo[4];        // the listener's, from the beginning to the end of the call
};

/// Hears of calls on their threads. It has static lifetime.
struct ApiListener {
  void (*begins)(ApiCall& call);
  void (*ends)(ApiCall& call);
};

/// A null pointer in it: nobody hears of calls.
using ApiListenerPlace = std::atomic<const ApiListener*>;

/// The table is an ApiListenerPlace.
inline constexpr cu::CUuuid kApiListenerId = {
    {'k', 'e', 'r', 'n', 'e', 'l', 'm', 'i', 'l', 'l', '-', 'a', 'p', 'i', 0, 1}};

}  // namespace km::frame
