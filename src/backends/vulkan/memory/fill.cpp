#include "backends/vulkan/memory/fill.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstring>

namespace km::vulkan {
namespace {

constexpr uint64_t kWordBytes = 4;

/// The bytes that repeat, from byte `phase` of the value on: Vulkan fills whole words only, and the
/// first one of a fill may begin in the middle of a value.
std::array<uint8_t, kWordBytes> pattern_from(const Fill& fill, uint64_t phase) {
  std::array<uint8_t, kWordBytes> bytes{};
  for (uint64_t i = 0; i < kWordBytes; ++i) {
    const uint64_t at = (phase + i) % fill.value_size_bytes;
    bytes[i] = static_cast<uint8_t>(fill.value >> (8 * at));
  }
  return bytes;
}

uint32_t word_of(const std::array<uint8_t, kWordBytes>& bytes) {
  uint32_t word = 0;
  std::memcpy(&word, bytes.data(), sizeof word);
  return word;
}

/// One row: whole words are filled; the bytes before and after them are copied from `edges`, which
/// has the pattern from phase 0 on for 8 bytes.
void record_row(Commands& commands, const Fill& fill, BufferPlace to, BufferPlace edges) {
  const uint64_t size = fill.width_count * fill.value_size_bytes;
  const uint64_t skew = to.offset_bytes % kWordBytes;
  const uint64_t head = std::min(size, skew == 0 ? 0 : kWordBytes - skew);
  const uint64_t words = (size - head) / kWordBytes * kWordBytes;
  const uint64_t tail = size - head - words;
  if (head != 0) commands.copy(to, edges, head);
  if (words != 0) commands.fill(to.at(head), words, word_of(pattern_from(fill, head)));
  if (tail == 0) return;
  const uint64_t phase = (head + words) % fill.value_size_bytes;
  commands.copy(to.at(head + words), edges.at(phase), tail);
}

}  // namespace

Result<Step> fill_step(Stream& stream, const Fill& given) {
  Fill fill = given;
  const uint64_t row = fill.width_count * fill.value_size_bytes;
  if (fill.pitch_bytes == row) {  // rows without gaps are one
    fill.width_count *= fill.height;
    fill.height = 1;
  }
  Step step;
  if (fill.height == 0 || row == 0) return step;
  const uint64_t span = fill.pitch_bytes * (fill.height - 1) + row;
  KM_ASSIGN(const std::shared_ptr<Buffer> edges, stream.workspace().staging->take(2 * kWordBytes));
  for (uint64_t half = 0; half < 2; ++half) {
    const auto bytes = pattern_from(fill, half * kWordBytes);
    std::memcpy(static_cast<uint8_t*>(edges->mapped()) + half * kWordBytes, bytes.data(),
                kWordBytes);
  }
  step.record = [fill, span, edges, epoch = &stream.epoch()](Commands& commands) -> Status {
    const std::optional<BufferPlace> to = epoch->device_memory().find(fill.destination, span);
    if (!to) {
      return make_error(KM_ERROR_ILLEGAL_ADDRESS,
                        "a fill of %" PRIu64 " bytes at %#" PRIx64 " is outside of all memory",
                        span, fill.destination);
    }
    for (uint64_t y = 0; y < fill.height; ++y) {
      record_row(commands, fill, to->at(y * fill.pitch_bytes), edges->place());
    }
    return {};
  };
  return step;
}

km_status fill(kmb_stream* stream, uint64_t destination, uint32_t value, uint32_t value_size_bytes,
               uint64_t count, uint64_t* out_ticket, kmb_error* error) {
  return enqueue(stream, out_ticket, error, [&](Stream& target) {
    return fill_step(target, {destination, 0, value, value_size_bytes, count, 1});
  });
}

km_status fill_2d(kmb_stream* stream, uint64_t destination, uint64_t pitch_bytes, uint32_t value,
                  uint32_t value_size_bytes, uint64_t width_count, uint64_t height,
                  uint64_t* out_ticket, kmb_error* error) {
  return enqueue(stream, out_ticket, error, [&](Stream& target) {
    return fill_step(target,
                     {destination, pitch_bytes, value, value_size_bytes, width_count, height});
  });
}

}  // namespace km::vulkan
