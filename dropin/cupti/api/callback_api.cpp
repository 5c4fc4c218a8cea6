// The callback API: subscriptions and what they hear of.
#include <algorithm>
#include <cstddef>

#include "dropin/cupti/callback/subscriber.h"

namespace km::cupti {

namespace {

/// Runs the body with a live subscription and tells the driver what is wanted afterwards.
template <class Body>
CUptiResult change(CUpti_SubscriberHandle handle, Body&& body,
                   const char* function = __builtin_FUNCTION()) {
  return call_driver(
      [&](const library::Driver& driver) -> CUptiResult {
        const std::shared_ptr<Subscriber> found = find_subscriber(handle);
        if (found == nullptr) return invalid("the subscriber is not live");
        LIB_TRY(body(*found));
        return follow_driver(driver);
      },
      function);
}

CUptiResult set_domain(Subscriber& subscriber, CUpti_CallbackDomain domain, bool on) {
  for (uint32_t number = 0; number < kMostCallbacks; ++number) {
    if (is_made(domain, number)) subscriber.set_wanted(domain, number, on);
  }
  return CUPTI_SUCCESS;
}

constexpr CUpti_CallbackDomain kDomains[] = {CUPTI_CB_DOMAIN_DRIVER_API,
                                             CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_RESOURCE,
                                             CUPTI_CB_DOMAIN_SYNCHRONIZE};

CUptiResult require_domain(CUpti_CallbackDomain domain) {
  for (const CUpti_CallbackDomain each : kDomains) {
    if (each == domain) return CUPTI_SUCCESS;
  }
  if (domain == CUPTI_CB_DOMAIN_NVTX || domain == CUPTI_CB_DOMAIN_STATE) {
    return unsupported("domain %d has no callbacks here", domain);
  }
  return invalid("domain is %d", domain);
}

CUptiResult require_callback(CUpti_CallbackDomain domain, uint32_t number) {
  LIB_TRY(require_domain(domain));
  if (is_made(domain, number)) return CUPTI_SUCCESS;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE && number < CUPTI_CBID_RESOURCE_SIZE) {
    return unsupported("of resources, contexts, streams and graphs are told of");
  }
  return invalid("domain %d has no callback %u", domain, number);
}

constexpr size_t kLongestName = 53;  // CUPTI_SUBSCRIBER_NAME_MAX_LEN
constexpr size_t kMostRead = 4096;

/// Reads the members that the program knows.
CUptiResult read_params(const CUpti_SubscriberParams* from, CUpti_SubscriberParams* out,
                        std::string* name) {
  constexpr size_t kLeast = offsetof(CUpti_SubscriberParams, allowMultipleSubscribers);
  if (from == nullptr) return CUPTI_SUCCESS;
  size_t size = 0;
  if (!library::read_host(&from->structSize, &size)) return invalid("pParams cannot be read");
  if (size < kLeast) return invalid("pParams->structSize is %zu", size);
  if (!library::read_host(out, from, std::min(size, sizeof *out)))
    return invalid("pParams cannot be read");
  if (out->subscriberName == nullptr) return CUPTI_SUCCESS;
  if (!library::read_host_text(out->subscriberName, kMostRead, name)) {
    return invalid("pParams->subscriberName cannot be read");
  }
  name->resize(std::min(name->size(), kLongestName));
  return CUPTI_SUCCESS;
}

/// Tells the program whose subscription there is.
CUptiResult give_old_name(const CUpti_SubscriberParams& params) {
  const std::shared_ptr<Subscriber> known = subscriber();
  if (known == nullptr || params.oldSubscriberName == nullptr || params.oldSubscriberSize == 0) {
    return CUPTI_SUCCESS;
  }
  std::string name = known->name().empty() ? "CUPTI" : "CUPTI for " + known->name();
  name.resize(std::min(name.size(), params.oldSubscriberSize - 1));
  if (library::write_host(params.oldSubscriberName, name.c_str(), name.size() + 1)) {
    return CUPTI_SUCCESS;
  }
  return invalid("pParams->oldSubscriberName cannot be written");
}

}  // namespace

extern "C" {

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                           void* userdata) {
  return call_driver([&](const library::Driver&) -> CUptiResult {
    if (subscriber == nullptr) return invalid("subscriber is null");
    if (callback == nullptr) return invalid("callback is null");
    return subscribe(std::make_shared<Subscriber>(callback, userdata), subscriber);
  });
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                              void* userdata, CUpti_SubscriberParams* pParams) {
  return call_driver([&](const library::Driver&) -> CUptiResult {
    if (subscriber == nullptr) return invalid("subscriber is null");
    if (callback == nullptr) return invalid("callback is null");
    CUpti_SubscriberParams params{};
    std::string name;
    LIB_TRY(read_params(pParams, &params, &name));
    if (params.allowMultipleSubscribers != 0) {
      return frame::fail(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
                         "there is one subscriber at a time");
    }
    const CUptiResult made =
        subscribe(std::make_shared<Subscriber>(callback, userdata, std::move(name)), subscriber);
    if (made == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) LIB_TRY(give_old_name(params));
    return made;
  });
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
  return call_driver([&](const library::Driver& driver) -> CUptiResult {
    LIB_TRY(unsubscribe(subscriber));
    return follow_driver(driver);
  });
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  return change(subscriber, [&](Subscriber& found) -> CUptiResult {
    LIB_TRY(require_callback(domain, cbid));
    found.set_wanted(domain, cbid, enable != 0);
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber,
                              CUpti_CallbackDomain domain) {
  return change(subscriber, [&](Subscriber& found) -> CUptiResult {
    LIB_TRY(require_domain(domain));
    return set_domain(found, domain, enable != 0);
  });
}

CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle subscriber) {
  return change(subscriber, [&](Subscriber& found) -> CUptiResult {
    for (const CUpti_CallbackDomain domain : kDomains) {
      LIB_TRY(set_domain(found, domain, enable != 0));
    }
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiGetCallbackState(uint32_t* enable, CUpti_SubscriberHandle subscriber,
                                  CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  return call([&]() -> CUptiResult {
    const std::shared_ptr<Subscriber> found = find_subscriber(subscriber);
    if (found == nullptr) return invalid("the subscriber is not live");
    LIB_TRY(require_domain(domain));
    return give("enable", enable, found->wants(domain, cbid) ? 1U : 0U);
  });
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char** name) {
  return call([&]() -> CUptiResult {
    const char* const found = callback_name(domain, cbid);
    if (found == nullptr) return invalid("domain %d has no function %u", domain, cbid);
    return give("name", name, found);
  });
}

CUptiResult cuptiSupportedDomains(size_t* domainCount, CUpti_DomainTable* domainTable) {
  return call([&]() -> CUptiResult {
    static CUpti_CallbackDomain domains[] = {CUPTI_CB_DOMAIN_DRIVER_API,
                                             CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_RESOURCE,
                                             CUPTI_CB_DOMAIN_SYNCHRONIZE};
    LIB_TRY(give("domainCount", domainCount, std::size(domains)));
    return give("domainTable", domainTable, static_cast<CUpti_CallbackDomain*>(domains));
  });
}

}  // extern "C"

}  // namespace km::cupti
