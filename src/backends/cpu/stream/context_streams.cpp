#include "backends/cpu/stream/context_streams.h"

#include <algorithm>
#include <span>
#include <vector>

#include "backends/cpu/command/check_report.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/order/stream_order.h"
#include "backends/cpu/stream/stream.h"
#include "backends/cpu/threads/futex.h"

namespace km::cpu {
namespace {

void drop_queued(std::span<Stream* const> streams) {
  for (Stream* stream : streams) stream->cancel_park();
  // Two passes are needed, because a graph that was just started may have put work into streams
  // that were empty.
  for (int pass = 0; pass < 2; ++pass) {
    for (Stream* stream : streams) stream->wait(stream->submitted(), kForever);
  }
}

}  // namespace

void drain(const Context& context) {
  for (Stream* stream : context.streams()) {
    const StreamOrder::Clock known = stream->known_order();
    stream->wait(stream->submitted(), kForever);
    StreamOrder::note_wait(known);
  }
}

bool is_idle(const Context& context) {
  const std::vector<Stream*> streams = context.streams();
  return std::all_of(streams.begin(), streams.end(),
                     [](const Stream* stream) { return stream->is_complete(stream->submitted()); });
}

void add_uses(const Context& context, std::vector<kmb_use>* uses) {
  for (Stream* stream : context.streams()) uses->push_back({to(stream), stream->submitted()});
}

void set_peer(Context& context, const Context& peer, bool enabled) {
  const std::shared_ptr<Allocations>& own = context.shared_allocations();
  if (enabled) return own->add_peer(peer.shared_allocations());
  std::vector<kmb_use> uses;
  add_uses(context, &uses);
  when_all_complete(uses, [own, peer = peer.shared_allocations(), last = own->last_peer()] {
    own->drop_peer(peer, last);
  });
}

void reset(Context& context) {
  // A kernel that the reset stops could have freed its memory later.
  if (is_idle(context)) report_kernel_memory(context);
  context.reset(drop_queued);
}

}  // namespace km::cpu
