// The interface of the CPU code generator: PTX module -> Program (analysed) -> object bytes -> Code
// (in memory). compile() is a pure function of its arguments; only Code owns memory.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check/check_tools.h"
#include "base/interruption.h"
#include "base/result.h"
#include "kernelmill/function.h"
#include "ptx/ptx.h"
#include "simt/abi.h"
#include "simt/machine/machine.h"

namespace km::simt {

/// The default and the largest stack of a device thread for recursive calls and alloca. The largest
/// is the local memory that a thread of a GPU has.
constexpr uint64_t kThreadStackBytes = 16384, kMostThreadStackBytes = 512 << 10;

/// The execution mode of warps, chosen statically per kernel (docs/internals/execution-modes.md).
enum class Mode : uint8_t {
  run_to_completion = 1,    // a: GridEntry
  fibers = 2,               // b: FiberEntry
  independent_threads = 3,  // c: IndependentEntry
};

struct Param {
  km_param_kind kind = KM_PARAM_KIND_UNKNOWN;
  km_param_type type = KM_PARAM_TYPE_UNKNOWN;
  uint32_t align_bytes = 1;
  uint64_t size_bytes = 0;
  uint64_t offset_bytes = 0;
};

/// A module-scope variable in .global or .const space; the runtime allocates its memory.
struct Variable {
  std::string name;
  bool is_constant = false;
  bool is_visible = false;  // km_module_global finds it
  uint64_t size_bytes = 0;
  uint32_t align_bytes = 1;
  uint32_t element_size_bytes = 1;
  std::span<const uint8_t> data;  // shorter than size_bytes: the rest is zero
  /// The `size_bytes` at `offset` are initialised with the address of variable `target` plus
  /// `addend`, or with the byte of it that `mask` selects.
  struct Address {
    uint64_t offset = 0;
    uint32_t target = 0;
    int64_t addend = 0;
    uint8_t size_bytes = 8;
    uint64_t mask = UINT64_MAX;

    uint64_t content(uint64_t target_address) const {
      const uint64_t value = target_address + static_cast<uint64_t>(addend);
      return (value & mask) >> std::countr_zero(mask);
    }
  };
  std::vector<Address> addresses;
};

struct KernelInfo {
  std::string name;
  std::string refusal;  // why it is not supported; empty: it is, and only then the rest is set
  Mode mode = Mode::run_to_completion;
  std::string mode_reason;  // why mode a is not enough: "barrier at line 41 ..."
  std::vector<Param> params;
  uint64_t param_bytes = 0;
  uint64_t shared_static_bytes = 0;  // dynamic shared memory follows, aligned to 16 bytes
  uint64_t local_bytes = 0;          // per thread
  bool has_stack = false;            // a stack of Variant::thread_stack_bytes, part of local memory
  bool reads_shared_size = false;    // the block's shared memory must end with a whole granule
  bool reserves_shared = false;      // kReservedSharedBytes follow the block's shared memory
  uint64_t constant_bytes = 0;
  // Estimate of the 32-bit registers live at the same time.
  uint32_t registers = 0;
  uint32_t max_threads = 1024;               // .maxntid / .reqntid
  std::array<uint32_t, 3> required_block{};  // .reqntid, 0: any
  std::array<uint32_t, 3> cluster{};         // .reqnctapercluster, 0: none
  bool meets_cluster =
      false;  // blocks of a cluster wait for each other or access each other's memory
  uint32_t ptx_version = 0, target = 0;
};

namespace check_tool = km::check_tool;

/// The assumptions of a piece of code. Launches with equal variants can share code.
struct Variant {
  /// 0 in x: any size, read from the launch record. y and z are then 1 for one dimension, or 0 for
  /// any number of dimensions.
  std::array<uint32_t, 3> block{};
  /// The number of threads of a block; 0: any.
  uint64_t threads() const { return uint64_t{block[0]} * block[1] * block[2]; }
  /// Code with this flag assumes that 32-bit index expressions do not wrap in this launch and that
  /// its pointers are aligned for its accesses. Code::assumptions_hold() checks that from grid,
  /// block and arguments before the launch.
  bool assume_no_wrap = true;
  bool checked = false;                             // KM_CPU_MEMORY=checked
  uint16_t tools = 0;                               // bits of check_tool
  Mode least_mode = Mode::run_to_completion;        // KM_CPU_MODE: a more general one than needed
  Machine machine;                                  // the least one, unless set
  uint64_t thread_stack_bytes = kThreadStackBytes;  // other sizes: of kernels that have a stack
  /// True if code is made for Schedule, which orders its blocks, warps and lanes.
  bool is_scheduled() const { return (tools & check_tool::kSchedule) != 0; }
  /// True if programs may count on the lanes of a warp to run in step.
  bool runs_in_step() const { return (tools & check_tool::kInStep) != 0; }
  friend bool operator==(const Variant&, const Variant&) = default;
};

class Program {
 public:
  /// Analyses every kernel. KM_ERROR_UNSUPPORTED_PTX if none of them is supported, with the first
  /// one's refusal, which names the instruction and its line. `interruption` is polled between
  /// kernels; null: none.
  static Result<std::shared_ptr<const Program>> load(std::shared_ptr<const ptx::Module> module,
                                                     const Interruption* interruption = nullptr);

  virtual ~Program() = default;
  virtual const ptx::Module& module() const = 0;
  virtual std::span<const KernelInfo> kernels() const = 0;
  virtual std::span<const Variable> variables() const = 0;
};

/// Machine code of one kernel variant as a relocatable object without undefined symbols.
using Object = std::vector<uint8_t>;

/// True if KM_DUMP requests stages of compilation, so that code must not come from the cache.
bool dumps_stages();

/// Compiles one variant. It takes milliseconds, or seconds for kernels of a thousand lines and
/// more, and runs on a thread of its own. Thread-safe. `interruption` is polled several times a
/// second; null: only the end of the process ends it.
Result<Object> compile(const Program& program, uint32_t kernel, const Variant& variant,
                       const Interruption* interruption = nullptr);

struct CodeInfo {
  Mode mode = Mode::run_to_completion;
  uint64_t scratch_bytes = 0;  // mode a: per worker; modes b and c: per warp
  uint64_t stack_bytes = 0;    // minimum below the entry; recursion may need more
  bool waits = false;          // a loop waits for other threads; not known of all code of mode c
  bool nontemporal_stores =
      // Mode a: some stores are not visible to other threads before a store fence.
      false;
  bool reads_block = true;  // depends on %ctaid; false: all blocks do the same
};

/// An object in executable memory.
class Code {
 public:
  static Result<std::unique_ptr<Code>> load(const Object& object);

  virtual ~Code() = default;
  virtual const CodeInfo& info() const = 0;
  virtual GridEntry grid_entry() const = 0;                // null unless mode a
  virtual FiberEntry fiber_entry() const = 0;              // null unless mode b
  virtual IndependentEntry independent_entry() const = 0;  // null unless mode c
  /// For code with Variant::assume_no_wrap: true if this launch may run it (about 20 ns; the launch
  /// record must be complete). If not, the caller runs the variant without that assumption.
  virtual bool assumptions_hold(const LaunchRecord& record) const = 0;
  /// The address range of the instructions.
  virtual uint64_t begin() const = 0;
  virtual uint64_t end() const = 0;

  struct Position {
    uint32_t line = 0, column = 0;  // position in the PTX text; 0: unknown
  };
  /// The PTX position of an address. It is slow and not async-signal-safe.
  virtual Position position_of(uint64_t address) const = 0;
};

/// Formats one device printf; runtimes implement RuntimeTable::print with it.
std::string format_printf(const char* format, const void* arguments, int32_t* out_count);

}  // namespace km::simt
