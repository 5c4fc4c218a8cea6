#include "backends/vulkan/memory/copy.h"

#include <cinttypes>
#include <cstring>

#include "backends/vulkan/device/buffer.h"
#include "backends/vulkan/stream/context.h"
#include "backends/vulkan/stream/scheduler.h"

namespace km::vulkan {
namespace {

// Larger copies of pageable memory use its pages, where the driver can; smaller ones are staged.
constexpr uint64_t kLeastImportedBytes = 1 << 20;

/// One side of a copy: rows in device memory, in host memory, or in a buffer of the backend.
struct Side {
  uint64_t address = 0;
  uint64_t pitch_bytes = 0, layer_rows = 0;
  uint32_t space = KMB_SPACE_DEVICE;
  std::shared_ptr<Buffer> buffer;  // if not null: its bytes are those at `address`
};

struct RowCopy {
  uint64_t width_bytes = 0, height = 0, depth = 0;
  Side destination, source;

  explicit RowCopy(const kmb_copy_3d& copy)
      : width_bytes(copy.width_bytes), height(copy.height), depth(copy.depth) {
    destination = {copy.destination, copy.destination_pitch_bytes, copy.destination_layer_rows,
                   copy.destination_space, nullptr};
    source = {copy.source, copy.source_pitch_bytes, copy.source_layer_rows, copy.source_space,
              nullptr};
  }
  uint64_t size_bytes() const { return width_bytes * height * depth; }
  uint64_t extent_bytes(const Side& side) const {
    return ((depth - 1) * side.layer_rows + height - 1) * side.pitch_bytes + width_bytes;
  }
  /// CUDA allows such copies; Vulkan does not.
  bool is_onto_itself() const {
    return destination.space == source.space && destination.address == source.address;
  }
  bool is_flat(const Side& side) const {
    return (side.pitch_bytes == width_bytes || height * depth == 1) &&
           (side.layer_rows == height || depth == 1);
  }
  /// A staging buffer in place of a side: its rows have no gaps.
  Side staged(std::shared_ptr<Buffer> buffer) const {
    return {0, width_bytes, height, KMB_SPACE_DEVICE, std::move(buffer)};
  }
  uint64_t row_offset(const Side& side, uint64_t z, uint64_t y) const {
    return (z * side.layer_rows + y) * side.pitch_bytes;
  }
};

Result<BufferPlace> place_of(Epoch& epoch, const RowCopy& copy, const Side& side) {
  if (side.buffer) return side.buffer->place();
  const BufferMap& map =
      side.space == KMB_SPACE_DEVICE ? epoch.device_memory() : epoch.host_memory();
  const uint64_t extent = copy.extent_bytes(side);
  if (const std::optional<BufferPlace> found = map.find(side.address, extent)) return *found;
  return make_error(KM_ERROR_ILLEGAL_ADDRESS,
                    "a copy of %" PRIu64 " bytes at %#" PRIx64 " is outside of all memory", extent,
                    side.address);
}

Status record_copy(Commands& commands, Epoch& epoch, const RowCopy& copy) {
  KM_ASSIGN(const BufferPlace to, place_of(epoch, copy, copy.destination));
  KM_ASSIGN(const BufferPlace from, place_of(epoch, copy, copy.source));
  if (copy.is_flat(copy.destination) && copy.is_flat(copy.source)) {
    commands.copy(to, from, copy.size_bytes());
    return {};
  }
  std::vector<VkBufferCopy> regions;
  regions.reserve(copy.height * copy.depth);
  for (uint64_t z = 0; z < copy.depth; ++z) {
    for (uint64_t y = 0; y < copy.height; ++y) {
      regions.push_back({.srcOffset = from.offset_bytes + copy.row_offset(copy.source, z, y),
                         .dstOffset = to.offset_bytes + copy.row_offset(copy.destination, z, y),
                         .size = copy.width_bytes});
    }
  }
  commands.copy(to.buffer, from.buffer, regions);
  return {};
}

/// Copies rows of host memory to a staging buffer, or from one.
void copy_rows(const RowCopy& copy, const Side& host, const Buffer& staging, bool is_to_staging) {
  const Side tight = copy.staged(nullptr);
  auto* const base = static_cast<uint8_t*>(staging.mapped());
  for (uint64_t z = 0; z < copy.depth; ++z) {
    for (uint64_t y = 0; y < copy.height; ++y) {
      auto* const outside = reinterpret_cast<uint8_t*>(host.address + copy.row_offset(host, z, y));
      uint8_t* const inside = base + copy.row_offset(tight, z, y);
      std::memcpy(is_to_staging ? inside : outside, is_to_staging ? outside : inside,
                  copy.width_bytes);
    }
  }
}

/// True if the copy has to take the way over a staging buffer at this side.
bool needs_staging(Epoch& epoch, const RowCopy& copy, const Side& side) {
  if (side.buffer || side.space == KMB_SPACE_DEVICE) return false;
  return side.space == KMB_SPACE_HOST ||
         !epoch.host_memory().find(side.address, copy.extent_bytes(side));
}

Result<Step> make_step(Stream& stream, RowCopy copy) {
  Step step;
  if (copy.size_bytes() == 0 || copy.is_onto_itself()) return step;
  Epoch& epoch = stream.epoch();
  std::function<void()> before;
  if (needs_staging(epoch, copy, copy.source)) {
    const Side host = copy.source;
    KM_ASSIGN(const std::shared_ptr<Buffer> staging,
              stream.workspace().staging->take(copy.size_bytes()));
    const auto read = [copy, host, staging] { copy_rows(copy, host, *staging, true); };
    if (host.space == KMB_SPACE_HOST) {
      read();
    } else {  // page-locked memory of another context: it is read in the stream's order
      before = read;
      step.follows_all = true;
    }
    copy.source = copy.staged(staging);
  }
  if (needs_staging(epoch, copy, copy.destination)) {
    const Side host = copy.destination;
    KM_ASSIGN(const std::shared_ptr<Buffer> staging,
              stream.workspace().staging->take(copy.size_bytes()));
    step.finish = [copy, host, staging]() -> Status {
      copy_rows(copy, host, *staging, false);
      return {};
    };
    copy.destination = copy.staged(staging);
  }
  step.record = [copy, before, epoch = &epoch](Commands& commands) -> Status {
    if (before) before();
    return record_copy(commands, *epoch, copy);
  };
  return step;
}

/// Uses the pages of a large pageable side as they are. The caller waits for the copy.
void import_pages(Stream& stream, const RowCopy& copy, Side* side) {
  if (side->space != KMB_SPACE_HOST || copy.extent_bytes(*side) < kLeastImportedBytes) return;
  Result<std::unique_ptr<Buffer>> pages = Buffer::of_pages(
      stream.workspace().epoch, reinterpret_cast<void*>(side->address), copy.extent_bytes(*side));
  if (pages) side->buffer = std::move(*pages);  // if not, the side is staged
}

/// Queues a copy, and waits if the host's side is pageable and must be over when the call returns.
km_status copy_and_wait(kmb_stream* handle, const kmb_copy_3d& given, const kmb_queued* queued,
                        uint64_t* out_ticket, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Stream& stream = *from(handle);
    KM_TRY(stream.epoch().require_alive());
    RowCopy copy(given);
    if (copy.size_bytes() != 0) {
      import_pages(stream, copy, &copy.source);
      import_pages(stream, copy, &copy.destination);
    }
    const bool waits = copy.source.buffer || copy.destination.space == KMB_SPACE_HOST;
    KM_ASSIGN(Step step, make_step(stream, std::move(copy)));
    KM_ASSIGN(const uint64_t ticket, stream.add(std::move(step)));
    if (waits) {
      if (queued != nullptr) queued->call(queued->user_data, ticket);
      stream.wait_for(ticket);
      KM_TRY(stream.epoch().require_alive());
    }
    *out_ticket = ticket;
    return {};
  });
}

}  // namespace

kmb_copy_3d copy_of_bytes(uint64_t destination, uint32_t destination_space, uint64_t source,
                          uint32_t source_space, uint64_t size_bytes) {
  return {.destination = destination,
          .source = source,
          .destination_space = destination_space,
          .source_space = source_space,
          .width_bytes = size_bytes,
          .height = 1,
          .depth = 1,
          .destination_pitch_bytes = size_bytes,
          .destination_layer_rows = 1,
          .source_pitch_bytes = size_bytes,
          .source_layer_rows = 1};
}

Result<Step> copy_step(Stream& stream, const kmb_copy_3d& copy) {
  return make_step(stream, RowCopy(copy));
}

km_status copy_to_device(kmb_stream* stream, uint64_t destination, const void* source,
                         uint64_t size_bytes, uint32_t pinned, const kmb_queued* queued,
                         uint64_t* out_ticket, kmb_error* error) {
  const uint32_t space = pinned != 0 ? KMB_SPACE_HOST_PINNED : KMB_SPACE_HOST;
  return copy_and_wait(stream,
                       copy_of_bytes(destination, KMB_SPACE_DEVICE,
                                     reinterpret_cast<uint64_t>(source), space, size_bytes),
                       queued, out_ticket, error);
}

km_status copy_to_host(kmb_stream* stream, void* destination, uint64_t source, uint64_t size_bytes,
                       uint32_t pinned, const kmb_queued* queued, uint64_t* out_ticket,
                       kmb_error* error) {
  const uint32_t space = pinned != 0 ? KMB_SPACE_HOST_PINNED : KMB_SPACE_HOST;
  return copy_and_wait(stream,
                       copy_of_bytes(reinterpret_cast<uint64_t>(destination), space, source,
                                     KMB_SPACE_DEVICE, size_bytes),
                       queued, out_ticket, error);
}

km_status copy_on_device(kmb_stream* stream, uint64_t destination, uint64_t source,
                         uint64_t size_bytes, uint64_t* out_ticket, kmb_error* error) {
  return enqueue(stream, out_ticket, error, [&](Stream& target) {
    return copy_step(
        target, copy_of_bytes(destination, KMB_SPACE_DEVICE, source, KMB_SPACE_DEVICE, size_bytes));
  });
}

km_status copy_3d(kmb_stream* stream, const kmb_copy_3d* copy, const kmb_queued* queued,
                  uint64_t* out_ticket, kmb_error* error) {
  return copy_and_wait(stream, *copy, queued, out_ticket, error);
}

Result<Step> peer_copy_step(const kmb_copy_peer_node& copy) {
  const auto to = from(copy.destination_context)->workspace();
  const auto source = from(copy.source_context)->workspace();
  KM_TRY(to->epoch->require_alive());
  KM_TRY(source->epoch->require_alive());
  if (!to->epoch->adapter().shares_host_memory() ||
      !source->epoch->adapter().shares_host_memory()) {
    return make_error(KM_ERROR_NOT_SUPPORTED,
                      "contexts on %s have no copies between them: the host does not reach their "
                      "memory; copy through host memory",
                      device_uri(to->epoch->adapter()).c_str());
  }
  Step step;
  step.follows_all = true;
  step.record = [copy, to, source](Commands&) -> Status {
    const auto target = to->epoch->device_memory().find(copy.destination, copy.size_bytes);
    const auto begin = source->epoch->device_memory().find(copy.source, copy.size_bytes);
    // A context that was reset since has lost its memory, and the copy with it.
    if (target && begin) std::memcpy(target->mapped, begin->mapped, copy.size_bytes);
    return {};
  };
  return step;
}

km_status copy_peer(kmb_stream* stream, kmb_context* destination_context, uint64_t destination,
                    kmb_context* source_context, uint64_t source, uint64_t size_bytes,
                    uint64_t* out_ticket, kmb_error* error) {
  return enqueue(stream, out_ticket, error, [&](Stream&) {
    return peer_copy_step({destination, source, size_bytes, destination_context, source_context});
  });
}

}  // namespace km::vulkan
