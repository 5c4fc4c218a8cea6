#include "dropin/cupti/callback/subscriber.h"

#include <algorithm>

#include "dropin/cupti/activity/activity.h"
#include "dropin/cupti/activity/operations.h"
#include "dropin/cupti/callback/listener.h"

namespace km::cupti {
namespace {

struct Current {
  std::mutex mutex;  // guards the members below
  std::shared_ptr<Subscriber> subscriber;
  uint64_t id = 0;
};
Current& current() {
  union Forever {
    Current current;
    Forever() : current() {}
    ~Forever() {}  // other threads may make calls during exit
  };
  static Forever forever;
  return forever.current;
}

struct Name {
  CUpti_CallbackDomain domain;
  uint32_t number;
  const char* name;
};
const Name kNames[] = {
#define KM_CUPTI_CALL(domain, number, name) {CUPTI_CB_DOMAIN_##domain, number, #name},
#include "dropin/cupti/generated/calls.def"
#undef KM_CUPTI_CALL
};

/// The callbacks about resources that resources.cpp makes.
bool is_made_resource(uint32_t number) {
  switch (number) {
    case CUPTI_CBID_RESOURCE_CONTEXT_CREATED:
    case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
    case CUPTI_CBID_RESOURCE_STREAM_CREATED:
    case CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING:
    case CUPTI_CBID_RESOURCE_GRAPH_CREATED:
    case CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING:
    case CUPTI_CBID_RESOURCE_GRAPH_CLONED:
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
    case CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING:
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING:
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED:
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING:
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool Subscriber::is_used() const {
  return std::any_of(wanted_.begin(), wanted_.end(), [](const OfDomain& domain) {
    return std::any_of(domain.begin(), domain.end(),
                       [](const auto& each) { return each.load(std::memory_order_relaxed); });
  });
}

CUptiResult subscribe(std::shared_ptr<Subscriber> added, CUpti_SubscriberHandle* out) {
  const std::lock_guard lock(current().mutex);
  if (current().subscriber != nullptr) {
    return frame::fail(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
                       "there is a subscriber already; unsubscribe it first");
  }
  const uint64_t id = library::handle_map<Subscriber>().add(
      added, library::handle_tag(library::HandleKind::kCuptiSubscriber, 0));
  if (!library::write_host(out, reinterpret_cast<CUpti_SubscriberHandle>(id))) {
    library::handle_map<Subscriber>().remove(id);
    return invalid("subscriber is not an address that can be written");
  }
  current().subscriber = std::move(added);
  current().id = id;
  return CUPTI_SUCCESS;
}

CUptiResult unsubscribe(CUpti_SubscriberHandle handle) {
  const std::lock_guard lock(current().mutex);
  if (library::handle_map<Subscriber>().remove(reinterpret_cast<uint64_t>(handle)) == nullptr) {
    return invalid("the subscriber is not live");
  }
  current().subscriber = nullptr;
  return CUPTI_SUCCESS;
}

std::shared_ptr<Subscriber> find_subscriber(CUpti_SubscriberHandle handle) {
  return library::handle_map<Subscriber>().find(reinterpret_cast<uint64_t>(handle));
}

std::shared_ptr<Subscriber> subscriber() {
  const std::lock_guard lock(current().mutex);
  return current().subscriber;
}

bool is_made(CUpti_CallbackDomain domain, uint32_t number) noexcept {
  switch (domain) {
    case CUPTI_CB_DOMAIN_DRIVER_API:
    case CUPTI_CB_DOMAIN_RUNTIME_API:
      return callback_name(domain, number) != nullptr;
    case CUPTI_CB_DOMAIN_RESOURCE:
      return is_made_resource(number);
    case CUPTI_CB_DOMAIN_SYNCHRONIZE:
      return number == CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED ||
             number == CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED;
    default:
      return false;
  }
}

const char* callback_name(CUpti_CallbackDomain domain, uint32_t number) noexcept {
  const auto* const found = std::find_if(std::begin(kNames), std::end(kNames), [=](const Name& n) {
    return n.domain == domain && n.number == number;
  });
  return found == std::end(kNames) ? nullptr : found->name;
}

CUptiResult follow_driver(const library::Driver& driver) {
  const Activity& activity = Activity::instance();
  const std::shared_ptr<Subscriber> heard = subscriber();
  const bool has_calls = activity.is_used() || (heard != nullptr && heard->is_used());
  LIB_CHECK(listen_to_calls(driver, has_calls));
  LIB_CHECK(driver.table->set_operation_listener(activity.follows_operations() ? &record_operation
                                                                               : nullptr));
  return CUPTI_SUCCESS;
}

}  // namespace km::cupti
