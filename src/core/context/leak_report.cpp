#include "core/context/leak_report.h"

#include <cinttypes>
#include <cstdio>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/process/at_exit.h"
#include "base/text.h"
#include "core/context/context.h"
#include "core/object/handles.h"

namespace km {
namespace {

constexpr const char* kArea = "memory";
constexpr size_t kMostLines = 20;

// Calls `visit(type, id, child)` for each live handle to one of a context's objects.
template <class Visit>
void for_each_child(Visit&& visit) {
  for (uint8_t number = 0; number < kObjectTypeCount; ++number) {
    const auto type = static_cast<ObjectType>(number);
    if (type == ObjectType::kMemory) continue;  // internal handles
    handle_table(type).for_each_live([&](uint64_t id, Object& object) {
      if (auto* child = dynamic_cast<ContextChild*>(&object)) visit(type, id, *child);
    });
  }
}

struct Leaks {
  uint64_t counts[kObjectTypeCount] = {};
  uint64_t total = 0, slice_bytes = 0;
  std::vector<std::string> lines;

  void add(ObjectType type, uint64_t id, ContextChild& child);
  std::string summary() const;
};

void Leaks::add(ObjectType type, uint64_t id, ContextChild& child) {
  ++counts[static_cast<uint8_t>(type)];
  ++total;
  const std::optional<ContextChild::HeldMemory> held = child.held_memory();
  if (held) slice_bytes += held->size_bytes;
  if (lines.size() >= kMostLines) return;
  char head[128];
  std::snprintf(head, sizeof head, "  %s 0x%" PRIx64, handle_type_name(type), id);
  std::string line = head;
  if (held) {
    const Result<TrackedAllocation> tracked = child.context().tracker().find(held->tracking_id);
    line += ": " + (tracked ? tracked->describe() : counted(held->size_bytes, "byte"));
    const std::string stack = tracked ? tracked->stack.lines() : std::string();
    if (!stack.empty()) line += "; made at\n" + stack.substr(0, stack.size() - 1);
  }
  lines.push_back(std::move(line));
}

std::string Leaks::summary() const {
  std::string text;
  for (uint8_t number = 0; number < kObjectTypeCount; ++number) {
    if (counts[number] == 0) continue;
    if (!text.empty()) text += ", ";
    text +=
        std::to_string(counts[number]) + " " + handle_type_name(static_cast<ObjectType>(number));
  }
  return text;
}

LogLevel level_of(Context& context) {
  return context.tracker().is_asked_for() ? LogLevel::kWarn : LogLevel::kInfo;
}

void say(Context& context, const char* when) {
  const LogLevel level = level_of(context);
  if (!log_enabled(level, kArea)) return;
  Leaks leaks;
  for_each_child([&](ObjectType type, uint64_t id, ContextChild& child) {
    if (&child.context() == &context) leaks.add(type, id, child);
  });
  if (leaks.total == 0) return;
  log(level, kArea, "%s, a context of %s has %s: %s (%s in slices)", when,
      context.device().info().uri, counted(leaks.total, "live object").c_str(),
      leaks.summary().c_str(), counted(leaks.slice_bytes, "byte").c_str());
  for (const std::string& line : leaks.lines)
    log_text(static_cast<int32_t>(level), kArea, line.c_str());
  if (leaks.total > leaks.lines.size()) {
    log(level, kArea, "  and %" PRIu64 " more", leaks.total - leaks.lines.size());
  }
}

void at_exit(int) {
  try {
    std::set<Context*> contexts;
    std::vector<Ref<Context>> kept;
    for_each_child([&](ObjectType, uint64_t, ContextChild& child) {
      if (contexts.insert(&child.context()).second) {
        kept.push_back(Ref<Context>::share(child.context()));
      }
    });
    for (const Ref<Context>& context : kept) {
      say(*context, "at exit");
      static_cast<void>(
          // The reference is leaked, because the process ends and destructors must not run.
          Ref<Context>(context).release());
    }
  } catch (const std::bad_alloc&) {
    log(LogLevel::kWarn, kArea, "no memory for the report of leaks");
  }
}

}  // namespace

void report_leaks(Context& context) {
  try {
    say(context, "when its last handle was destroyed");
  } catch (const std::bad_alloc&) {
    log(LogLevel::kWarn, kArea, "no memory for the report of leaks");
  }
}

void report_leaks_at_exit() {
  static const bool registered = run_at_exit(at_exit);
  static_cast<void>(registered);
}

}  // namespace km
