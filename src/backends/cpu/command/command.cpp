#include "backends/cpu/command/command.h"

#include <new>

#include "backends/cpu/command/task.h"
#include "backends/cpu/order/queued_operation.h"

namespace km::cpu {

namespace {

km_profile_kind kind_of(const kmb_copy_3d& copy) {
  if (copy.source_space != KMB_SPACE_DEVICE) return KM_PROFILE_KIND_UPLOAD;
  return copy.destination_space != KMB_SPACE_DEVICE ? KM_PROFILE_KIND_DOWNLOAD
                                                    : KM_PROFILE_KIND_COPY;
}

}  // namespace

Transfer rows_transfer(const kmb_copy_3d& copy) {
  Transfer transfer;
  transfer.kind = kind_of(copy);
  transfer.destination = copy.destination;
  transfer.source = copy.source;
  transfer.size_bytes = copy.width_bytes * copy.height * copy.depth;
  transfer.rows = {.width_bytes = copy.width_bytes,
                   .height = copy.height,
                   .count = copy.height * copy.depth,
                   .destination_pitch = copy.destination_pitch_bytes,
                   .destination_layer = copy.destination_pitch_bytes * copy.destination_layer_rows,
                   .source_pitch = copy.source_pitch_bytes,
                   .source_layer = copy.source_pitch_bytes * copy.source_layer_rows};
  return transfer;
}

Transfer rows_transfer(const kmb_fill_2d& fill) {
  Transfer transfer;
  transfer.kind = KM_PROFILE_KIND_FILL;
  transfer.destination = fill.destination;
  transfer.size_bytes = fill.width_bytes * fill.height;
  transfer.value = fill.value;
  transfer.value_size_bytes = fill.value_size_bytes;
  transfer.rows.width_bytes = fill.width_bytes;
  transfer.rows.height = fill.height;
  transfer.rows.count = fill.height;
  transfer.rows.destination_pitch = fill.pitch_bytes;
  return transfer;
}

Command::Command() = default;
Command::~Command() = default;

uint8_t* Command::allocate_params(uint64_t size_bytes) {
  if (size_bytes <= kInlineParamBytes) return params;
  has_more = true;
  large_params.reset(new (std::nothrow) uint8_t[size_bytes]);
  return large_params.get();
}

void Command::release() {
  failure = nullptr;
  marker = nullptr;
  if (!has_more) [[likely]]
    return;
  has_more = false;
  staging.reset();
  large_params.reset();
  task.reset();
  memory_ops.reset();
  launches.reset();
  operation.reset();
}

}  // namespace km::cpu
