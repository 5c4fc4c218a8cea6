#include "core/context/call_findings.h"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <new>
#include <vector>

#include "base/fixed_text.h"
#include "base/process/at_exit.h"
#include "base/text.h"
#include "core/context/context.h"

namespace km {
namespace {

/// The contexts whose memory is reported at exit. The list is never destroyed, because it is read
/// then.
struct Watched {
  std::mutex mutex;
  std::vector<Context*> contexts;
};
Watched& watched() {
  static auto* const made = new Watched;
  return *made;
}

km_finding_place no_place() {
  km_finding_place place{};
  std::fill(std::begin(place.block), std::end(place.block), UINT32_MAX);
  std::fill(std::begin(place.thread), std::end(place.thread), UINT32_MAX);
  return place;
}

km_finding finding_of(km_check_flags tool, const char* kind, uint64_t address,
                      uint64_t size_bytes) {
  km_finding finding{};
  finding.struct_size = sizeof finding;
  finding.tool = tool;
  finding.count = 1;
  finding.address = address;
  finding.size_bytes = size_bytes;
  finding.place = finding.other = no_place();
  copy_text(finding.kind, kind);
  return finding;
}

const char* kind_of(km_allocation_kind kind) {
  switch (kind) {
    case KM_ALLOCATION_POOL:
      return "pool-memory";
    case KM_ALLOCATION_HOST:
      return "host-memory";
    case KM_ALLOCATION_FOREIGN:
      return "registered-memory";
    case KM_ALLOCATION_FILE:
      return "mapped-file";
    default:
      return "device-memory";
  }
}

void report_leak(Context& context, const TrackedAllocation& allocation) {
  const HostStack& stack = allocation.stack;
  km_finding finding = finding_of(KM_CHECK_LEAK, kind_of(allocation.kind), allocation.address,
                                  allocation.size_bytes);
  copy_text(finding.kernel, stack.call());
  copy_text(finding.place.access, "allocation of " + counted(allocation.size_bytes, "byte"));
  copy_text(finding.place.source, stack.callers());
  copy_text(finding.message, counted(allocation.size_bytes, "byte") + " of " +
                                 allocation.memory_text() + " that nothing has freed");
  if (!allocation.tag.empty()) copy_text(finding.allocation, "tag '" + allocation.tag + "'");
  copy_text(finding.advice, "Free it when it is no longer used.");
  context.add_finding(finding);
}

void at_exit(int) {
  std::vector<Ref<Context>> alive;
  {
    // The exiting thread may have been interrupted while it held the lock.
    const std::unique_lock lock(watched().mutex, std::try_to_lock);
    if (!lock) return;
    for (Context* const context : watched().contexts) {
      if (context->try_ref()) alive.push_back(Ref<Context>::adopt(context));
    }
  }
  for (Ref<Context>& context : alive) {
    report_leaked_memory(*context);
    // The reference is leaked, because the process ends and destructors must not run.
    static_cast<void>(context.release());
  }
}

}  // namespace

void report_bad_call(Context& context, const BadCall& call) noexcept {
  if (!context.checks(KM_CHECK_MEMORY)) return;
  try {
    const HostStack stack = HostStack::take(1);
    km_finding finding = finding_of(KM_CHECK_MEMORY, call.kind, call.address, call.size_bytes);
    copy_text(finding.kernel, stack.call());
    copy_text(finding.place.access,
              call.size_bytes == 0 ? "call" : counted(call.size_bytes, "byte"));
    copy_text(finding.place.source, stack.callers());
    copy_text(finding.message, call.message);
    copy_text(finding.allocation,
              hex(call.address) + ", " + context.tracker().locate(call.address));
    context.add_finding(finding);
  } catch (const std::bad_alloc&) {
  }
}

void report_leaked_memory(Context& context) noexcept {
  if (!context.checks(KM_CHECK_LEAK)) return;
  try {
    for (const TrackedAllocation& each : context.tracker().all()) report_leak(context, each);
  } catch (const std::bad_alloc&) {
  }
}

void report_leaked_memory_at_exit(Context& context) {
  static const bool registered = run_at_exit(at_exit);
  static_cast<void>(registered);
  const std::lock_guard lock(watched().mutex);
  auto& all = watched().contexts;
  if (std::find(all.begin(), all.end(), &context) == all.end()) all.push_back(&context);
}

void forget_leak_reports(Context& context) {
  const std::lock_guard lock(watched().mutex);
  std::erase(watched().contexts, &context);
}

}  // namespace km
