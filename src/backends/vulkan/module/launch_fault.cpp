#include "backends/vulkan/module/launch_fault.h"

#include <cstring>

#include "base/memory/place_text.h"
#include "base/text.h"

namespace km::vulkan {
namespace {

constexpr uint64_t kNullBytes = 4096;
constexpr uint64_t kMostTextBytes = 4096;

std::string index_text(const std::array<uint32_t, 3>& index) {
  return "(" + std::to_string(index[0]) + "," + std::to_string(index[1]) + "," +
         std::to_string(index[2]) + ")";
}

/// The place of an address relative to the nearest memory of the context.
std::string locate(Epoch& epoch, uint64_t address) {
  if (address < kNullBytes) return "near the null address: the kernel dereferences a null pointer";
  uint64_t version = 0, least = UINT64_MAX;
  std::string text = "the context has no memory";
  for (const BufferMap::Range& range : epoch.device_memory().ranges(&version)) {
    const uint64_t distance = distance_from(address, range.begin, range.end - range.begin);
    if (distance >= least) continue;
    least = distance;
    text = place_text(address, range.begin, range.end - range.begin);
  }
  return text;
}

Error failed_assertion(Epoch& epoch, const spirv::FaultRecord& record) {
  const auto text = [&](int i) {
    return read_device_text(epoch, record.assertion[i], kMostTextBytes).value_or("?");
  };
  return make_error(KM_ERROR_ASSERT, "%s:%u: %s: Assertion `%s` failed", text(1).c_str(),
                    static_cast<uint32_t>(record.assertion[2]), text(3).c_str(), text(0).c_str());
}

Error error_of(Epoch& epoch, const spirv::FaultRecord& record) {
  const std::string address = hex(record.address);
  const std::string size = counted(record.size_bytes, "byte");
  switch (static_cast<spirv::FaultKind>(record.kind)) {
    case spirv::FaultKind::illegal_address:
      return make_error(KM_ERROR_ILLEGAL_ADDRESS, "illegal address %s (%s), %s", address.c_str(),
                        size.c_str(), locate(epoch, record.address).c_str());
    case spirv::FaultKind::misaligned_address:
      return make_error(KM_ERROR_MISALIGNED_ADDRESS, "misaligned address %s: an access of %s",
                        address.c_str(), size.c_str());
    case spirv::FaultKind::trap:
      return make_error(KM_ERROR_TRAP,
                        "trap: the kernel calls __trap() or abort(), or certainly dereferences a "
                        "null pointer there, which compilers replace by a trap");
    case spirv::FaultKind::stack_overflow:
      return make_error(KM_ERROR_STACK_OVERFLOW,
                        "stack overflow: calls are nested too deeply or alloca takes too much");
    case spirv::FaultKind::no_function:
      return make_error(KM_ERROR_ILLEGAL_INSTRUCTION,
                        "the kernel calls through a pointer that is not the address of a function");
    case spirv::FaultKind::assertion:
      return failed_assertion(epoch, record);
    case spirv::FaultKind::deadlock:
      return make_error(KM_ERROR_LAUNCH_FAILED,
                        "deadlock: threads of a block wait for each other at barriers or for "
                        "warps that the others cannot reach");
    case spirv::FaultKind::ended_loop:
      return make_error(KM_ERROR_LAUNCH_FAILED,
                        "the driver ends the loops of a thread after some 65,000 rounds of all of "
                        "them, and the kernel has more: give each thread less to do");
    case spirv::FaultKind::none:
      break;
  }
  return make_error(KM_ERROR_LAUNCH_FAILED, "a fault of an unknown kind, %u", record.kind);
}

}  // namespace

std::optional<std::string> read_device_text(Epoch& epoch, uint64_t address, uint64_t most_bytes) {
  std::string text;
  while (text.size() < most_bytes) {
    const auto place = epoch.device_memory().find(address + text.size(), 1);
    if (!place || place->mapped == nullptr) return std::nullopt;
    const char next = *static_cast<const char*>(place->mapped);
    if (next == '\0') break;
    text += next;
  }
  return text;
}

Error describe_fault(const Function& function, const spirv::FaultRecord& record) {
  Error error = error_of(*function.module().epoch(), record);
  error.message += "; kernel '" + function.source_name() + "', block " + index_text(record.block) +
                   ", thread " + index_text(record.thread);
  const std::string position = record.line != 0 ? function.position_of(record.line) : "";
  if (!position.empty()) error.message += ", at " + position;
  return error;
}

}  // namespace km::vulkan
