// Callbacks about contexts, streams and graphs, made from the driver's calls that change them.
#pragma once

#include "dropin/cupti/callback/subscriber.h"
#include "dropin/frame/api_listener.h"

namespace km::cupti {

/// The current context of the calling thread; null if there is none.
cu::CUcontext current_context();
/// The number of a context in records; 0 for none.
uint32_t number_of(cu::CUcontext context);

/// A parameter of a call, by its offset in the C structure.
template <class T>
T parameter(const frame::ApiCall& call, size_t offset_bytes = 0) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(call.parameters) + offset_bytes, sizeof value);
  return value;
}

/// Tells of what a call of the driver, which has begun, is about to destroy.
void tell_destruction(const frame::ApiCall& call);
/// Tells of what a call of the driver has made.
void tell_creation(const frame::ApiCall& call);

}  // namespace km::cupti
