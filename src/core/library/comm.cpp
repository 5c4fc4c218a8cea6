#include "core/library/comm.h"

#include "core/object/backend_call.h"

namespace km {
namespace {

Status require_communicators(const Context& context) {
  if (context.backend().comm_create != nullptr && context.backend().library_submit != nullptr) {
    return {};
  }
  return make_error(KM_ERROR_NOT_SUPPORTED, "device %s has no communicators",
                    context.device().info().uri);
}

}  // namespace

Result<km_comm_id> make_comm_id(Context& context) {
  KM_TRY(require_communicators(context));
  km_comm_id id{};
  KM_TRY(call_backend(context.backend().comm_id_create, context.device().native(), &id));
  return id;
}

Result<Ref<CommEngine>> CommEngine::create(Context& context, const km_comm_id& id,
                                           uint32_t rank_count, uint32_t rank, const MayBlock&) {
  KM_TRY(require_communicators(context));
  KM_TRY(context.sticky());
  Ref<CommEngine> engine = Ref<CommEngine>::adopt(new CommEngine(context));
  kmb_comm* native = nullptr;
  KM_TRY(call_backend(context.backend().comm_create, context.native(), &id, rank_count, rank,
                      &native));
  engine->take(native);
  return engine;
}

Result<Ref<CommEngine>> CommEngine::split(int32_t color, int32_t key, const MayBlock&) {
  Ref<CommEngine> engine = Ref<CommEngine>::adopt(new CommEngine(context()));
  kmb_comm* native = nullptr;
  KM_TRY(call_backend(backend().comm_split, native_, color, key, &native));
  if (native == nullptr) return Ref<CommEngine>();
  engine->take(native);
  return engine;
}

void CommEngine::take(kmb_comm* native) {
  native_ = native;
  backend().comm_info(native, &info_);
}

CommEngine::~CommEngine() {
  if (native_ != nullptr) backend().comm_destroy(native_);
}

Status CommEngine::status() const { return call_backend(backend().comm_status, native_); }

Status Comm::order_in(Stream& stream) {
  if (!last_stream_ || last_stream_->number() == stream.number()) return {};
  if (last_stream_->is_over(last_ticket_)) return {};
  return stream.wait_for(*last_stream_, last_ticket_);
}

void Comm::note(Stream& stream, uint64_t ticket) {
  if (last_stream_.get() != &stream) last_stream_ = Ref<Stream>::share(stream);
  last_ticket_ = ticket;
}

CommBatch::CommBatch(Context& context, std::span<const CommRequest> requests)
    : ContextChild(context) {
  operations_.reserve(requests.size());
  engines_.reserve(requests.size());
  for (const CommRequest& each : requests) {
    operations_.push_back(each.operation);
    engines_.push_back(Ref<CommEngine>::share(each.comm->engine()));
  }
}

}  // namespace km
