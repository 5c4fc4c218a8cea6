#include "backends/vulkan/module/print_buffer.h"

#include <algorithm>
#include <cstring>

#include "backends/vulkan/module/launch_fault.h"
#include "base/text.h"
#include "simt/runtime/print/device_printf.h"

namespace km::vulkan {
namespace {

constexpr uint64_t kMostBytes = 1 << 20;  // of one launch; the context's limit may be less

/// One record of a PrintBuffer; the arguments follow it.
struct Record {
  uint32_t size_bytes, arguments_size_bytes;
  uint64_t format;
};

/// The arguments lie in the record, whose address is theirs; all else in the context's memory.
class RecordMemory final : public simt::PrintfMemory {
 public:
  RecordMemory(Epoch& epoch, const uint8_t* arguments, uint64_t size_bytes)
      : epoch_(epoch), arguments_(arguments), size_bytes_(size_bytes) {}

  bool copy(void* to, uint64_t offset, uint64_t size_bytes, uint64_t* out_address) override {
    *out_address = offset;
    if (offset > size_bytes_ || size_bytes > size_bytes_ - offset) return false;
    std::memcpy(to, arguments_ + offset, size_bytes);
    return true;
  }
  std::optional<std::string> text(uint64_t address, uint64_t limit) override {
    return read_device_text(epoch_, address, limit);
  }

 private:
  Epoch& epoch_;
  const uint8_t* const arguments_;
  const uint64_t size_bytes_;
};

}  // namespace

Result<std::shared_ptr<PrintedText>> PrintedText::make(const Workspace& workspace) {
  const uint64_t wanted = std::min(kMostBytes, workspace.output->limit_bytes());
  KM_ASSIGN(std::shared_ptr<Buffer> buffer,
            workspace.staging->take(sizeof(spirv::PrintBuffer) + wanted));
  std::memset(buffer->mapped(), 0, sizeof(spirv::PrintBuffer));
  return std::shared_ptr<PrintedText>(new PrintedText(std::move(buffer)));
}

uint32_t PrintedText::capacity_bytes() const {
  return static_cast<uint32_t>(buffer_->size_bytes() - sizeof(spirv::PrintBuffer));
}

void PrintedText::hand_out(const Workspace& workspace) {
  auto* const head = static_cast<spirv::PrintBuffer*>(buffer_->mapped());
  const auto* const data = reinterpret_cast<const uint8_t*>(head + 1);
  const uint32_t used = std::min(head->used_bytes, capacity_bytes());
  const uint32_t dropped = head->used_bytes - used;
  uint32_t at = 0;
  while (used - at >= sizeof(Record)) {
    Record record;
    std::memcpy(&record, data + at, sizeof record);
    if (record.size_bytes < sizeof record || record.size_bytes > used - at) break;
    RecordMemory memory(
        *workspace.epoch, data + at + sizeof record,
        std::min<uint64_t>(record.arguments_size_bytes, record.size_bytes - sizeof record));
    int32_t count = 0;
    uint64_t address = 0;
    const auto text = simt::format_device_printf(memory, record.format, 0, &count, &address);
    workspace.output->append(text ? *text : "(a printf with the pointer " + hex(address) + ")\n");
    at += record.size_bytes;
  }
  if (dropped != 0) {
    workspace.output->append("[" + counted(dropped, "byte") + " of device printf dropped]\n");
  }
  head->used_bytes = 0;
}

}  // namespace km::vulkan
