// The callback API: the program's function that hears of calls, and what it has asked for.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "dropin/cupti/frame/cupti.h"

/// The parameters of cuptiSubscribe_v2.
struct CUpti_SubscriberParams {
  size_t structSize;  // of the members that the program knows, without padding
  const char* subscriberName;
  char* oldSubscriberName;
  size_t oldSubscriberSize;
  uint8_t allowMultipleSubscribers;
  uint8_t padding[7];
};

namespace km::cupti {

constexpr uint32_t kMostCallbacks = 1024;  // of a domain

/// One subscription. Calls on other threads may still be in the function when it has ended.
class Subscriber {
 public:
  Subscriber(CUpti_CallbackFunc function, void* user_data, std::string name = {})
      : function_(function), user_data_(user_data), name_(std::move(name)) {}

  bool wants(CUpti_CallbackDomain domain, uint32_t number) const {
    return number < kMostCallbacks &&
           wanted_[static_cast<size_t>(domain)][number].load(std::memory_order_relaxed);
  }
  void set_wanted(CUpti_CallbackDomain domain, uint32_t number, bool on) {
    wanted_[static_cast<size_t>(domain)][number].store(on, std::memory_order_relaxed);
  }
  /// True if it wants anything.
  bool is_used() const;
  /// The name that it has given itself; empty if it has given none.
  const std::string& name() const { return name_; }
  void call(CUpti_CallbackDomain domain, uint32_t number, const void* data) const {
    function_(user_data_, domain, number, data);
  }

 private:
  using OfDomain = std::array<std::atomic<bool>, kMostCallbacks>;

  const CUpti_CallbackFunc function_;
  void* const user_data_;
  const std::string name_;
  std::array<OfDomain, CUPTI_CB_DOMAIN_SIZE> wanted_{};
};

/// CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED if there is one already.
CUptiResult subscribe(std::shared_ptr<Subscriber> subscriber, CUpti_SubscriberHandle* out);
/// CUPTI_ERROR_INVALID_PARAMETER if the handle is not live.
CUptiResult unsubscribe(CUpti_SubscriberHandle handle);
/// The subscription of a handle; null if it is not live.
std::shared_ptr<Subscriber> find_subscriber(CUpti_SubscriberHandle handle);
/// The subscription there is, or null.
std::shared_ptr<Subscriber> subscriber();

/// True for callbacks that the library makes.
bool is_made(CUpti_CallbackDomain domain, uint32_t number) noexcept;
/// The function of a callback of the driver or the runtime; null if the number is none.
const char* callback_name(CUpti_CallbackDomain domain, uint32_t number) noexcept;

/// Has the driver tell of calls and operations as far as subscription and activity need them.
CUptiResult follow_driver(const library::Driver& driver);

}  // namespace km::cupti
