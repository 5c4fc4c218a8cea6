#include "backends/cpu/execution/diagnose.h"

#include <signal.h>

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <mutex>

#include "backends/cpu/config/config.h"
#include "base/text.h"
#include "simt/runtime/image.h"
#include "simt/runtime/tensors/tensor_copy.h"
#include "simt/runtime/tensors/tensor_storage.h"

namespace km::cpu {
namespace {

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, pattern);
  vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

/// The place of a fault: "kernel 'saxpy', block (3,0,0), thread (17,0,0), saxpy.ptx:41".
std::string place(const KernelFault& fault, const LaunchRun& run) {
  std::string text = "kernel '" + run.unit->kernel_name() + "'";
  text += format(", block (%u,%u,%u)", fault.block[0], fault.block[1], fault.block[2]);
  uint32_t threads = run.record.block[0] * run.record.block[1] * run.record.block[2];
  if (fault.has_thread) {
    text += ", thread " + index_text(run.record.block, fault.thread);
  } else {
    // Only the packet is known, not the lane, so the message may have to name the rest of the warp.
    uint32_t warp_end = fault.thread / simt::kWarpLanes * simt::kWarpLanes + simt::kWarpLanes - 1;
    uint32_t last = std::min(std::max(warp_end, fault.thread), threads - 1);
    text += ", among threads " + index_text(run.record.block, fault.thread) + " to " +
            index_text(run.record.block, last);
  }
  std::string position;
  if (fault.line != 0) {
    position = run.unit->position_of(0, fault.line);
  } else if (fault.fault.pc != 0) {
    position = run.unit->position_of(fault.fault.pc, fault.helper_line);
  }
  if (!position.empty()) text += ", at " + position;
  return text;
}

/// The place of an address in the shared memory window, whose offsets are signed 32-bit numbers;
/// empty for other addresses.
std::string locate_shared(const KernelFault& fault, const LaunchRun& run) {
  const auto offset = static_cast<int64_t>(fault.fault.address - fault.shared_address);
  if (offset < INT32_MIN || offset > INT32_MAX) return {};
  return format("offset %" PRId64 " in shared memory, of which the block has %s", offset,
                counted(run.shared_bytes, "byte").c_str());
}

Error illegal_address(const KernelFault& fault, const LaunchRun& run,
                      const Allocations& allocations) {
  const Fault& raw = fault.fault;
  Error error;
  error.status = KM_ERROR_ILLEGAL_ADDRESS;
  if (raw.signal == SIGSEGV && raw.code == SI_KERNEL) {
    error.message = "illegal address: not a canonical 48-bit address (the value is not known)";
    return error;
  }
  error.message = "illegal address " + hex(raw.address);
  if (fault.size_bytes != 0) {
    error.message += " (" + counted(fault.size_bytes, "byte") + ")";
  }
  if (raw.address < kNullBytes) {
    error.message += ", " + locate(raw.address, allocations, run);
  } else if (std::string shared = locate_shared(fault, run); !shared.empty()) {
    error.message += ", " + shared;
  } else {
    error.message += ", " + locate(raw.address, allocations, run);
  }
  if (raw.signal == SIGBUS) error.message += ", where a mapped file has ended or memory has failed";
  return error;
}

Error stack_overflow() {
  return make_error(KM_ERROR_STACK_OVERFLOW,
                    "stack overflow: calls are nested too deeply or local arrays are too large "
                    "(KM_CONTEXT_LIMIT_STACK_BYTES)");
}

Error signal_error(const KernelFault& fault, const LaunchRun& run, const Allocations& allocations) {
  if (fault.fault.stack_overflow) return stack_overflow();
  switch (fault.fault.signal) {
    case SIGILL:
    case SIGTRAP:
      return make_error(KM_ERROR_ILLEGAL_INSTRUCTION, "illegal instruction");
    case SIGFPE:
      return make_error(KM_ERROR_LAUNCH_FAILED, "arithmetic fault");
    default:
      return illegal_address(fault, run, allocations);
  }
}

Error error_of(const KernelFault& fault, const LaunchRun& run, const Allocations& allocations) {
  if (fault.deadlock) {
    return make_error(KM_ERROR_LAUNCH_FAILED,
                      "deadlock: every warp of the block that is left waits at a barrier that the "
                      "others cannot reach; move it out of branches and before early returns, so "
                      "that all its threads come to it");
  }
  if (fault.kind == simt::kNoImage) {
    return make_error(KM_ERROR_ILLEGAL_ADDRESS,
                      "%s names no texture or surface of the kind that the instruction reads",
                      hex(fault.fault.address).c_str());
  }
  if (fault.kind == simt::kOutsideImage) {
    return make_error(KM_ERROR_ILLEGAL_ADDRESS, "an access of %s outside of surface %s",
                      counted(fault.size_bytes, "byte").c_str(), hex(fault.fault.address).c_str());
  }
  if (fault.kind == simt::kBadTensorMap) {
    return make_error(KM_ERROR_ILLEGAL_ADDRESS, "the tensor map at %s cannot be used: %s",
                      hex(fault.fault.address).c_str(),
                      simt::tensor_problem_text(fault.size_bytes));
  }
  if (fault.kind == simt::kBadTensorMemory) {
    const auto problem = static_cast<simt::TensorProblem>(fault.size_bytes);
    return make_error(
        problem == simt::TensorProblem::no_room ? KM_ERROR_LAUNCH_FAILED : KM_ERROR_ILLEGAL_ADDRESS,
        "tensor memory, with the operand %s: %s", hex(fault.fault.address).c_str(),
        simt::tensor_memory_problem_text(problem));
  }
  switch (fault.kind) {
    case simt::FaultKind::trap:
      return make_error(KM_ERROR_TRAP,
                        "trap: the kernel calls __trap() or abort(), or certainly dereferences a "
                        "null pointer there, which compilers replace by a trap");
    case simt::FaultKind::misaligned:
      return make_error(KM_ERROR_MISALIGNED_ADDRESS, "misaligned address %s: an access of %s",
                        hex(fault.fault.address).c_str(),
                        counted(fault.size_bytes, "byte").c_str());
    case simt::FaultKind::illegal_address:
      return illegal_address(fault, run, allocations);
    case simt::FaultKind::assertion:
      return make_error(KM_ERROR_ASSERT, "%s", fault.text.c_str());
    case simt::FaultKind::stack_overflow:
      return stack_overflow();
    case simt::FaultKind::no_function:
      return make_error(KM_ERROR_ILLEGAL_INSTRUCTION,
                        "a call through a pointer that is not the address of a function of this "
                        "module with the parameters and results of the call");
    case simt::FaultKind::none:
    case simt::FaultKind::stopped:
      break;
  }
  return signal_error(fault, run, allocations);
}

}  // namespace

std::string index_text(const uint32_t size[3], uint64_t linear) {
  const uint64_t x = std::max(size[0], 1U), y = std::max(size[1], 1U);
  return format("(%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")", linear % x, linear / x % y,
                linear / x / y);
}

const std::string& position_of_line(const CodeUnit& unit, uint32_t line) {
  // The objects are never destroyed, because work may end while the process exits.
  static auto& known = *new std::map<std::pair<uint64_t, uint32_t>, std::string>;
  static std::mutex& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.try_emplace({unit.id, line});
  if (is_new) found->second = unit.position_of(0, line);
  return found->second;
}

std::string locate(uint64_t address, const Allocations& allocations, const LaunchRun& run) {
  const uint8_t* const params = run.record.params;
  if (address < kNullBytes) {
    const std::string null = run.unit->parameters_in(params, 0, kNullBytes);
    const bool is_one = null.find(" and ") == std::string::npos;
    return "near the null address: the kernel dereferences a null pointer" +
           (null.empty() ? null : " (" + null + (is_one ? " is null)" : " are null)"));
  }
  const Allocations::Located located = allocations.locate(address);
  const std::string given =
      run.unit->parameters_in(params, located.allocation.begin, located.allocation.size_bytes);
  return text_of(located) + (given.empty() ? given : " (" + given + ")");
}

Error describe_fault(const KernelFault& fault, const LaunchRun& run,
                     const Allocations& allocations) {
  Error error = error_of(fault, run, allocations);
  error.message += "; " + place(fault, run);
  error.native_code = fault.fault.signal;
  return error;
}

Error describe_timeout(const KernelFault& fault, const LaunchRun& run, uint64_t limit_ms) {
  Error error = make_error(
      KM_ERROR_LAUNCH_TIMEOUT,
      "stopped after the time limit of %" PRIu64 " ms (KM_KERNEL_TIMEOUT_MS): ", limit_ms);
  error.message += place(fault, run);
  return error;
}

std::string describe_stall(std::span<const ResidentBlock* const> blocks, const LaunchRun& run) {
  constexpr size_t kMostBlocks = 4;
  std::string text =
      format("kernel '%s': for %" PRIu64
             " ms its blocks have waited, or gone round loops that wait, and none has come out: ",
             run.unit->kernel_name().c_str(), config().stall_warning_ms);
  for (size_t i = 0; i < std::min(blocks.size(), kMostBlocks); ++i) {
    const ResidentBlock::Place place = blocks[i]->place();
    const uint32_t* index = blocks[i]->state()->block;
    const std::string position = run.unit->position_of(place.pc, place.line);
    text += format("%sblock (%u,%u,%u)", i == 0 ? "" : ", ", index[0], index[1], index[2]);
    if (!position.empty()) text += " at " + position;
  }
  if (blocks.size() > kMostBlocks) {
    text += format(" and %zu more on the same thread", blocks.size() - kMostBlocks);
  }
  return text + " (KM_KERNEL_TIMEOUT_MS=n stops such kernels, KM_STALL_WARNING_MS=0 is silent)";
}

}  // namespace km::cpu
