#include "backends/cpu/command/transfer_fault.h"

#include <signal.h>

#include "base/text.h"

namespace km::cpu {

Error describe_transfer_fault(uint64_t address, const Transfer& transfer,
                              const Allocations& allocations) {
  std::string source = transfer.is_fill() ? "" : " from " + hex(transfer.source);
  return make_error(KM_ERROR_ILLEGAL_ADDRESS, "%s of %s%s to %s: illegal address %s, %s",
                    transfer.is_fill() ? "fill" : "copy",
                    counted(transfer.size_bytes, "byte").c_str(), source.c_str(),
                    hex(transfer.destination).c_str(), hex(address).c_str(),
                    place_of(address, allocations).c_str());
}

Error describe_task_fault(const Fault& fault, const Task& task, const Allocations& allocations) {
  const char* const cause =
      fault.signal == SIGBUS ? "; the file mapped there may have been truncated" : "";
  return make_error(KM_ERROR_ILLEGAL_ADDRESS, "%s: illegal address %s, %s%s", task.name(),
                    hex(fault.address).c_str(), place_of(fault.address, allocations).c_str(),
                    cause);
}

}  // namespace km::cpu
