#include "backends/cpu/module/device_runtime.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "backends/cpu/execution/device_call.h"
#include "kernelmill/c_api.h"
#include "ptx/checks/program_check.h"
#include "simt/runtime/device_call.h"

namespace km::cpu {
namespace {

/// One function. Parameters are letters: w and d are 32 and 64 bits; x a dim3; q a cudaPitchedPtr;
/// t a cudaExtent; m a pointer to cudaMemcpy3DParms; o and O pointers to results of 4 and 8 bytes;
/// D a number that is not passed on.
struct Row {
  std::string_view name;    // after "cuda" or "__cudaCDP2", before "_ptsz"
  std::string_view params;  // a letter for each parameter
  DeviceCall call;
  bool gives_pointer = false;  // true: returns a pointer; false: returns an error
};

constexpr Row kRows[] = {
    {"GetParameterBuffer", "dd", DeviceCall::get_parameter_buffer, true},
    {"GetParameterBufferV2", "dxxw", DeviceCall::get_parameter_buffer_v2, true},
    {"LaunchDevice", "ddxxwd", DeviceCall::launch},
    {"LaunchDeviceV2", "dd", DeviceCall::launch_v2},
    {"GraphLaunch", "dd", DeviceCall::graph_launch},
    {"GetLastError", "", DeviceCall::get_last_error},
    {"PeekAtLastError", "", DeviceCall::peek_last_error},
    {"Malloc", "Od", DeviceCall::allocate},
    {"Free", "d", DeviceCall::release},
    {"MemcpyAsync", "dddwd", DeviceCall::copy},
    {"Memcpy2DAsync", "ddddddwd", DeviceCall::copy_rows},
    {"Memcpy3DAsync", "md", DeviceCall::copy_layers},
    {"MemsetAsync", "dwdd", DeviceCall::fill},
    {"Memset2DAsync", "ddwddd", DeviceCall::fill_rows},
    {"Memset3DAsync", "qwtd", DeviceCall::fill_layers},
    {"StreamCreateWithFlags", "Ow", DeviceCall::stream_create},
    {"StreamDestroy", "d", DeviceCall::stream_destroy},
    {"StreamWaitEvent", "ddw", DeviceCall::stream_wait},
    {"EventCreateWithFlags", "Ow", DeviceCall::event_create},
    {"EventRecord", "dd", DeviceCall::event_record},
    {"EventRecordWithFlags", "ddw", DeviceCall::event_record},
    {"EventDestroy", "d", DeviceCall::event_destroy},
    {"DeviceGetAttribute", "oww", DeviceCall::device_attribute},
    {"DeviceGetLimit", "Ow", DeviceCall::device_limit},
    {"DeviceGetCacheConfig", "o", DeviceCall::cache_config},
    {"DeviceGetSharedMemConfig", "o", DeviceCall::cache_config},
    {"GetDeviceCount", "o", DeviceCall::device_count},
    {"GetDevice", "o", DeviceCall::device},
    {"RuntimeGetVersion", "o", DeviceCall::runtime_version},
    {"OccupancyMaxActiveBlocksPerMultiprocessor", "odwd", DeviceCall::occupancy},
    {"OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "odwdw", DeviceCall::occupancy},
};

/// The errors of the device runtime, with the texts of cudaGetErrorName and cudaGetErrorString.
struct ErrorText {
  uint32_t number;
  std::string_view name, text;
};
constexpr ErrorText kErrors[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"},
    {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {17, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {65, "cudaErrorLaunchMaxDepthExceeded", "launch would exceed maximum depth of nested launches"},
    {69, "cudaErrorLaunchPendingCountExceeded",
     "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"},
    {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {215, "cudaErrorUnsupportedLimit", "limit is not supported on this architecture"},
    {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {999, "cudaErrorUnknown", "unknown error"},
};
constexpr ErrorText kNoError = {UINT32_MAX, "unrecognized error code", "unrecognized error code"};

/// A member of cudaFuncAttributes.
struct Member {
  uint32_t offset, size_bytes;
  km_function_attribute attribute;
};
constexpr Member kMembers[] = {
    {0, 8, KM_FUNCTION_ATTRIBUTE_SHARED_BYTES},
    {8, 8, KM_FUNCTION_ATTRIBUTE_CONSTANT_BYTES},
    {16, 8, KM_FUNCTION_ATTRIBUTE_LOCAL_BYTES},
    {24, 4, KM_FUNCTION_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {28, 4, KM_FUNCTION_ATTRIBUTE_REGISTERS},
    {32, 4, KM_FUNCTION_ATTRIBUTE_TARGET},
    {36, 4, KM_FUNCTION_ATTRIBUTE_BINARY_VERSION},
    {40, 4, KM_FUNCTION_ATTRIBUTE_CACHE_GLOBALS},
    {44, 4, KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES},
    {48, 4, KM_FUNCTION_ATTRIBUTE_SHARED_CARVEOUT_PERCENT},
};

/// Builds the PTX text of one wrapper.
class Wrapper {
 public:
  explicit Wrapper(std::string name) : name_(std::move(name)) {}

  void add(char kind) {
    const std::string param = "p" + std::to_string(params_++);
    heads_ += (heads_.empty() ? ".param " : ", .param ") + declaration(kind, param);
    if (kind == 'w') word32(param);
    if (kind == 'd') word64(param);
    if (kind == 'x') dimensions(param);
    if (kind == 'q') words64(param, {"", "+8", "+24"});
    if (kind == 't') words64(param, {"", "+8", "+16"});
    if (kind == 'm') copy(param);
    if (kind == 'o' || kind == 'O') line("ld.param.b64 %out, [" + param + "];");
    if (kind == 'D') line("ld.param.b64 %count, [" + param + "];");
  }

  void call(DeviceCall function) {
    std::string arguments = std::to_string(static_cast<uint32_t>(function));
    for (uint32_t i = 0; i < simt::kDeviceCallWords; ++i) {
      arguments += i < words_ ? ", %w" + std::to_string(i) : ", 0";
    }
    line("call (%got), " + std::string(ptx::kDeviceCallName) + ", (" + arguments + ");");
  }

  /// Appends zeros until the call has `count` words.
  void fill_words(uint32_t count) {
    while (words_ < count) word("0");
  }
  void line(const std::string& text) { body_ += "  " + text + "\n"; }
  /// Appends a register's value to the call's words.
  void word(const std::string& reg) { line("mov.b64 " + next_word() + ", " + reg + ";"); }

  std::string text(bool gives_pointer) const {
    return ".visible .func (.param ." + std::string(gives_pointer ? "b64" : "b32") + " result) " +
           name_ + "(" + heads_ +
           ")\n{\n  .reg .pred %p;\n  .reg .b32 %r<2>;\n  .reg .b64 %w<10>;\n  .reg .b64 %t<4>;\n"
           "  .reg .b64 %out;\n  .reg .b64 %count;\n  .reg .b64 %got;\n" +
           body_ + "  ret;\n}\n";
  }

 private:
  static std::string declaration(char kind, const std::string& param) {
    if (kind == 'w') return ".b32 " + param;
    if (kind == 'x') return ".align 4 .b8 " + param + "[12]";
    if (kind == 'q') return ".align 8 .b8 " + param + "[32]";
    if (kind == 't') return ".align 8 .b8 " + param + "[24]";
    return ".b64 " + param;
  }
  std::string next_word() { return "%w" + std::to_string(words_++); }

  void word32(const std::string& place) {
    line("ld.param.b32 %r0, [" + place + "];");
    line("cvt.u64.u32 " + next_word() + ", %r0;");
  }
  void word64(const std::string& place) {
    line("ld.param.b64 " + next_word() + ", [" + place + "];");
  }
  void words64(const std::string& param, std::initializer_list<const char*> offsets) {
    for (const char* offset : offsets) word64(param + offset);
  }
  void dimensions(const std::string& param) {
    line("ld.param.b32 %r0, [" + param + "];");
    line("ld.param.b32 %r1, [" + param + "+4];");
    line("mov.b64 " + next_word() + ", {%r0, %r1};");
    word32(param + "+8");
  }

  /// Loads the first byte's address, the pitch and the rows of a layer for one side of
  /// cudaMemcpy3DParms; zeros if the side is an array.
  void side(const std::string& array, const int position, const int pointer) {
    const auto at = [](int offset) { return "[%out+" + std::to_string(offset) + "];"; };
    const std::string address = next_word(), pitch = next_word(), rows = next_word();
    line("ld.u64 " + address + ", " + at(pointer));
    line("ld.u64 " + pitch + ", " + at(pointer + 8));
    line("ld.u64 " + rows + ", " + at(pointer + 24));
    line("ld.u64 %t0, " + at(position));
    line("ld.u64 %t1, " + at(position + 8));
    line("ld.u64 %t2, " + at(position + 16));
    line("mad.lo.u64 %t1, %t2, " + rows + ", %t1;");
    line("mad.lo.u64 %t0, %t1, " + pitch + ", %t0;");
    line("add.u64 " + address + ", " + address + ", %t0;");
    line("ld.u64 %t3, " + array);
    line("setp.ne.u64 %p, %t3, 0;");
    line("selp.b64 " + address + ", 0, " + address + ", %p;");
  }
  void copy(const std::string& param) {
    line("ld.param.b64 %out, [" + param + "];");
    side("[%out+64];", 72, 96);
    side("[%out];", 8, 32);
    for (const char* offset : {"128", "136", "144"}) {
      line("ld.u64 " + next_word() + ", [%out+" + offset + "];");
    }
  }

  const std::string name_;
  std::string heads_, body_;
  uint32_t params_ = 0, words_ = 0;
};

std::string wrapper(const std::string& name, const Row& row) {
  Wrapper text(name);
  for (const char kind : row.params) text.add(kind);
  text.call(row.call);
  const char first = row.params.empty() ? ' ' : row.params.front();
  if (row.gives_pointer) {
    text.line("st.param.b64 [result], %got;");
    return text.text(true);
  }
  text.line("mov.b64 {%r0, %r1}, %got;");
  if (first == 'o') {
    text.line("setp.eq.u32 %p, %r1, 0;");
    text.line("@%p st.u32 [%out], %r0;");
    text.line("mov.b32 %r0, %r1;");
  } else if (first == 'O') {
    text.line("setp.ne.u32 %p, %r1, 0xFFFFFFFF;");
    text.line("@%p st.u64 [%out], %got;");
    text.line("selp.b32 %r0, 0, %r0, %p;");
  }
  text.line("st.param.b32 [result], %r0;");
  return text.text(false);
}

/// Wraps cudaFuncGetAttributes(struct cudaFuncAttributes*, const void*).
std::string attributes_wrapper(const std::string& name) {
  Wrapper text(name);
  text.add('O');
  text.add('d');
  text.word("0");
  for (const Member& member : kMembers) {
    text.line("mov.b64 %w1, " + std::to_string(member.attribute) + ";");
    text.call(DeviceCall::function_attribute);
    text.line("mov.b64 {%r0, %r1}, %got;");
    text.line("setp.eq.u32 %p, %r1, 0xFFFFFFFF;");
    text.line("@%p bra done;");
    const std::string place = "[%out+" + std::to_string(member.offset) + "], ";
    text.line(member.size_bytes == 8 ? "st.u64 " + place + "%got;" : "st.u32 " + place + "%r0;");
  }
  text.line("mov.b32 %r0, 0;");
  text.line("done:");
  text.line("st.param.b32 [result], %r0;");
  return text.text(false);
}

/// Loads up to 8 further bytes of arguments from %t0 into %w2 as %w4 says; %t1 bytes remain.
constexpr char kNextArguments[] =
    R"(setp.ne.u64 %p, %w1, 2;
  @%p bra over;
  mov.b64 %t0, %w2;
  mov.b64 %t1, %w4;
next:
  setp.eq.u64 %p, %t1, 0;
  @%p bra over;
  min.u64 %w4, %t1, 8;
  mov.b64 %w2, 0;
  mov.b64 %t2, 0;
byte:
  add.u64 %t3, %t0, %t2;
  ld.u8 %r1, [%t3];
  cvt.u64.u32 %t3, %r1;
  cvt.u32.u64 %r0, %t2;
  shl.b32 %r0, %r0, 3;
  shl.b64 %t3, %t3, %r0;
  or.b64 %w2, %w2, %t3;
  add.u64 %t2, %t2, 1;
  setp.lt.u64 %p, %t2, %w4;
  @%p bra byte;)";
constexpr char kAfterArguments[] =
    R"(add.u64 %w3, %w3, %w4;
  add.u64 %t0, %t0, %w4;
  sub.u64 %t1, %t1, %w4;
  bra next;
over:)";
/// Loads the update at %out; jumps to `done` if %count is 0.
constexpr char kNextUpdate[] =
    R"(each:
  setp.eq.u64 %p, %count, 0;
  @%p bra done;
  ld.u64 %w0, [%out];
  ld.u32 %r0, [%out+8];
  cvt.u64.u32 %w1, %r0;
  ld.u64 %w2, [%out+16];
  ld.u64 %w3, [%out+24];
  ld.u64 %w4, [%out+32];)";
constexpr char kAfterUpdate[] =
    R"(add.u64 %out, %out, 40;
  sub.u64 %count, %count, 1;
  bra each;)";

/// Applies the update that the first five words hold in the layout of cudaGraphKernelNodeUpdate;
/// arguments are passed in calls of up to 8 bytes. Jumps to `done` on an error.
void add_update(Wrapper* text) {
  const auto call = [&](DeviceCall function) {
    text->call(function);
    text->line("mov.b64 {%r0, %r1}, %got;");
    text->line("setp.ne.u32 %p, %r0, 0;");
    text->line("@%p bra done;");
  };
  call(DeviceCall::node_update);
  text->line(kNextArguments);
  call(DeviceCall::node_store);
  text->line(kAfterArguments);
}

std::string finish_update(Wrapper* text) {
  text->line("done:");
  text->line("mov.b64 {%r0, %r1}, %got;");
  text->line("st.param.b32 [result], %r0;");
  return text->text(false);
}

/// Wraps a function that updates one field of a node: the field's number, and the parameters after
/// the node.
std::string update_wrapper(const std::string& name, uint32_t field, std::string_view params) {
  Wrapper text(name);
  text.add('d');
  text.word(std::to_string(field));
  for (const char kind : params) text.add(kind);
  text.fill_words(5);
  if (params == "w") {  // only the lowest byte of a bool is stored
    text.line("and.b64 %w2, %w2, 255;");
  } else if (params == "ddd") {  // the offset comes before the value
    text.line("mov.b64 %t0, %w2;");
    text.line("mov.b64 %w2, %w3;");
    text.line("mov.b64 %w3, %t0;");
  }
  add_update(&text);
  return finish_update(&text);
}

/// Wraps cudaGraphKernelNodeUpdatesApply(const cudaGraphKernelNodeUpdate*, size_t).
std::string updates_wrapper(const std::string& name) {
  Wrapper text(name);
  text.add('O');
  text.add('D');
  text.fill_words(5);
  text.line("mov.b64 %got, 0;");
  text.line(kNextUpdate);
  add_update(&text);
  text.line(kAfterUpdate);
  return finish_update(&text);
}

std::string bytes_of(std::string_view text) {
  std::string list;
  for (const char letter : text) list += std::to_string(static_cast<int>(letter)) + ", ";
  return "{" + list + "0}";
}

/// Wraps cudaGetErrorName or cudaGetErrorString, with the table of its texts.
std::string texts_wrapper(const std::string& name, std::string_view ErrorText::* text_of) {
  std::string variables;
  Wrapper text(name);
  text.add('w');
  const auto add = [&](const ErrorText& error) {
    const std::string variable = "km_text_of_" + name + "_" + std::to_string(error.number);
    const std::string_view words = error.*text_of;
    variables += ".global .align 1 .b8 " + variable + "[" + std::to_string(words.size() + 1) +
                 "] = " + bytes_of(words) + ";\n";
    text.line("mov.u64 %t0, " + variable + ";");
    text.line("cvta.global.u64 %t0, %t0;");
  };
  add(kNoError);
  text.line("mov.b64 %got, %t0;");
  for (const ErrorText& error : kErrors) {
    add(error);
    text.line("setp.eq.u64 %p, %w0, " + std::to_string(error.number) + ";");
    text.line("selp.b64 %got, %t0, %got, %p;");
  }
  text.line("st.param.b64 [result], %got;");
  return variables + text.text(true);
}

/// The name without prefix and suffix; empty if the device runtime has no such function.
std::string_view plain_name(std::string_view name) {
  constexpr std::string_view kNested = "__cudaCDP2", kPlain = "cuda", kPerThread = "_ptsz";
  if (name.starts_with(kNested)) {
    name.remove_prefix(kNested.size());
  } else if (name.starts_with(kPlain)) {
    name.remove_prefix(kPlain.size());
  } else {
    return {};
  }
  if (name.ends_with(kPerThread)) name.remove_suffix(kPerThread.size());
  return name;
}

/// The definition of a function of the device runtime; empty if it has no such function.
std::string definition(const std::string& name) {
  const std::string_view plain = plain_name(name);
  if (plain == "FuncGetAttributes") return attributes_wrapper(name);
  if (plain == "GraphKernelNodeSetGridDim") return update_wrapper(name, 1, "x");
  if (plain == "GraphKernelNodeSetParam") return update_wrapper(name, 2, "ddd");
  if (plain == "GraphKernelNodeSetEnabled") return update_wrapper(name, 3, "w");
  if (plain == "GraphKernelNodeUpdatesApply") return updates_wrapper(name);
  if (plain == "GetErrorName") return texts_wrapper(name, &ErrorText::name);
  if (plain == "GetErrorString") return texts_wrapper(name, &ErrorText::text);
  const auto* const row = std::find_if(std::begin(kRows), std::end(kRows),
                                       [&](const Row& one) { return one.name == plain; });
  return row == std::end(kRows) ? "" : wrapper(name, *row);
}

}  // namespace

bool is_device_runtime(std::string_view function) {
  return !definition(std::string(function)).empty();
}

bool launches_grids(std::string_view function) {
  const std::string_view plain = plain_name(function);
  return std::any_of(std::begin(kRows), std::end(kRows), [&](const Row& row) {
    const bool launches = row.call <= DeviceCall::launch_v2 ||
                          (row.call >= DeviceCall::copy && row.call <= DeviceCall::fill_layers);
    return launches && row.name == plain;
  });
}

std::string device_runtime_for(const ptx::Module& module) {
  std::string text;
  for (const ptx::Function& function : module.functions) {
    if (!function.is_declaration || function.alias_of != ptx::kNone) continue;
    text += definition(function.name);
  }
  if (text.empty()) return text;
  std::string words;
  for (uint32_t i = 0; i < simt::kDeviceCallWords; ++i) {
    words += ", .param .b64 w" + std::to_string(i);
  }
  return ".extern .func (.param .b64 result) " + std::string(ptx::kDeviceCallName) +
         "(.param .b32 function" + words + ");\n" + text;
}

}  // namespace km::cpu
