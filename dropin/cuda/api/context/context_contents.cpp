#include "dropin/cuda/api/context/context_contents.h"

#include "core/context/call_findings.h"
#include "core/object/callback.h"
#include "dropin/cuda/graph/graph.h"
#include "dropin/cuda/memory/pool.h"
#include "dropin/cuda/memory/virtual_memory.h"
#include "dropin/cuda/module/module.h"
#include "dropin/cuda/stream/context_streams.h"
#include "dropin/cuda/texture/texture.h"
#include "dropin/cuda/texture/texture_reference.h"

namespace km::dropin {
namespace {

/// Ends the handles of all objects of one type that belong to a context.
template <class T>
void retire_all(const Context& context) {
  std::vector<uint64_t> ids;
  table_of<T>().for_each_live([&](uint64_t id, Object& object) {
    if (&static_cast<T&>(object).context() == &context) ids.push_back(id);
  });
  for (const uint64_t id : ids) table_of<T>().destroy(id);
}

CUresult begin_contents(Context& context) {
  CU_TRY(VirtualMemory::instance().enter(context));
  return enter_pools(context);
}

void end_contents(Context& context, const MayBlock& may_block) {
  static_cast<void>(context.core()->synchronize(may_block));
  report_leaked_memory(*context.core());
  retire_all<Event>(context);
  retire_all<Stream>(context);
  ContextStreams::of(context).drop_ending();
  retire_all<Module>(context);
  retire_all<GraphExec>(context);
  retire_all<Graph>(context);
  forget_references(context);
  destroy_images(context);
  retire_arrays(context);
  VirtualMemory::instance().leave(context);
  table_of<Library>().for_each_live(
      [&](uint64_t, Object& library) { static_cast<Library&>(library).forget(context); });
  table_of<Pool>().for_each_live(
      [&](uint64_t, Object& pool) { static_cast<Pool&>(pool).forget(context); });
  const std::vector<Allocation> memory = Driver::instance().take_all(context.id());
  for (const Allocation& each : memory) {
    if (each.kind == AllocationKind::kDevice) context.device().unreserve(each.size_bytes);
  }
  ContextStreams::of(context).drop_defaults();
}

void drop_unused() {
  trim_pools();
  end_unread_images();
}

constexpr ContextHooks kHooks = {ContextStreams::make, begin_contents, end_contents, drop_unused};

}  // namespace

void connect_contexts() { set_context_hooks(kHooks); }

}  // namespace km::dropin
