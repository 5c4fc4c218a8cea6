// The interface of the SPIR-V generator: PTX module -> Program (analysed) -> Code (words of a
// Vulkan compute shader). It depends on neither Vulkan nor LLVM; translate() is a pure function of
// its arguments. The structures below are the contract with the runtime that launches the code.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptx/ptx.h"
#include "simt/engine.h"

namespace km::spirv {

/// How a device computes one operation, found by the backend's self-test when the device is opened.
enum class Exactness : uint8_t {
  inexact,  // results differ from correctly rounded ones: generated code takes another way
  exact,    // the native instruction gives the correctly rounded result, subnormals included
};

/// Everything that the generator assumes of a device. The default is the least device: all flags
/// false, so that a fact that nobody has established leads to a refusal and never to a wrong value.
struct DeviceFacts {
  std::string name;                  // for messages: "llvmpipe (LLVM 15.0.6, 256 bits)"
  uint32_t spirv_version = 0x10500;  // as in the header of a module
  /// The size of all subgroups of a compute shader; 0: unknown, or it varies.
  uint32_t subgroup_size = 0;
  /// True if a pipeline can require full subgroups of 32 (VK_EXT_subgroup_size_control).
  bool can_require_subgroup_32 = false;
  bool has_subgroup_shuffle = false;
  bool has_subgroup_vote = false;
  bool has_subgroup_ballot = false;
  uint32_t shared_memory_bytes = 16384;
  bool has_buffer_addresses = false;  // PhysicalStorageBufferAddresses
  /// Device memory is one storage buffer of words (kArenaBinding), which the addresses from
  /// kArenaBegin on are in: for devices and languages without buffer addresses.
  bool has_arena = false;
  bool has_int8 = false, has_int16 = false, has_int64 = false;
  bool has_float64 = false;
  bool has_storage_8bit = false, has_storage_16bit = false;  // loads and stores of those widths
  bool has_int64_atomics = false;                            // in buffers
  /// Translators lose atomic operations on addresses: SPIRV-Cross's GLSL and MSL do.
  bool lacks_pointer_atomics = false;
  /// Atomic minima and maxima take their operands for unsigned ones: SPIRV-Cross's do, because all
  /// integers of our modules are unsigned.
  bool has_unsigned_atomics_only = false;
  bool has_shared_int64_atomics = false;  // in Workgroup memory
  bool has_vulkan_memory_model = false;
  bool has_memory_model_device_scope = false;
  /// VK_KHR_shader_float_controls: execution modes that may be requested, by width.
  bool can_preserve_denorms_32 = false, can_preserve_denorms_64 = false;
  bool can_round_to_nearest_32 = false, can_round_to_nearest_64 = false;
  bool can_preserve_nan_32 = false, can_preserve_nan_64 = false;
  /// The driver ends a thread's loops after so many rounds of all of them, counted together with
  /// those of the threads beside it; 0: it does not.
  uint32_t most_loop_iterations = 0;
  /// Threads that have left a loop lose values of it that the driver keeps in registers, while
  /// others go on: such values must lie in memory.
  bool loses_loop_values = false;
  /// Lanes without a thread, in a block's last vector, run loops too, with zeros for what they
  /// load, and keep them going until the driver ends them: they must not get to one.
  bool idle_lanes_loop = false;
  /// Threads take both sides of a branch that lies deeper than in so many branches and loops; 0: no
  /// depth does that.
  uint32_t most_nesting = 0;
  /// The driver makes branches of a switch, each in the one before: a case is as deep as there are
  /// cases.
  bool switches_nest = false;
  /// A memory barrier, also that of an atomic operation with an order, makes the threads of a block
  /// wait for each other as a control barrier does; atomic operations without one order all memory.
  bool memory_barriers_wait = false;
  /// The driver takes x + 0 for x, x - x for 0 and x * 0 for 0, which -0, infinities and NaNs are
  /// not.
  bool folds_zeros = true;

  // ---- The self-test's results. Add, sub and mul of f32 and f64 must be exact or the kernel that
  // uses them is refused.
  Exactness f32_arithmetic = Exactness::inexact;  // +, -, * with NoContraction
  Exactness f32_denormals = Exactness::inexact;   // operands and results are not flushed
  /// The device's own instruction rounds once; else f32_fma and f64_fma are those of other code.
  Exactness native_f32_fma = Exactness::inexact;
  Exactness native_f64_fma = Exactness::inexact;
  Exactness f32_fma = Exactness::inexact;
  Exactness f32_div = Exactness::inexact;
  Exactness f32_sqrt = Exactness::inexact;
  Exactness f64_arithmetic = Exactness::inexact;  // +, -, *, conversions from and to f32
  Exactness f64_fma = Exactness::inexact;
  Exactness f64_div = Exactness::inexact;
  Exactness f64_sqrt = Exactness::inexact;
  Exactness f64_rounding = Exactness::inexact;  // to integers in f64, in all directions
  /// Comparisons of 32-bit numbers that were extended by their sign to 64 bits, with constants.
  Exactness i64_extended = Exactness::inexact;
};

/// How a kernel's threads are kept together where they wait for each other.
enum class Mode : uint8_t {
  structured,  // the kernel's own loops and branches; barriers are native
  stepped,     // the block agrees on the next basic block, which runs under predicates
};

struct Kernel {
  simt::KernelInfo info;  // parameters, sizes and limits; `info.refusal` says why it cannot run
  Mode mode = Mode::structured;
  bool uses_printf = false;
  bool needs_subgroup_32 = false;  // the pipeline must require full subgroups of 32
  /// Bytes of Workgroup memory that the code uses beside static and dynamic shared memory.
  uint64_t shared_extra_bytes = 0;
};

/// The assumptions of a piece of code.
struct Options {
  /// Every access to global memory is looked up in the table of allocations first: a stray one is
  /// noted in the fault record and skipped.
  bool checked = false;
  /// Every kernel is in stepped mode, also where structured code is right: for tests of that mode.
  bool stepped = false;
  /// The size of all blocks and words of dynamic shared memory, in place of specialisation
  /// constants, which texts in other languages cannot have everywhere; zeros: those constants.
  std::array<uint32_t, 4> shape{};
  bool operator==(const Options&) const = default;
};

/// A module that was analysed for one device. It is immutable and may be translated from several
/// threads.
class Program {
 public:
  /// Analyses every kernel. A kernel that cannot run on the device keeps the reason in its
  /// `info.refusal`; KM_ERROR_UNSUPPORTED_PTX if no kernel can run. The code that the analysis
  /// makes with `options` is kept for translate().
  static Result<std::shared_ptr<const Program>> load(std::shared_ptr<const ptx::Module> module,
                                                     const DeviceFacts& facts,
                                                     const Options& options = {});

  virtual ~Program() = default;
  virtual std::span<const Kernel> kernels() const = 0;
  /// The variables in .global and .const space, in the order of their numbers. Their memory is one
  /// buffer of variables_bytes(); variable i begins at variable_offset(i).
  virtual std::span<const simt::Variable> variables() const = 0;
  virtual uint64_t variable_offset(uint32_t variable) const = 0;
  virtual uint64_t variables_bytes() const = 0;
  virtual const DeviceFacts& facts() const = 0;
};

/// Words of a SPIR-V module with the entry point "main", valid for Vulkan 1.2.
using Code = std::vector<uint32_t>;

/// Translates one kernel. KM_ERROR_UNSUPPORTED_PTX for a kernel that is refused.
Result<Code> translate(const Program& program, uint32_t kernel, const Options& options);

// ---- The contract of launches.

/// The identifiers of specialisation constants, each a 32-bit unsigned integer.
enum SpecialisationConstant : uint32_t {
  kBlockX = 0,
  kBlockY = 1,
  kBlockZ = 2,
  kSharedWords = 3,  // dynamic shared memory in 32-bit words
};

/// The push constants, from offset 0; a uniform buffer with kUniformBinding where device memory is
/// an arena.
struct PushConstants {
  uint64_t record = 0;                   // address of the LaunchRecord
  std::array<uint32_t, 3> base_block{};  // %ctaid of the dispatch's first block
  uint32_t reserved = 0;                 // zero, which the shader's compiler does not know
};
static_assert(sizeof(PushConstants) == 24);

/// The bindings of a shader that has no buffer addresses, in descriptor set 0.
enum Binding : uint32_t {
  kArenaBinding = 0,
  kUniformBinding = 1,
};
/// The address of the arena's first word. Its lower half is zero, so that the lower half of an
/// address is the place in the arena; null and small numbers are no addresses.
constexpr uint64_t kArenaBegin = uint64_t{1} << 40;

/// One launch, in device memory that the shader only reads.
struct LaunchRecord {
  uint64_t params = 0;       // address of the parameters, in PTX's layout (simt::Param)
  uint64_t variables = 0;    // address of the buffer with the module's variables
  uint64_t fault = 0;        // address of a FaultRecord
  uint64_t print = 0;        // address of a PrintBuffer; 0: no output is kept
  uint64_t allocations = 0;  // address of `allocation_count` Allocations, ascending and disjoint
  uint32_t allocation_count = 0;
  std::array<uint32_t, 3> grid{};  // %nctaid of the whole grid
  uint32_t shared_dynamic_bytes = 0;
  uint32_t print_bytes = 0;  // capacity of PrintBuffer::data
  uint64_t grid_id = 0;
};
static_assert(sizeof(LaunchRecord) == 72);

/// Memory that a checked kernel may access: [begin, end).
struct Allocation {
  uint64_t begin = 0, end = 0;
};

enum class FaultKind : uint32_t {
  none = 0,
  illegal_address = 1,
  misaligned_address = 2,
  trap = 3,
  deadlock = 5,    // threads of a block wait for each other for ever
  ended_loop = 6,  // the driver has ended a loop: DeviceFacts::most_loop_iterations
  stack_overflow = 7,
  no_function = 8,  // a call through a pointer that holds no function
  assertion = 4,    // address is that of four 64-bit words: message, file, line, function
};

/// The first fault of a launch. The thread that changes `kind` from none by an atomic exchange
/// writes the rest; the host reads it after the launch and clears it.
struct FaultRecord {
  uint32_t kind = 0;  // FaultKind
  uint32_t line = 0;  // of the PTX text
  uint64_t address = 0;
  uint32_t size_bytes = 0;
  std::array<uint32_t, 3> block{}, thread{};
  uint32_t reserved = 0;
  std::array<uint64_t, 4> assertion{};  // message, file, line, function
};
static_assert(sizeof(FaultRecord) == 80);

/// The output of printf. Records follow each other in `data`; each begins with its size in bytes
/// (u32, a multiple of 8), the size of its arguments (u32) and the address of its format string
/// (u64), then come the arguments in the layout of vprintf. The host formats them in this order.
struct PrintBuffer {
  uint32_t used_bytes = 0;  // may exceed the capacity: the rest was dropped
  uint32_t reserved = 0;
  // std::byte data[LaunchRecord::print_bytes]
};

/// The upper words of generic addresses that are not global ones. Lower words are offsets.
constexpr uint32_t kSharedTag = 0xfffffff1, kLocalTag = 0xfffffff2;

}  // namespace km::spirv
