// Entries for copies and fills.
#include <cinttypes>

#include "backends/cpu/command/operation_report.h"
#include "backends/cpu/command/work.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/order/stream_order.h"
#include "backends/cpu/stream/profile.h"
#include "backends/cpu/stream/stream.h"
#include "backends/cpu/threads/futex.h"
#include "base/text.h"

namespace km::cpu {
namespace {

// Pageable sources up to this size are copied, so that the call does not wait.
constexpr uint64_t kStagedBytes = 64 << 10;
// Copies up to this size run at once if the stream is idle.
constexpr uint64_t kInlineBytes = 64 << 10;

/// When the caller may use its side of the copy again.
enum class HostSide : uint8_t {
  asynchronous,  // it is page-locked, or there is none
  source,        // pageable and read: the call returns after it was read
  destination,   // pageable and written: the call returns after it was written
};

Status failure_status(const CopyFailure& failure, const Transfer& transfer,
                      const Allocations& allocations) {
  if (!failure.failed) return {};
  std::string source = transfer.is_fill() ? "" : " from " + hex(transfer.source);
  std::string where = allocations.locate(failure.address).text;
  return make_error(
      KM_ERROR_INVALID_ARGUMENT, "cannot %s %s%s to %s: there is no accessible memory at %s%s%s",
      transfer.is_fill() ? "fill" : "copy", counted(transfer.size_bytes, "byte").c_str(),
      source.c_str(), hex(transfer.destination).c_str(), hex(failure.address).c_str(),
      where.empty() ? "" : ", ", where.c_str());
}

/// Copies the source to the command, so that the call need not wait.
Status stage(Stream* stream, Command* command, CopyFailure* out_failure) {
  Transfer aside = command->transfer;
  command->has_more = true;
  command->staging.reset(new (std::nothrow) uint8_t[aside.size_bytes]);
  if (command->staging == nullptr) {
    stream->discard(command);
    throw std::bad_alloc();
  }
  aside.destination = reinterpret_cast<uint64_t>(command->staging.get());
  aside.rows.destination_pitch = aside.rows.width_bytes;
  aside.rows.destination_layer = aside.rows.width_bytes * aside.rows.height;
  if (!transfer_now(aside, out_failure)) {
    Status failed =
        failure_status(*out_failure, command->transfer, stream->context()->allocations());
    stream->discard(command);
    return failed;
  }
  command->transfer.source = aside.destination;
  command->transfer.rows.source_pitch = aside.rows.destination_pitch;
  command->transfer.rows.source_layer = aside.rows.destination_layer;
  return {};
}

Status enqueue(Stream* stream, const Transfer& transfer, HostSide host, const kmb_queued* queued,
               uint64_t* out_ticket) {
  Context* context = stream->context();
  KM_TRY(context->check());
  CopyFailure failure;
  uint64_t ticket = 0;
  if (transfer.size_bytes <= kInlineBytes && stream->begin_inline(&ticket)) {
    const uint64_t begin_ns = context->is_profiling() ? now_ns() : 0;
    transfer_now(transfer, &failure);
    if (begin_ns != 0) [[unlikely]]
      record_transfer(*context, stream, transfer, begin_ns);
    StreamOrder* const order = StreamOrder::active();
    if (order != nullptr && stream->is_followed()) [[unlikely]] {
      const StreamOrder::Operation operation = order->queue(stream->order_number(), ticket);
      report_accesses(transfer, {operation, 0}, *context);
      order->end(*operation);
    }
    stream->end_inline(ticket);
    if (host == HostSide::destination) StreamOrder::note_wait(stream->known_order());
    KM_TRY(failure_status(failure, transfer, context->allocations()));
    *out_ticket = ticket;
    return {};
  }
  Command* command = new_command(stream, CommandKind::transfer);
  command->transfer = transfer;
  bool staged = host == HostSide::source && transfer.size_bytes <= kStagedBytes;
  if (staged) KM_TRY(stage(stream, command, &failure));
  if (staged || host == HostSide::asynchronous) {
    *out_ticket = stream->submit(command);
    return {};
  }
  command->failure = &failure;
  ticket = stream->submit(command);
  const StreamOrder::Clock known = stream->known_order();
  if (queued != nullptr) queued->call(queued->user_data, ticket);
  stream->wait(ticket, kForever);
  // A call that has only read its source has not waited.
  if (host == HostSide::destination) StreamOrder::note_wait(known);
  KM_TRY(context->check());
  KM_TRY(failure_status(failure, transfer, context->allocations()));
  *out_ticket = ticket;
  return {};
}

}  // namespace

km_status copy_to_device(kmb_stream* stream, uint64_t destination, const void* source,
                         uint64_t size_bytes, uint32_t pinned, const kmb_queued* queued,
                         uint64_t* out_ticket, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Transfer transfer;
    transfer.kind = KM_PROFILE_KIND_UPLOAD;
    transfer.destination = destination;
    transfer.source = reinterpret_cast<uint64_t>(source);
    transfer.size_bytes = size_bytes;
    HostSide host = pinned != 0 ? HostSide::asynchronous : HostSide::source;
    return enqueue(from(stream), transfer, host, queued, out_ticket);
  });
}

km_status copy_to_host(kmb_stream* stream, void* destination, uint64_t source, uint64_t size_bytes,
                       uint32_t pinned, const kmb_queued* queued, uint64_t* out_ticket,
                       kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Transfer transfer;
    transfer.kind = KM_PROFILE_KIND_DOWNLOAD;
    transfer.destination = reinterpret_cast<uint64_t>(destination);
    transfer.source = source;
    transfer.size_bytes = size_bytes;
    HostSide host = pinned != 0 ? HostSide::asynchronous : HostSide::destination;
    return enqueue(from(stream), transfer, host, queued, out_ticket);
  });
}

km_status copy_on_device(kmb_stream* stream, uint64_t destination, uint64_t source,
                         uint64_t size_bytes, uint64_t* out_ticket, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Transfer transfer;
    transfer.destination = destination;
    transfer.source = source;
    transfer.size_bytes = size_bytes;
    return enqueue(from(stream), transfer, HostSide::asynchronous, nullptr, out_ticket);
  });
}

km_status copy_3d(kmb_stream* stream, const kmb_copy_3d* copy, const kmb_queued* queued,
                  uint64_t* out_ticket, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    const Transfer transfer = rows_transfer(*copy);
    HostSide host = HostSide::asynchronous;
    if (copy->source_space == KMB_SPACE_HOST) host = HostSide::source;
    if (copy->destination_space == KMB_SPACE_HOST) host = HostSide::destination;
    return enqueue(from(stream), transfer, host, queued, out_ticket);
  });
}

km_status copy_peer(kmb_stream* stream, kmb_context*, uint64_t destination, kmb_context*,
                    uint64_t source, uint64_t size_bytes, uint64_t* out_ticket, kmb_error* error) {
  return copy_on_device(stream, destination, source, size_bytes, out_ticket, error);
}

km_status fill_2d(kmb_stream* stream, uint64_t destination, uint64_t pitch_bytes, uint32_t value,
                  uint32_t value_size_bytes, uint64_t width_count, uint64_t height,
                  uint64_t* out_ticket, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    const Transfer transfer = rows_transfer(kmb_fill_2d{
        destination, pitch_bytes, width_count * value_size_bytes, height, value, value_size_bytes});
    return enqueue(from(stream), transfer, HostSide::asynchronous, nullptr, out_ticket);
  });
}

km_status fill(kmb_stream* stream, uint64_t destination, uint32_t value, uint32_t value_size_bytes,
               uint64_t count, uint64_t* out_ticket, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Transfer transfer;
    transfer.kind = KM_PROFILE_KIND_FILL;
    transfer.destination = destination;
    transfer.size_bytes = count * value_size_bytes;
    transfer.value = value;
    transfer.value_size_bytes = value_size_bytes;
    return enqueue(from(stream), transfer, HostSide::asynchronous, nullptr, out_ticket);
  });
}

}  // namespace km::cpu
