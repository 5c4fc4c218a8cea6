#include "backends/cpu/command/check_report.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <utility>

#include "backends/cpu/check/undefined_memory.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/execution/diagnose.h"
#include "base/check/source_position.h"
#include "base/memory/host_allocator.h"
#include "base/text.h"

namespace km::cpu {
namespace {

using simt::AccessKind;
using simt::kWarpLanes;

const char* verb_of(const AccessRecord& access) {
  const auto kind = static_cast<AccessKind>(access.kind);
  if (access.is_of_copy()) return kind == AccessKind::read ? "copy from it" : "copy";
  if (kind == AccessKind::atomic) return "atomic";
  return kind == AccessKind::read ? "read" : "write";
}

/// The position of a line of the PTX text, with the calls that the compiler has replaced by it.
std::string position_of(const LaunchRun& run, uint32_t line) {
  return SourcePosition::with_callers(run.unit->position_of(0, line), run.unit->callers_of(line));
}

FindingPlace place_of(const AccessRecord& access, uint32_t size_bytes, const LaunchRun& run) {
  FindingPlace place;
  place.what = verb_of(access);
  if (size_bytes != 0) place.what += " of " + counted(size_bytes, "byte");
  place.position = position_of(run, static_cast<uint32_t>(access.line));
  place.block = index_text(run.record.grid, access.block);
  place.thread = index_text(run.record.block, access.thread);
  return place;
}

/// The wait that must come before an access to the memory of an asynchronous copy.
std::string advice_for_copy(const Race& race) {
  const auto kind = static_cast<simt::CopyKind>(race.before.copy);
  if (kind == simt::CopyKind::barrier) {
    return "Wait for the phase of the mbarrier object that the copy completes "
           "(mbarrier.try_wait, cuda::barrier::wait) in each thread that touches its memory.";
  }
  const std::string wait = kind == simt::CopyKind::group
                               ? "cp.async.wait_group or cp.async.wait_all "
                                 "(__pipeline_wait_prior, cuda::pipeline::consumer_wait)"
                               : "cp.async.bulk.wait_group";
  return "The thread that copies must wait for the group of the copy with " + wait +
         "; a barrier then orders it for the others.";
}

/// True if both places are one in the source.
bool is_one_place(const FindingPlace& a, const FindingPlace& b) {
  return SourcePosition::of(a.position).text == SourcePosition::of(b.position).text;
}

/// The synchronisation that would order the two accesses.
std::string advice_for(const Race& race, const Finding& finding) {
  if (race.before.is_of_copy()) return advice_for_copy(race);
  const bool at_one_place = is_one_place(finding.place, finding.other);
  using Distance = Race::Distance;
  const Distance distance = race.distance();
  std::string advice;
  if (at_one_place) advice = "Use an atomic if all of these threads shall update this memory. ";
  if (distance == Distance::grid && race.is_shared) {
    return advice + "The barrier of the cluster between the two orders them.";
  }
  if (distance == Distance::grid) {
    return advice +
           "Only a release and an acquire order blocks of one launch: a __threadfence() before an "
           "atomic in one, an atomic and a __threadfence() in the other. So does a second launch.";
  }
  if (distance == Distance::block) {
    return advice + "__syncthreads() between the two orders them, if all threads reach it.";
  }
  const bool both_strong = race.before.strong != 0 && race.now.strong != 0;
  const SourcePosition after = SourcePosition::of(finding.other.position);
  return advice + "Lanes of a warp need not run in step: __syncwarp() between the two orders them" +
         (both_strong ? ", which volatile does not" : "") +
         (after.text.empty() || at_one_place ? "." : ", such as after " + after.text + ".") +
         " --warp-in-step accepts code that counts on it.";
}

const char* kind_of(const Race& race) {
  if (race.is_same_value) return "same-value-write";
  if (race.before.is_of_copy()) return "pending-copy";
  if (!race.now.writes()) return "write-read";
  return race.before.writes() ? "write-write" : "read-write";
}

/// The place of an address: "0x7f..., 4 bytes into the 16-byte allocation at 0x7f... (parameter
/// 1)".
std::string place_text(uint64_t address, const LaunchRun& run, const Allocations& allocations) {
  return hex(address) + ", " + locate(address, allocations, run);
}

Finding finding_of(const Race& race, const LaunchRun& run, const Allocations& allocations) {
  Finding finding;
  finding.tool = "race";
  finding.kind = kind_of(race);
  finding.kernel = run.unit->kernel_name();
  constexpr const char* kThreads[] = {"lanes of one warp", "threads of one block",
                                      "threads of different blocks"};
  const std::string memory = race.is_shared ? "shared" : "global";
  finding.message = std::string(kThreads[static_cast<int>(race.distance())]) +
                    (race.is_same_value ? " write the same value to " : " access ") + memory +
                    " memory without an order between them";
  if (race.before.is_of_copy()) {
    finding.message =
        "an access to " + memory + " memory of an asynchronous copy that has not been waited for";
  }
  finding.place = place_of(race.now, race.access_bytes, run);
  finding.other = place_of(race.before, 0, run);  // of which no size is kept
  // The record of several readers names the last one, which may be the thread that writes now.
  const auto readers = race.before.who();
  if (readers != Readers::one && race.before.thread == race.now.thread) {
    finding.other.thread = readers == Readers::warp ? "(another one of the warp)" : "(another one)";
  }
  finding.address = race.is_shared ? race.offset : race.address;
  finding.size_bytes = race.access_bytes;
  if (race.is_shared) {
    finding.allocation = hex(race.offset) + " in shared memory";
  } else {
    finding.allocation = place_text(race.address, run, allocations);
  }
  finding.advice = advice_for(race, finding);
  finding.count = race.count;
  return finding;
}

/// The finding of a register that nothing has written.
Finding finding_of_register(const LaunchChecks::Invalid& invalid, const LaunchRun& run) {
  using Invalid = LaunchChecks::Invalid;
  Finding finding;
  finding.tool = "init";
  finding.kind = "undefined-register";
  finding.kernel = run.unit->kernel_name();
  finding.message = "a register that nothing has written ";
  finding.message += invalid.kind == Invalid::undefined_address ? "decides which memory is accessed"
                     : invalid.kind == Invalid::undefined_branch ? "decides a branch"
                                                                 : "is stored";
  finding.place = place_of(invalid.access, 0, run);
  finding.place.what = "use";
  finding.advice = "Give the variable a value on every way that leads here.";
  finding.count = invalid.count;
  return finding;
}

Finding finding_of(const LaunchChecks::Invalid& invalid, const LaunchRun& run,
                   const Allocations& allocations) {
  if (invalid.is_of_register()) return finding_of_register(invalid, run);
  Finding finding;
  using Invalid = LaunchChecks::Invalid;
  const bool is_undefined = invalid.kind == Invalid::undefined;
  finding.tool = is_undefined ? "init" : "memory";
  finding.kind = is_undefined                          ? "undefined-read"
                 : invalid.kind == Invalid::misaligned ? "misaligned-address"
                                                       : "illegal-address";
  finding.kernel = run.unit->kernel_name();
  finding.place = place_of(invalid.access, static_cast<uint32_t>(invalid.size_bytes), run);
  finding.address = invalid.address;
  finding.size_bytes = invalid.size_bytes;
  finding.count = invalid.count;
  const auto offset = static_cast<int64_t>(invalid.address - invalid.shared_begin);
  const bool is_shared = offset >= INT32_MIN && offset <= INT32_MAX;
  const std::string memory = invalid.is_local ? "local memory"
                             : is_shared      ? "shared memory"
                                              : "the memory of the context";
  if (is_undefined) {
    finding.message = "a read of " + memory + " that nothing has written";
  } else if (invalid.kind == Invalid::misaligned) {
    finding.message = "an access at an address that is no multiple of its size";
  } else {
    finding.message = "an access outside of " + memory;
  }
  if (invalid.is_local) {
    finding.allocation = hex(invalid.address) + ", in the thread's local memory";
  } else if (is_shared) {
    finding.allocation = "at offset " + std::to_string(offset) + " in shared memory, of which " +
                         "the block has " + counted(run.shared_bytes, "byte");
  } else {
    finding.allocation = place_text(invalid.address, run, allocations);
  }
  return finding;
}

/// The text of a misuse: its kind, a sentence, and what to do.
struct MisuseText {
  const char *kind, *message, *advice;
};
MisuseText text_of(Misuse::Kind kind) {
  switch (kind) {
    case Misuse::ended_threads:
      return {"ended-threads", "a barrier of the block that some threads never reach",
              "Let all threads come to each __syncthreads(): no return before it, no condition "
              "around it."};
    case Misuse::other_place:
      return {
          "divergent-barrier", "threads of one block wait at different barriers",
          "__syncthreads() must be reached by all threads of the block at one place: take it out "
          "of the condition."};
    case Misuse::other_count:
      return {"different-counts", "threads arrive at one barrier with different thread counts",
              "Give the same count in all threads."};
    case Misuse::part_of_warp:
      return {"bad-count", "the thread count of a barrier is no multiple of 32",
              "Barriers count whole warps: round the count up."};
    case Misuse::stranger:
      break;
  }
  return {"bad-mask", "a thread is not in the member mask that it gives",
          "Name in the mask all lanes that come to the operation, such as by __activemask() before "
          "the branch, or 0xffffffff if all do."};
}

Finding finding_of(const Misuse& misuse, const LaunchRun& run) {
  const MisuseText text = text_of(misuse.kind);
  Finding finding;
  finding.tool = "sync";
  finding.kind = text.kind;
  finding.kernel = run.unit->kernel_name();
  finding.message = text.message;
  if (misuse.kind == Misuse::ended_threads) {
    finding.message += " (" + std::to_string(misuse.arrived) + " of " +
                       std::to_string(misuse.expected) + " arrive)";
  }
  finding.advice = text.advice;
  const char* const what = misuse.kind == Misuse::stranger ? "warp operation" : "wait";
  const auto place = [&](uint32_t line, uint32_t thread) {
    return FindingPlace{what,
                        position_of(run, line),
                        index_text(run.record.grid, misuse.block),
                        index_text(run.record.block, thread),
                        {}};
  };
  finding.place = place(misuse.line, misuse.thread);
  if (misuse.other_line != 0) finding.other = place(misuse.other_line, misuse.other_thread);
  finding.count = misuse.count;
  return finding;
}

/// The bits, and the number that they most likely are.
std::string value_text(uint64_t bits, uint32_t size_bytes) {
  constexpr double kSmall = 1e-20, kLarge = 1e20;
  char text[80];
  std::snprintf(text, sizeof text, "0x%0*llx", static_cast<int>(2 * size_bytes),
                static_cast<unsigned long long>(bits));
  double number = 0;
  if (size_bytes == 4) number = double{std::bit_cast<float>(static_cast<uint32_t>(bits))};
  if (size_bytes == 8) number = std::bit_cast<double>(bits);
  const double size = std::abs(number);
  char as_number[40];
  if (size > kSmall && size < kLarge) {
    std::snprintf(as_number, sizeof as_number, " (%.9g)", number);
  } else {
    const uint32_t unused = 64 - 8 * size_bytes;
    std::snprintf(as_number, sizeof as_number, " (%lld)",
                  static_cast<long long>(bits << unused) >> unused);
  }
  return text + std::string(as_number);
}

FindingPlace place_of(const Trial::Write& write, const LaunchRun& run) {
  FindingPlace place;
  if (write.line == 0) return place;
  place.what = std::string(write.is_atomic ? "atomic" : "write") + " of " +
               counted(write.element_bytes, "byte");
  place.position = position_of(run, write.line);
  place.block = index_text(run.record.grid, write.block);
  place.thread = index_text(run.record.block, write.thread);
  return place;
}

const char* act_of(const KernelFault& fault) { return fault.deadlock ? "wait" : "access"; }

/// Sets where a fault was; `what` says what the thread did there.
void set_place(Finding* finding, const KernelFault& fault, const LaunchRun& run, const char* what) {
  finding->place.what = what;
  if (fault.size_bytes != 0 && !fault.deadlock) {
    finding->place.what += " of " + counted(fault.size_bytes, "byte");
  }
  finding->place.position = fault.line != 0
                                ? position_of(run, fault.line)
                                : run.unit->position_of(fault.fault.pc, fault.helper_line);
  char block[64];
  std::snprintf(block, sizeof block, "(%u,%u,%u)", fault.block[0], fault.block[1], fault.block[2]);
  finding->place.block = block;
  finding->place.thread = index_text(run.record.block, fault.thread);
  finding->address = fault.fault.address;
  finding->size_bytes = fault.size_bytes;
}

const char* kind_of_fault(km_status status) {
  switch (status) {
    case KM_ERROR_ILLEGAL_ADDRESS:
      return "illegal-address";
    case KM_ERROR_MISALIGNED_ADDRESS:
      return "misaligned-address";
    case KM_ERROR_STACK_OVERFLOW:
      return "stack-overflow";
    case KM_ERROR_TRAP:
      return "trap";
    case KM_ERROR_ILLEGAL_INSTRUCTION:
      return "illegal-instruction";
    case KM_ERROR_ASSERT:
      return "assertion";
    default:
      return "fault";
  }
}

}  // namespace

void begin_checks(LaunchRun& run, Context& context) {
  const HostMemoryNeeded needed;
  if (context.checks().has(KM_CHECK_LEAK)) context.device_heap().follow();
  const uint16_t tools = run.unit->tools & (check_tool::kInCode | check_tool::kOfProcess);
  if (tools != 0) run.checks = std::make_unique<LaunchChecks>(tools);
  if ((run.unit->tools & check_tool::kInit) != 0 || !UndefinedMemory::is_used()) return;
  // Code without reports may write memory that the checker would take for unwritten.
  if (context.checks().has(check_tool::kInit) || context.allocations().has_peers()) {
    UndefinedMemory::instance().define_all();
  }
}

void report_checks(const LaunchRun& run, const Allocations& allocations, ContextChecks& checks) {
  for (const Misuse& misuse : run.checks->misuses()) {
    const Finding finding = finding_of(misuse, run);
    // Compilers copy a barrier, such as where they unroll a loop: it stays one in the source.
    const bool is_copy =
        misuse.kind == Misuse::other_place && is_one_place(finding.place, finding.other);
    if (!is_copy) checks.add(finding);
  }
  for (const LaunchChecks::Invalid& invalid : run.checks->invalid()) {
    checks.add(finding_of(invalid, run, allocations));
  }
  for (const Race& race : run.checks->races()) {
    if (race.is_same_value && !checks.tells_same_values()) continue;
    checks.add(finding_of(race, run, allocations));
  }
}

void name_kernel_memory(const LaunchRun& run, Context& context) {
  if (!context.device_heap().is_followed()) return;
  context.device_heap().describe(run.unit->id, [&](uint64_t pc) {
    return DeviceHeap::PlaceText{run.unit->kernel_name(), run.unit->position_of(pc, 0)};
  });
}

void report_kernel_memory(Context& context) {
  const HostMemoryNeeded needed;
  if (!context.checks().has(KM_CHECK_LEAK) || context.failed()) return;
  for (const DeviceHeap::Alive& alive : context.device_heap().alive()) {
    Finding finding;
    finding.tool = "leak";
    finding.kind = "kernel-memory";
    finding.kernel = alive.place.kernel;
    finding.message = counted(alive.size_bytes, "byte") + " in " + counted(alive.count, "block") +
                      " that kernels have allocated and not freed";
    finding.place.what = "allocation";
    finding.place.work = alive.is_of_runtime ? "cudaMalloc" : "malloc or new";
    finding.place.position = alive.place.position;
    finding.address = alive.address;
    finding.size_bytes = alive.size_bytes;
    finding.allocation = hex(alive.address) + " is the first of them";
    finding.advice = alive.is_of_runtime
                         ? "A kernel must free what kernels allocate, by cudaFree()."
                         : "A kernel must free what kernels allocate, by free() or delete.";
    finding.count = alive.count;
    context.checks().add(finding);
  }
}

void report_order(const OrderDefect& defect, const LaunchRun& run, const Allocations& allocations,
                  ContextChecks& checks) {
  const std::string seed = std::to_string(defect.seed);
  Finding finding;
  finding.tool = "schedule";
  finding.kind = defect.kind;
  finding.kernel = run.unit->kernel_name();
  finding.advice = "--explore 1 --schedule-seed " + seed + " tries this order alone.";
  if (!defect.ending.empty()) {
    finding.message =
        "in another order of blocks, warps and lanes, that of seed " + seed + ", " + defect.ending;
    if (defect.fault != nullptr) set_place(&finding, *defect.fault, run, act_of(*defect.fault));
    checks.add(finding);
    return;
  }
  finding.message = "the result depends on the order of blocks, warps and lanes: " +
                    value_text(defect.value, defect.size_bytes) + " with seed " + seed + ", " +
                    value_text(defect.usual_value, defect.size_bytes) + " as usual; " +
                    counted(defect.different_bytes, "byte") +
                    (defect.different_bytes == 1 ? " differs" : " differ");
  finding.place = place_of(defect.now, run);
  finding.other = place_of(defect.before, run);
  finding.relation = "in place of a";
  if (finding.place.what.empty()) finding.place = std::exchange(finding.other, {});
  finding.address = defect.address;
  finding.size_bytes = defect.size_bytes;
  finding.allocation = place_text(defect.address, run, allocations);
  if (finding.kind == "atomic-order") {
    finding.advice +=
        " Sums of floating-point numbers depend on the order of their atomics; "
        "--ignore-atomic-order accepts that.";
  }
  checks.add(finding);
}

void report_fault(const KernelFault& fault, const LaunchRun& run, const Error& error,
                  ContextChecks& checks) {
  Finding finding;
  finding.tool = fault.deadlock ? "sync" : "memory";
  finding.kind = fault.deadlock ? "deadlock" : kind_of_fault(error.status);
  finding.kernel = run.unit->kernel_name();
  finding.message = error.message.substr(0, error.message.find("; kernel "));
  set_place(&finding, fault, run, act_of(fault));
  checks.add(finding);
}

void report_timeout(const KernelFault& place, const LaunchRun& run, uint64_t limit_ms,
                    ContextChecks& checks) {
  Finding finding;
  finding.tool = "sync";
  finding.kind = "no-end";
  finding.kernel = run.unit->kernel_name();
  finding.message = "the launch has not ended after its time limit of " + std::to_string(limit_ms) +
                    " ms (KM_KERNEL_TIMEOUT_MS)";
  set_place(&finding, place, run, "instruction");
  finding.advice =
      "If other threads are to let this one go on, see whether all of them come to where they do "
      "so; if the kernel is only slow, raise the limit.";
  checks.add(finding);
}

}  // namespace km::cpu
