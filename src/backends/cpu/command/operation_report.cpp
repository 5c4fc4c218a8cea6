#include "backends/cpu/command/operation_report.h"

#include <algorithm>
#include <utility>

#include "backends/cpu/device/context.h"
#include "backends/cpu/execution/diagnose.h"
#include "base/text.h"

namespace km::cpu {
namespace {

std::string stream_text(const QueuedOperation& operation) {
  return "stream " + std::to_string(operation.stream);
}

const char* verb_of(Touch touch) {
  switch (touch) {
    case Touch::read:
    case Touch::strong_read:
      return "read";
    case Touch::write:
      return "write";
    case Touch::strong_write:
      break;
  }
  return "atomic or volatile write";
}

/// The instruction that has accessed an address: of several, the one that has accessed least.
std::string position_at(const StreamConflict::Side& side, uint64_t address) {
  const AccessOrigin::Place* best = nullptr;
  for (const AccessOrigin::Place& place : side.origin->places) {
    const TouchedMemory::Place& memory = place.memory;
    if (memory.touch != side.touch || address < memory.begin || address >= memory.end) continue;
    const bool is_less =
        best == nullptr || memory.end - memory.begin < best->memory.end - best->memory.begin;
    if (is_less) best = &place;
  }
  return best != nullptr ? best->position : std::string();
}

/// "kernel f in stream 2, node 3 of a graph".
std::string work_text(const AccessOrigin& origin) {
  std::string text = (origin.is_kernel ? "kernel " : "") + origin.name;
  if (origin.operation->nodes != nullptr) {
    text += " (node " + std::to_string(origin.node) + " of a graph)";
  }
  return text + " in " + stream_text(*origin.operation);
}

FindingPlace place_of(const StreamConflict::Side& side, const StreamConflict& conflict) {
  FindingPlace place;
  place.what = std::string(verb_of(side.touch)) + " of " + counted(conflict.size_bytes, "byte");
  place.position = position_at(side, conflict.address);
  place.work = work_text(*side.origin);
  return place;
}

std::string advice_for(const StreamConflict& conflict) {
  const AccessOrigin &first = *conflict.first.origin, &second = *conflict.second.origin;
  if (first.operation == second.operation) {
    return "No edges of the graph lead from one of these nodes to the other: add a dependency.";
  }
  return "No event, wait or synchronisation orders them: record an event in " +
         stream_text(*first.operation) + " after the first and let " +
         stream_text(*second.operation) +
         " wait for it (cudaStreamWaitEvent), or wait on the host in between.";
}

Finding finding_of(const StreamConflict& conflict, const Allocations& allocations) {
  const AccessOrigin &first = *conflict.first.origin, &second = *conflict.second.origin;
  const bool is_one_graph = first.operation == second.operation;
  Finding finding;
  finding.tool = "streams";
  finding.kind = !writes(conflict.second.touch) ? "write-read"
                 : writes(conflict.first.touch) ? "write-write"
                                                : "read-write";
  finding.kernel = second.is_kernel ? second.name : first.is_kernel ? first.name : std::string();
  finding.message = std::string(is_one_graph ? "nodes of a graph" : "two streams") +
                    " access the same memory without an order between them";
  finding.place = place_of(conflict.second, conflict);
  finding.other = place_of(conflict.first, conflict);
  finding.address = conflict.address;
  finding.size_bytes = conflict.size_bytes;
  finding.allocation = hex(conflict.address) + ", " + text_of(allocations.locate(conflict.address));
  finding.advice = advice_for(conflict);
  return finding;
}

void report(const std::shared_ptr<const AccessOrigin>& origin, std::vector<PageTouches>& pages,
            Context& context) {
  if (pages.empty()) return;
  for (const StreamConflict& conflict : StreamOrder::active()->access(origin, pages)) {
    if (!context.checks().has(check_tool::kStreams)) continue;
    context.checks().add(finding_of(conflict, context.allocations()));
  }
}

std::shared_ptr<AccessOrigin> origin_of(const Author& author, std::string name) {
  auto origin = std::make_shared<AccessOrigin>();
  origin->operation = author.operation;
  origin->node = author.node;
  origin->name = std::move(name);
  return origin;
}

void report_kernel(const LaunchRun& run, const Author& author, Context& context) {
  const LaunchChecks* const checks = run.checks.get();
  if (checks == nullptr || checks->touched() == nullptr) return;
  // The host may know of what the kernel did before it ended, and tell other streams.
  if (checks->meets_host()) return StreamOrder::active()->meet_host(*author.operation);
  std::vector<PageTouches> pages = checks->touched()->pages();
  StreamOrder::active()->keep_followed(pages);
  if (pages.empty()) return;
  const std::shared_ptr<AccessOrigin> origin = origin_of(author, run.unit->kernel_name());
  origin->is_kernel = true;
  origin->has_fences = checks->has_fences();
  for (const TouchedMemory::Place& place : checks->touched()->places()) {
    origin->places.push_back({place, position_of_line(*run.unit, place.line)});
  }
  report(origin, pages, context);
}

const char* name_of(const Transfer& transfer) {
  if (transfer.is_fill()) return "a fill";
  switch (transfer.kind) {
    case KM_PROFILE_KIND_UPLOAD:
      return "a copy from the host";
    case KM_PROFILE_KIND_DOWNLOAD:
      return "a copy to the host";
    default:
      return "a copy";
  }
}

/// Adds the pages of one side of a transfer, in the order of their addresses.
void add_rows(const Transfer& transfer, bool is_source, std::vector<PageTouches>* pages) {
  StreamOrder& order = *StreamOrder::active();
  const uint64_t begin = is_source ? transfer.source : transfer.destination;
  const Touch touch = is_source ? Touch::read : Touch::write;
  const TransferRows& rows = transfer.rows;
  const auto add = [&](uint64_t address, uint64_t size_bytes) {
    for (PageTouches& page : order.pages_of(address, size_bytes, touch)) {
      if (pages->empty() || pages->back().page != page.page) {
        pages->push_back(std::move(page));
      } else {
        pages->back().of(touch).add(page.of(touch));
      }
    }
  };
  if (rows.count == 0) return add(begin, transfer.size_bytes);
  const uint64_t pitch = is_source ? rows.source_pitch : rows.destination_pitch;
  const uint64_t layer = is_source ? rows.source_layer : rows.destination_layer;
  for (uint64_t row = 0; row < rows.count; ++row) {
    add(begin + row / rows.height * layer + row % rows.height * pitch, rows.width_bytes);
  }
}

}  // namespace

void report_values(std::span<const kmb_memory_op> ops, const Author& author, Context& context) {
  StreamOrder& order = *StreamOrder::active();
  std::vector<PageTouches> pages;
  for (const kmb_memory_op& op : ops) {
    if (op.kind != KMB_MEMORY_WRITE) {
      order.receive(*author.operation, op.address);
      continue;
    }
    // Whoever waits for a number means it to change at any time.
    std::vector<PageTouches> written =
        order.pages_of(op.address, op.value_size_bytes, Touch::strong_write);
    std::move(written.begin(), written.end(), std::back_inserter(pages));
  }
  report(origin_of(author, "a write of a value"), pages, context);
}

void report_accesses(const Transfer& transfer, const Author& author, Context& context) {
  std::vector<PageTouches> pages;
  add_rows(transfer, false, &pages);
  // A page of both sides comes twice, which is as good: one origin's accesses have an order.
  if (!transfer.is_fill()) add_rows(transfer, true, &pages);
  report(origin_of(author, name_of(transfer)), pages, context);
}

void report_accesses(const Command& command, const Author& author, Context& context) {
  switch (command.kind) {
    case CommandKind::kernel:
      return report_kernel(command.run, author, context);
    case CommandKind::transfer:
      return report_accesses(command.transfer, author, context);
    default:
      return;
  }
}

}  // namespace km::cpu
