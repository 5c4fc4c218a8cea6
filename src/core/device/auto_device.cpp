#include "core/device/auto_device.h"

#include "base/env.h"
#include "base/log.h"

namespace km {
namespace {

constexpr const char* kPreferred[] = {"cuda:0", "cpu:0"};

std::string backend_of(const std::string& uri) { return uri.substr(0, uri.find(':')); }

void try_candidate(const std::string& uri, const std::string& why, AutoChoice* choice) {
  AutoCandidate candidate{uri, KM_AUTO_REFUSED, KM_SUCCESS, {}};
  Result<Ref<Device>> device = Device::open(uri);
  if (device) {
    candidate.outcome = KM_AUTO_CHOSEN;
    candidate.uri = (*device)->info().uri;
    candidate.reason = why;
    choice->device = std::move(*device);
  } else {
    candidate.status = device.error().status;
    candidate.reason = device.error().message;
  }
  choice->candidates.push_back(std::move(candidate));
}

AutoChoice follow_environment(const std::string& wanted) {
  AutoChoice choice;
  const std::string why = "KM_DEVICE is '" + wanted + "'";
  try_candidate(wanted, why, &choice);
  for (const char* uri : kPreferred) {
    if (backend_of(uri) == backend_of(wanted)) continue;
    choice.candidates.push_back({uri, KM_AUTO_NOT_TRIED, KM_SUCCESS, why});
  }
  return choice;
}

}  // namespace

AutoChoice choose_device() {
  const std::string wanted = env(EnvVar::KM_DEVICE).value_or("auto");
  if (wanted != "auto") return follow_environment(wanted);
  AutoChoice choice;
  for (const char* uri : kPreferred) {
    if (!choice.device) {
      const bool is_first = choice.candidates.empty();
      try_candidate(uri, is_first ? "the first that is tried works" : "the first that works",
                    &choice);
    } else {
      const std::string why = std::string(choice.device->info().uri) + " works and comes first";
      choice.candidates.push_back({uri, KM_AUTO_NOT_TRIED, KM_SUCCESS, why});
    }
  }
  return choice;
}

Result<Ref<Device>> open_automatically() {
  AutoChoice choice = choose_device();
  std::string others;
  for (const AutoCandidate& candidate : choice.candidates) {
    if (candidate.outcome == KM_AUTO_CHOSEN) {
      log(LogLevel::kInfo, "device", "auto: %s (%s), %s%s", candidate.uri.c_str(),
          choice.device->info().name, candidate.reason.c_str(), others.c_str());
      return std::move(choice.device);
    }
    others += "; " + candidate.uri + ": " + candidate.reason;
  }
  const AutoCandidate& first = choice.candidates.front();
  if (choice.candidates.back().outcome == KM_AUTO_NOT_TRIED) {
    return make_error(first.status, "KM_DEVICE: %s", first.reason.c_str());
  }
  return make_error(KM_ERROR_NO_DEVICE, "no device works here%s", others.c_str());
}

}  // namespace km
