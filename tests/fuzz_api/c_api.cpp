// The C ABI under test.
#include <kernelmill/c_api.h>

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>

#include "caller.h"
#include "texts.h"

namespace km::fuzz {
namespace {

#include "generated/c_api_calls.inc"

// What takes long, and how seldom it is called.
struct Rare {
  const char* name;
  unsigned one_in;
};
constexpr Rare kRare[] = {
    {"km_tune_run", 400},
    {"km_program_compile", 400},
    {"km_module_load_source", 400},
    {"km_module_load_program", 100},
    {"km_tune_function", 20},
    {"km_module_load_ptx", 20},
    {"km_module_load_file", 20},
    {"km_module_from_object", 10},
    {"km_module_save_object", 200},
    {"km_function_prepare", 20},
    {"km_context_create", 20},
    {"km_context_reset", 20},
    {"km_context_destroy", 20},
    {"km_device_open", 10},
    {"km_stream_wait_value", 30},
    {"km_set_allocator", 100},
    {"km_graph_add_child", 4},
    {"km_graph_set_child", 4},
    {"km_context_start_memory_profile", 10},
    {"km_profiler_write", 20},
    {"km_context_limit_set", 10},
    {"km_context_synchronize", 4},
    {"km_comm_create_all", 10},
    {"km_comm_split", 10},
    {"km_comm_send", 50},  // nobody may receive it: its stream waits for the time limit
    {"km_comm_receive", 50},
};
constexpr Maker kMakers[] = {
    {k_km_device, "km_device_open", 2},     {k_km_context, "km_context_create", 3},
    {k_km_stream, "km_stream_create", 2},   {k_km_event, "km_event_create", 2},
    {k_km_slice, "km_slice_create", 4},     {k_km_host_memory, "km_host_memory_create", 1},
    {k_km_module, "km_module_load_ptx", 1}, {k_km_function, "km_module_function", 4},
    {k_km_launch, "km_launch_create", 2},   {k_km_program, "km_program_create", 1},
    {k_km_pool, "km_pool_create", 1},       {k_km_graph, "km_graph_create", 2},
    {kNode, "km_graph_add_kernel", 2},      {k_km_graph_exec, "km_graph_exec_create", 2},
    {k_km_blas, "km_blas_create", 2},       {k_km_tune, "km_tune_create", 1},
    {k_km_fft, "km_fft_create", 2},         {k_km_comm, "km_comm_create", 2},
};
// In the order in which their handles are ended, and with what.
constexpr Rare kEnders[] = {
    {"km_tune_destroy", k_km_tune},
    {"km_blas_destroy", k_km_blas},
    {"km_fft_destroy", k_km_fft},
    {"km_comm_destroy", k_km_comm},
    {"km_launch_destroy", k_km_launch},
    {"km_graph_exec_destroy", k_km_graph_exec},
    {"km_graph_destroy", k_km_graph},
    {"km_event_destroy", k_km_event},
    {"km_slice_destroy", k_km_slice},
    {"km_pool_destroy", k_km_pool},
    {"km_stream_destroy", k_km_stream},
    {"km_function_destroy", k_km_function},
    {"km_module_destroy", k_km_module},
    {"km_program_destroy", k_km_program},
    {"km_host_memory_destroy", k_km_host_memory},
    {"km_context_destroy", k_km_context},
    {"km_device_destroy", k_km_device},
};

const Script kScripts[] = {
    {"km_launch_create", "km_launch_set_grid", "km_launch_set_block", "km_launch_arg_slice",
     "km_launch_arg_address", "km_launch_arg_scalar", "km_launch_submit", "km_launch_submit"},
    {"km_launch_create", "km_launch_arg_slice", "km_launch_arg_slice", "km_launch_arg_scalar",
     "km_launch_set_cooperative", "km_launch_submit", "km_stream_synchronize"},
    {"km_stream_create", "km_stream_begin_capture", "km_launch_kernel", "km_slice_upload",
     "km_stream_add_callback", "km_slice_fill_u32", "km_blas_create", "km_blas_axpy",
     "km_stream_end_capture", "km_graph_exec_create", "km_graph_exec_launch",
     "km_graph_exec_launch"},
    {"km_stream_create", "km_fft_create", "km_fft_execute", "km_stream_begin_capture",
     "km_fft_execute", "km_fft_destroy", "km_stream_end_capture", "km_graph_exec_create",
     "km_graph_exec_launch", "km_graph_exec_launch"},
    {"km_stream_create", "km_comm_create", "km_comm_all_reduce", "km_comm_group_begin",
     "km_comm_send", "km_comm_receive", "km_comm_group_end", "km_stream_begin_capture",
     "km_comm_all_gather", "km_stream_end_capture", "km_graph_exec_create", "km_graph_exec_launch"},
    {"km_stream_create", "km_stream_begin_capture", "km_event_record", "km_memory_copy",
     "km_stream_synchronize", "km_launch_kernel", "km_stream_end_capture"},
    {"km_graph_create", "km_graph_add_kernel", "km_graph_add_copy", "km_graph_add_upload",
     "km_graph_add_fill", "km_graph_add_host", "km_graph_add_copy_3d", "km_graph_exec_create",
     "km_graph_exec_launch", "km_graph_set_fill", "km_graph_exec_update", "km_graph_exec_launch"},
    {"km_graph_create", "km_graph_add_empty", "km_graph_add_download", "km_graph_add_fill_2d",
     "km_graph_add_copy_peer", "km_graph_node_info_get", "km_graph_remove_node", "km_graph_nodes",
     "km_graph_dot", "km_graph_clone", "km_graph_exec_create", "km_graph_exec_update_node",
     "km_graph_exec_launch"},
    {"km_graph_create", "km_graph_add_kernel", "km_graph_set_kernel", "km_graph_node_function",
     "km_graph_node_arguments", "km_graph_add_copy", "km_graph_set_copy", "km_graph_add_upload",
     "km_graph_set_upload", "km_graph_add_download", "km_graph_set_download",
     "km_graph_exec_create", "km_graph_set_download", "km_graph_exec_update_node"},
    {"km_graph_create", "km_graph_add_copy_3d", "km_graph_set_copy_3d", "km_graph_node_rows",
     "km_graph_add_upload_3d", "km_graph_set_upload_3d", "km_graph_add_download_3d",
     "km_graph_set_download_3d", "km_graph_add_fill_2d", "km_graph_set_fill_2d",
     "km_graph_add_copy_peer", "km_graph_set_copy_peer", "km_graph_add_fill", "km_graph_set_fill",
     "km_graph_add_host", "km_graph_set_host", "km_graph_exec_create"},
    {"km_graph_create", "km_graph_add_fill", "km_graph_create", "km_graph_add_child",
     "km_graph_set_child", "km_graph_exec_create", "km_graph_node_child"},
    {"km_graph_create", "km_graph_add_empty", "km_graph_add_fill", "km_graph_add_empty",
     "km_graph_remove_dependency", "km_graph_exec_create"},
    {"km_event_create", "km_event_record", "km_launch_kernel", "km_event_create", "km_event_record",
     "km_event_synchronize", "km_event_elapsed_ns"},
    {"km_slice_create", "km_slice_fill_u8", "km_slice_view", "km_slice_copy", "km_slice_download",
     "km_slice_destroy_on_stream"},
    {"km_context_set_tracking", "km_slice_create", "km_slice_set_tag", "km_context_allocations",
     "km_context_start_memory_profile", "km_pool_create", "km_pool_allocate",
     "km_context_memory_samples"},
    {"km_profiler_start", "km_profiler_range_push", "km_launch_kernel", "km_profiler_range_pop",
     "km_stream_synchronize", "km_profiler_summary", "km_profiler_row_get", "km_profiler_write",
     "km_profiler_stop"},
    {"km_profiler_set_counters", "km_profiler_start", "km_launch_kernel", "km_launch_kernel",
     "km_launch_kernel", "km_launch_kernel", "km_context_synchronize", "km_profiler_counter_count",
     "km_profiler_counter_get", "km_profiler_counter_get", "km_profiler_counter_get",
     "km_profiler_counter_get", "km_profiler_stop"},
    {"km_program_create", "km_program_add_name_expression", "km_program_compile", "km_program_log",
     "km_program_ptx", "km_program_lowered_name", "km_module_load_program", "km_program_destroy"},
    {"km_tune_create", "km_tune_add_candidate", "km_tune_add_buffer", "km_tune_add_buffer",
     "km_tune_add_scalar", "km_tune_run", "km_tune_result_get", "km_tune_result_message",
     "km_tune_function", "km_tune_destroy"},
};

/// Calls with many operands whose values have to fit together, which single draws hardly ever do:
/// one in two has small sizes, types that the function takes, and arrays that hold them.
constexpr const char* kFitted[] = {"km_blas_",
                                   "km_sparse_",
                                   "km_solve_",
                                   "km_comm_",
                                   "_set_element_type",
                                   "km_function_check_argument",
                                   "km_graph_remove_dependency",
                                   "km_graph_add_child",
                                   "km_graph_set_child",
                                   "km_program_",
                                   "km_module_from_object",
                                   "km_profiler_set_counters",
                                   "km_profiler_counter_get",
                                   "km_function_max_active_clusters",
                                   "km_tune_"};
constexpr Word kMostFitted = 4;         // the sizes of matrices
constexpr uint64_t kFittedStride = 32;  // between matrices of a batch
/// The kind of operands of this thread's call.
struct Fit {
  bool is_fitted = false, has_scale = false;
  std::vector<Word> slices;
  const std::string* object = nullptr;  // of km_module_from_object

  /// A slice that no other operand has, if there are as many: results overlap nothing.
  Word other_slice(Values& values) {
    constexpr int kTries = 8;
    Word slice = 0;
    for (int i = 0; i < kTries; ++i) {
      slice = values.handle(k_km_slice, false);
      if (std::find(slices.begin(), slices.end(), slice) == slices.end()) break;
    }
    slices.push_back(slice);
    return slice;
  }
};
thread_local Fit t_fit;

thread_local uint64_t t_fail_after = 0;
std::atomic<uint64_t> g_allocated{0};

void* allocate(void*, uint64_t size_bytes, km_host_allocation_flags flags) {
  if (t_fail_after != 0 && (flags & KM_HOST_ALLOCATION_NEEDED) == 0 && --t_fail_after == 0) {
    return nullptr;
  }
  void* const memory = std::malloc(size_bytes);
  if (memory != nullptr) g_allocated += malloc_usable_size(memory);
  return memory;
}
void give_back(void*, void* memory) {
  g_allocated -= malloc_usable_size(memory);
  std::free(memory);
}

uint64_t choice_of(void* user_data) { return reinterpret_cast<uint64_t>(user_data); }  // NOLINT
void host_callback(void* user_data, km_status) { call_in_callback(choice_of(user_data)); }
void release_callback(void* user_data) { call_in_callback(choice_of(user_data)); }
void tune_callback(void* user_data, uint32_t, uint32_t) { call_in_callback(choice_of(user_data)); }
void output_callback(void* user_data, const char*, uint64_t) {
  call_in_callback(choice_of(user_data));
}
void finding_callback(void* user_data, const km_finding*) {
  call_in_callback(choice_of(user_data));
}
uint64_t shared_bytes(void* user_data, uint32_t block_threads) {
  call_in_callback(choice_of(user_data));
  return block_threads * (choice_of(user_data) % 64);
}

bool has_part(const Row& row, const char* part) { return std::strstr(row.name, part) != nullptr; }
bool is_named(const Row& row, const char* name) { return std::strcmp(row.name, name) == 0; }

unsigned find_rarity(const Row& row) {
  for (const Rare& rare : kRare) {
    if (is_named(row, rare.name)) return rare.one_in;
  }
  return 1;
}

class CApi final : public Api {
 public:
  CApi()
      : Api({kRows, kEnumerations, kHandleTypeCount, kMakers, kScripts, k_km_graph, kNode,
             find_rarity}) {
    setenv("KM_COMM_TIMEOUT_S", "1", 1);
  }

  uint32_t current_group(Shared&) const override { return 0; }
  void enter_group(uint32_t, Shared&) override {}
  uint64_t size_of_new(const Row&, const Word*) const override { return 256; }
  void note_new(size_t type, const PoolEntry& entry, Values& values) override;
  Grouping grouping(size_t type) const override {
    if (type == k_km_context) return Grouping::kBegins;
    const bool is_free = type == k_km_device || type == k_km_program || type == k_km_tune;
    return is_free ? Grouping::kNone : Grouping::kInherits;
  }
  size_t most_handles(size_t type) const override {
    if (type == k_km_context) return 3;
    return type == k_km_device || type == k_km_program || type == k_km_tune ? 4 : 32;
  }
  std::vector<std::string> environment(uint64_t round) const override;

  void fill(const Row& row, const Parameter& parameter, Values& values, void* memory,
            size_t count) override;
  std::optional<Word> pointer_instead(const Row& row, const Parameter& parameter,
                                      Values& values) override;
  Word callback(int16_t type, Values& values) override;
  void call_in_child() override {
    uint32_t count = 0;
    km_device_count("cpu", &count);
  }
  void adjust(const Row& row, Values& values, Word* words) override;

  bool bounds_host_memory(const Row& row) const override {
    return has_part(row, "upload") || has_part(row, "download");
  }
  bool has_failed(int64_t result) const override { return result >= KM_ERROR_INTERNAL; }
  bool leaves_outputs(int64_t result) const override {
    return has_failed(result) && result != KM_ERROR_BUFFER_TOO_SMALL;
  }
  std::string defect(const Row& row, int64_t result) const override;
  bool ends_handle(const Row& row) const override { return has_part(row, "_destroy"); }
  bool ends_address(const Row&) const override { return false; }
  bool takes_host_addresses(const Row&) const override { return false; }
  bool ends_group(const Row& row) const override {
    return is_named(row, "km_context_reset") || is_named(row, "km_context_destroy");
  }
  std::vector<uint32_t> repair(Values& values) override;
  void release(size_t type, Word handle) override;
  void release_address(const PoolEntry&) override {}
  void release_all(Shared& shared) override;

  uint64_t allocated() const override { return g_allocated.load(); }
  void begin_thread(Values&) override { km_set_allocator(allocate, give_back, nullptr); }
  std::vector<uint32_t> rescue(Shared& shared) override;
  void fail_allocation(uint64_t after) override { t_fail_after = after; }
};

std::vector<std::string> CApi::environment(uint64_t round) const {
  constexpr const char* kIsas[] = {KM_FUZZ_ISAS};
  constexpr const char* kModes[] = {"a", "a", "b", "c"};
  return {std::string("KM_LOG=") + (round % 8 == 7 ? "debug" : "off"),
          "KM_LOG_FILE=/dev/null",
          "KM_CPU_DEVICES=2",
          "KM_CPU_THREADS=" + std::to_string(2 + round % 3),
          "KM_CPU_MEMORY=checked",
          "KM_CPU_MEMORY_MIB=512",
          "KM_CUDA_DRIVER=/nonexistent",
          "KM_KERNEL_TIMEOUT_MS=400",
          std::string("KM_CPU_MODE=") + kModes[round % 4],
          std::string("KM_CPU_ISA=") + kIsas[round % 2]};
}

std::string CApi::defect(const Row& row, int64_t result) const {
  if (result == KM_ERROR_INTERNAL) return "an internal error";
  if (result == KM_ERROR_FORKED) return "nobody has forked";
  const Enumeration& statuses = kEnumerations[kEnum_km_status];
  const auto* const end = statuses.values + statuses.count;
  if (std::find(statuses.values, end, result) == end) return "no status";
  if (result == KM_TIMEOUT && !has_part(row, "_timeout")) return "nothing has a time limit";
  return "";
}

Word CApi::callback(int16_t type, Values&) {
  const auto word = [](auto* function) { return reinterpret_cast<Word>(function); };  // NOLINT
  switch (type) {
    case k_km_host_callback:
      return word(host_callback);
    case k_km_release_callback:
      return word(release_callback);
    case k_km_tune_callback:
      return word(tune_callback);
    case k_km_output_callback:
      return word(output_callback);
    case k_km_finding_callback:
      return word(finding_callback);
    case k_km_shared_bytes_callback:
      return word(shared_bytes);
    case k_km_allocate_callback:
      return word(allocate);
    default:
      return word(give_back);
  }
}

// Structures.

uint32_t narrow(Word word) { return static_cast<uint32_t>(word); }

km_launch_config draw_config(Values& values) {
  km_launch_config config{};
  for (uint32_t& size : config.grid) size = narrow(values.number(kDimension, values.is_wrong()));
  for (uint32_t& size : config.block) size = narrow(values.number(kDimension, values.is_wrong()));
  config.shared_bytes = values.number(kSharedSize, values.is_wrong());
  return config;
}

km_launch_slice draw_launch_slice(Values& values, size_t index) {
  km_launch_slice slice{};
  slice.parameter = values.is_wrong() ? narrow(values.edge()) : index % 2;
  slice.reserved = values.is_wrong() ? 1 : 0;
  slice.slice = values.handle(k_km_slice, values.is_wrong());
  slice.offset_bytes = values.number(kOffset, values.is_wrong());
  return slice;
}

/// Rows of a copy. The side that lies in the memory of the host stays within it.
km_copy_3d draw_copy(const Row& row, Values& values) {
  Random& random = values.random;
  km_copy_3d copy{
      random.between(1, 64), random.between(1, 8), random.between(1, 3), 0, 0, 0, 0, 0, 0};
  const auto pitch = [&] { return random.one_in(2) ? 0 : copy.width_bytes + random.below(64); };
  const auto rows = [&] { return random.one_in(2) ? 0 : copy.height + random.below(4); };
  copy.destination_pitch_bytes = pitch();
  copy.source_pitch_bytes = pitch();
  copy.destination_layer_rows = rows();
  copy.source_layer_rows = rows();
  const bool from_host = has_part(row, "upload"), to_host = has_part(row, "download");
  if (!to_host) {
    copy.destination_offset_bytes = values.number(kOffset, values.is_wrong());
    if (values.is_wrong()) copy.destination_pitch_bytes = values.edge();
    if (values.is_wrong()) copy.destination_layer_rows = values.edge();
  }
  if (!from_host) {
    copy.source_offset_bytes = values.number(kOffset, values.is_wrong());
    if (values.is_wrong()) copy.source_pitch_bytes = values.edge();
    if (values.is_wrong()) copy.source_layer_rows = values.edge();
  }
  // So large that no device memory has it: refused before anything is read.
  if (values.is_wrong()) copy.width_bytes = 1ull << random.between(40, 63);
  if (values.is_wrong()) copy.height = 0;
  return copy;
}

km_blas_vector draw_vector(Values& values) {
  km_blas_vector vector{};
  if (t_fit.is_fitted) {
    vector.slice = t_fit.other_slice(values);
    vector.increment = values.random.one_in(8) ? 2 : 1;
    return vector;
  }
  const bool by_slice = !values.random.one_in(4);
  if (by_slice || values.is_wrong()) vector.slice = values.handle(k_km_slice, values.is_wrong());
  if (!by_slice || values.is_wrong()) vector.address = values.address(values.is_wrong());
  vector.offset = values.is_wrong() ? values.edge() : values.random.below(3);
  vector.increment = values.is_wrong() ? static_cast<int64_t>(values.edge())
                                       : static_cast<int64_t>(values.random.below(4)) - 1;
  return vector;
}

km_blas_matrix draw_matrix(Values& values) {
  const km_blas_vector vector = draw_vector(values);
  km_blas_matrix matrix{vector.slice, vector.address, vector.offset, 0, 0};
  if (t_fit.is_fitted) {
    matrix.leading_dimension = kMostFitted + values.random.below(2);
    matrix.stride = kFittedStride;
    return matrix;
  }
  matrix.leading_dimension = values.is_wrong() ? values.edge() : values.random.below(16);
  matrix.stride = values.is_wrong() ? values.edge() : values.random.below(3) * 16;
  return matrix;
}

km_array draw_array(Values& values) {
  const km_blas_vector vector = draw_vector(values);
  if (t_fit.is_fitted) return {vector.slice, 0, 0, kFittedStride};
  const uint64_t stride = values.is_wrong() ? values.edge() : values.random.below(64);
  return {vector.slice, vector.address, vector.offset, stride};
}

km_fft_layout draw_layout(Values& values) {
  km_fft_layout layout{};
  if (values.random.one_in(2)) return layout;
  const auto draw = [&](uint64_t end) {
    return values.is_wrong() ? values.edge() : values.random.below(end);
  };
  for (uint64_t& extent : layout.extents) extent = draw(16);
  layout.stride = draw(4);
  layout.distance = draw(1024);
  return layout;
}

km_fft_shape draw_shape(Values& values) {
  km_fft_shape shape{};
  shape.kind = static_cast<km_fft_kind>(values.random.between(values.is_wrong() ? 0 : 1, 3));
  constexpr km_data_type kTypes[] = {KM_DATA_TYPE_F32, KM_DATA_TYPE_F64, KM_DATA_TYPE_F16,
                                     KM_DATA_TYPE_BF16, KM_DATA_TYPE_C32};
  shape.type = kTypes[values.random.below(values.is_wrong() ? 5 : 4)];
  shape.rank = static_cast<uint32_t>(values.random.between(1, values.is_wrong() ? 4 : 3));
  for (uint32_t i = 0; i < std::min(shape.rank, 3U); ++i) {
    shape.sizes[i] = values.is_wrong() ? values.edge() : values.random.between(1, 16);
  }
  shape.batch_count = values.is_wrong() ? values.edge() : values.random.between(1, 5);
  shape.input = draw_layout(values);
  shape.output = draw_layout(values);
  return shape;
}

/// Offsets and indices are any bits that are in memory: they end the context if they are wrong.
km_sparse_matrix draw_sparse(Values& values) {
  km_sparse_matrix matrix{};
  matrix.format = values.is_wrong() ? 9 : static_cast<int32_t>(1 + values.random.below(3));
  matrix.index_size_bytes = values.is_wrong() ? 3 : 4 << values.random.below(2);
  matrix.index_base = values.is_wrong() ? 2 : narrow(values.random.below(2));
  matrix.reserved = values.is_wrong() ? 1 : 0;
  for (uint64_t* const size : {&matrix.rows, &matrix.columns, &matrix.nonzeros}) {
    *size = values.is_wrong() ? values.edge() : values.random.below(12);
  }
  if (!values.random.one_in(4)) matrix.columns = matrix.rows;
  if (t_fit.is_fitted) {
    matrix = {};
    matrix.format = static_cast<int32_t>(1 + values.random.below(3));
    matrix.index_size_bytes = 4 << values.random.below(2);
    matrix.rows = matrix.columns = values.random.between(1, kMostFitted);
    matrix.nonzeros = values.random.below(matrix.rows + 1);
  }
  matrix.offsets = draw_array(values);
  matrix.indices = draw_array(values);
  matrix.values = draw_array(values);
  return matrix;
}

/// The name of a new communicator, or any bytes.
km_comm_id draw_comm_id(Values& values) {
  km_comm_id id{};
  const Word context = values.handle(k_km_context, values.is_wrong());
  const auto handle = reinterpret_cast<km_context>(context);  // NOLINT: handles are numbers
  if (values.is_wrong() || km_comm_id_create(handle, &id) != KM_SUCCESS) {
    for (uint8_t& each : id.bytes) each = static_cast<uint8_t>(values.random.below(256));
  }
  return id;
}

void fill_arguments(Values& values, uint8_t* memory, size_t size_bytes) {
  for (size_t at = 0; at < size_bytes; at += 8) {
    const Word word = at == 16 ? values.random.below(256) : values.address(values.is_wrong());
    std::memcpy(memory + at, &word, std::min<size_t>(8, size_bytes - at));
  }
}

template <class Structure, class Draw>
void fill_each(void* memory, size_t count, Draw&& draw) {
  for (size_t i = 0; i < count; ++i) {
    const Structure structure = draw(i);
    std::memcpy(static_cast<uint8_t*>(memory) + i * sizeof structure, &structure, sizeof structure);
  }
}

void CApi::fill(const Row& row, const Parameter& parameter, Values& values, void* memory,
                size_t count) {
  switch (parameter.detail) {
    case kArguments:
      return fill_arguments(values, static_cast<uint8_t*>(memory), count);
    case k_km_launch_config:
      return fill_each<km_launch_config>(memory, count,
                                         [&](size_t) { return draw_config(values); });
    case k_km_launch_slice:
      return fill_each<km_launch_slice>(memory, count,
                                        [&](size_t i) { return draw_launch_slice(values, i); });
    case k_km_copy_3d:
      return fill_each<km_copy_3d>(memory, count, [&](size_t) { return draw_copy(row, values); });
    case k_km_blas_vector:
      return fill_each<km_blas_vector>(memory, count, [&](size_t) { return draw_vector(values); });
    case k_km_blas_matrix:
      return fill_each<km_blas_matrix>(memory, count, [&](size_t) { return draw_matrix(values); });
    case k_km_sparse_matrix:
      return fill_each<km_sparse_matrix>(memory, count,
                                         [&](size_t) { return draw_sparse(values); });
    case k_km_array:
      return fill_each<km_array>(memory, count, [&](size_t) { return draw_array(values); });
    case k_km_fft_shape:
      return fill_each<km_fft_shape>(memory, count, [&](size_t) { return draw_shape(values); });
    case k_km_comm_id:
      return fill_each<km_comm_id>(memory, count, [&](size_t) { return draw_comm_id(values); });
    case kBlockShapes:
      return fill_each<uint32_t>(memory, 3 * count, [&](size_t) {
        return narrow(values.number(kDimension, values.is_wrong()));
      });
    default:  // numbers of BLAS
      return fill_each<double>(memory, count * parameter.size_bytes / 8, [&](size_t) {
        return static_cast<double>(values.random.below(5)) - 2;
      });
  }
}

/// The program of all fitted calls that compile.
constexpr char kFittedSource[] =
    "extern \"C\" __global__ void noop(int* a, int* b, unsigned n) {}\n";
constexpr char kFittedPtx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry noop() { ret; }\n";

/// The content of an object file, made in the context of the first call; empty if that fails.
const std::string& saved_object(Word context) {
  static std::mutex mutex;
  static std::string content;
  const std::lock_guard lock(mutex);
  const auto handle = reinterpret_cast<km_context>(context);  // NOLINT: handles are numbers
  km_module module = nullptr;
  const uint32_t shape[] = {32, 1, 1};
  constexpr const char* kFile = "fitted.kmo";
  if (content.empty() && km_module_load_ptx(handle, kFittedPtx, 0, "noop", &module) == KM_SUCCESS) {
    if (km_module_save_object(module, kFile, shape, 1) == KM_SUCCESS) {
      content.assign(std::istreambuf_iterator<char>(std::ifstream(kFile).rdbuf()), {});
    }
    km_module_destroy(module);
  }
  return content;
}

/// Texts of programs and tuning, and the bytes of an object file.
std::optional<Word> fitted_pointer(const Row& row, const Parameter& parameter) {
  const auto word = [](const char* text) { return reinterpret_cast<Word>(text); };  // NOLINT
  const bool is_program = has_part(row, "km_program_"), is_tune = has_part(row, "km_tune_");
  if (parameter.kind == Kind::kData && is_named(row, "km_module_from_object")) {
    return word(t_fit.object->data());
  }
  if (parameter.kind != Kind::kText || (!is_program && !is_tune)) return std::nullopt;
  if (parameter.detail == kOption) return is_tune ? std::optional<Word>(0) : std::nullopt;
  if (parameter.detail == kSource) {
    return has_part(row, "_create") ? std::optional(word(kFittedSource)) : std::nullopt;
  }
  return word("noop");
}

/// The scale of a reduction belongs to one kind of reduction only, a name to one type of elements.
std::optional<Word> CApi::pointer_instead(const Row& row, const Parameter& parameter, Values&) {
  if (!t_fit.is_fitted) return std::nullopt;
  if (const auto found = fitted_pointer(row, parameter)) return found;
  const bool is_scale = parameter.kind == Kind::kInput && parameter.detail == kBlasScalar;
  if (is_scale && has_part(row, "km_comm_") && !t_fit.has_scale) return Word{0};
  if (parameter.kind == Kind::kText && has_part(row, "_set_element_type")) return Word{0};
  return std::nullopt;
}

Word fitted_enumerator(int16_t which, Random& random) {
  constexpr km_data_type kTypes[] = {KM_DATA_TYPE_F32, KM_DATA_TYPE_F64, KM_DATA_TYPE_C32,
                                     KM_DATA_TYPE_C64};
  constexpr km_element_type kElements[] = {
      KM_ELEMENT_TYPE_I8,  KM_ELEMENT_TYPE_U8,  KM_ELEMENT_TYPE_I32, KM_ELEMENT_TYPE_U32,
      KM_ELEMENT_TYPE_I64, KM_ELEMENT_TYPE_U64, KM_ELEMENT_TYPE_F16, KM_ELEMENT_TYPE_BF16,
      KM_ELEMENT_TYPE_F32, KM_ELEMENT_TYPE_F64};
  switch (which) {
    case kEnum_km_data_type:
      return static_cast<Word>(random.pick(kTypes));
    case kEnum_km_element_type:
      return static_cast<Word>(random.pick(kElements));
    case kEnum_km_comm_reduction:
      t_fit.has_scale = random.one_in(4);
      if (t_fit.has_scale) return KM_COMM_REDUCTION_SCALED_SUM;
      return random.between(KM_COMM_REDUCTION_SUM, KM_COMM_REDUCTION_AVERAGE);
    case kEnum_km_blas_operation:  // two of three for types, real and complex
      return random.between(1, random.one_in(4) ? 3 : 1);
    default:  // those of matrices: both ways that all routines have
      return random.between(1, 2);
  }
}

/// Numbers from the largest one down, since QR has m >= n >= k.
void fit_words(const Row& row, Random& random, Word* words) {
  Word size = random.between(1, kMostFitted);
  for (size_t i = 0; i < row.parameter_count; ++i) {
    const Parameter& parameter = row.parameters[i];
    if (parameter.kind == Kind::kEnumerator) {
      words[i] = fitted_enumerator(parameter.detail, random);
    } else if (parameter.kind == Kind::kNumber) {
      words[i] = size;
      if (random.one_in(4)) size = random.between(1, size);
    }
  }
}

/// Nodes that depend on each other, and graphs that are not their own children.
void fit_graph(const Row& row, Values& values, Word* words) {
  if (is_named(row, "km_graph_remove_dependency")) {
    words[1] = words[2] - 1;  // as scripts make them
    return;
  }
  for (size_t i = 1; i < row.parameter_count; ++i) {
    const Parameter& parameter = row.parameters[i];
    if (parameter.kind != Kind::kHandle || parameter.detail != k_km_graph) continue;
    for (int tries = 0; tries < 4 && words[i] == words[0]; ++tries) {
      words[i] = values.shared().handles[k_km_graph].live(values.random, values.group()).value;
    }
  }
}

/// Sizes of what fitted_pointer() gives, room for texts, and numbers of things that there are.
/// Returns false for other calls.
bool fit_code(const Row& row, Random& random, Word* words) {
  constexpr Word kRoom = 16384, kBufferBytes = 64, kBlockThreads = 32;
  if (is_named(row, "km_module_from_object")) {
    t_fit.object = &saved_object(words[0]);
    t_fit.is_fitted = !t_fit.object->empty();
    words[2] = t_fit.object->size();
  } else if (is_named(row, "km_profiler_set_counters")) {
    words[1] = 1;
  } else if (is_named(row, "km_profiler_counter_get")) {
    words[1] = random.below(3);
    words[2] = 0;
  } else if (is_named(row, "km_function_max_active_clusters")) {
    words[1] = kBlockThreads, words[2] = 0, words[3] = 1;
  } else if (is_named(row, "km_program_create")) {
    words[1] = sizeof kFittedSource - 1;
  } else if (is_named(row, "km_tune_create")) {
    words[2] = sizeof kFittedSource - 1;
  } else if (is_named(row, "km_tune_add_buffer")) {
    words[2] = kBufferBytes;
  } else if (is_named(row, "km_tune_add_scalar")) {
    words[2] = sizeof(uint32_t);
  } else if (has_part(row, "km_tune_result") || is_named(row, "km_tune_function")) {
    words[1] = 0;
  } else if (has_part(row, "km_program_")) {
    for (size_t i = 0; i < row.parameter_count; ++i) {
      if (row.parameters[i].detail == kCapacity && row.parameters[i].kind == Kind::kNumber) {
        words[i] = kRoom;
      }
    }
  } else {
    return has_part(row, "km_tune_");
  }
  return true;
}

void fit(const Row& row, Values& values, Word* words) {
  const auto is_part = [&](const char* part) { return has_part(row, part); };
  // A program or a tuning is made by many calls, each of which has to be right.
  const bool is_of_many = is_part("km_program_") || is_part("km_tune_");
  t_fit = {};
  t_fit.is_fitted = (is_of_many ? !values.random.one_in(16) : values.random.one_in(2)) &&
                    std::any_of(std::begin(kFitted), std::end(kFitted), is_part);
  if (!t_fit.is_fitted) return;
  if (is_part("km_graph_")) return fit_graph(row, values, words);
  if (fit_code(row, values.random, words)) return;
  const bool makes_comm =
      row.parameter_count == 0 || is_part("km_comm_create") || is_named(row, "km_comm_split");
  if (!makes_comm) fit_words(row, values.random, words);
  // One rank is all there is; elements are no vectors.
  const bool has_peer = row.parameters[row.parameter_count - 1].kind == Kind::kNumber;
  if (is_part("km_comm_") && !makes_comm && has_peer) words[row.parameter_count - 1] = 0;
  if (is_part("_element_type")) words[2] = 1;
  if (is_named(row, "km_function_check_argument")) {
    words[1] = 0;  // all kernels begin with an address
    words[2] = KM_ELEMENT_TYPE_POINTER;
    words[3] = 1;
    words[4] = sizeof(void*);
  }
}

void CApi::adjust(const Row& row, Values& values, Word* words) {
  for (const Parameter& parameter : row.all()) {
    if (parameter.kind != Kind::kInput || parameter.of < 0 || values.is_wrong()) continue;
    if (parameter.detail == kBlockShapes) words[parameter.of] = values.random.below(3);
    if (parameter.detail == kArguments) words[parameter.of] = values.random.one_in(4) ? 24 : 20;
    if (parameter.detail == k_km_launch_slice) words[parameter.of] = values.random.below(3);
  }
  const bool makes_memory = has_part(row, "slice_create") || has_part(row, "pool_allocate");
  for (size_t i = 0; makes_memory && i < row.parameter_count; ++i) {
    const Parameter& parameter = row.parameters[i];
    const bool is_number = parameter.kind == Kind::kNumber && !values.is_wrong();
    if (is_number && parameter.detail == kCount) words[i] = values.random.between(1024, 4096);
    if (is_number && parameter.detail == kElementSize) words[i] = 4 << values.random.below(3);
  }
  if (is_named(row, "km_launch_arg_scalar") && !values.is_wrong()) words[2] = 4;
  if (is_named(row, "km_stream_wait_value") && !values.random.one_in(16)) words[4] = 0;
  if (is_named(row, "km_slice_from_host") && words[3] != 0) {
    words[2] = std::min(words[2], HostMemory::kPagesBytes / words[3]);
    if (words[2] == 0) words[3] = std::min<Word>(words[3], HostMemory::kPagesBytes);
  }
  // Ranks of other processes would never come.
  constexpr Word kMostRanks = 4096;
  if (is_named(row, "km_comm_create") && words[2] <= kMostRanks) words[2] = words[2] != 0 ? 1 : 0;
  if (is_named(row, "km_comm_create") && !values.is_wrong()) words[3] = 0;
  if (is_named(row, "km_comm_create_all")) words[1] = std::min<Word>(words[1], 2);
  if (has_part(row, "km_blas_") || has_part(row, "km_sparse_")) {
    for (size_t i = 0; i < row.parameter_count; ++i) {
      const bool is_count = row.parameters[i].kind == Kind::kNumber;
      if (is_count && words[i] < 4096) words[i] %= 12;
    }
  }
  fit(row, values, words);
}

void CApi::note_new(size_t type, const PoolEntry& entry, Values& values) {
  if (type != k_km_slice) return;
  km_slice_info info{};
  info.struct_size = sizeof info;
  const auto slice = reinterpret_cast<km_slice>(entry.value);  // NOLINT: handles are numbers
  if (km_slice_info_get(slice, &info) != KM_SUCCESS) return;
  const PoolEntry place{info.address, entry.group, entry.value, info.size_bytes};
  values.shared().addresses.add(place, 64, values.random);
}

std::vector<uint32_t> CApi::repair(Values& values) {
  std::vector<uint32_t> ended;
  Pool& contexts = values.shared().handles[k_km_context];
  for (const Word word : contexts.all()) {
    auto* const context = reinterpret_cast<km_context>(word);  // NOLINT: handles are numbers
    km_status status = KM_SUCCESS;
    if (km_context_error(context, &status) != KM_SUCCESS || status == KM_SUCCESS) continue;
    if (!values.random.one_in(3) || km_context_reset(context) != KM_SUCCESS) continue;
    ended.push_back(contexts.group_of(word));
  }
  return ended;
}

void CApi::release(size_t type, Word handle) {
  for (const Rare& ender : kEnders) {
    if (ender.one_in == type) kRows[row_of(*this, ender.name)].call(&handle);
  }
}

void CApi::release_all(Shared& shared) {
  for (const Rare& ender : kEnders) {
    for (Pool* const pool : {&shared.handles[ender.one_in], &shared.lost[ender.one_in]}) {
      for (const PoolEntry& entry : pool->take_all()) release(ender.one_in, entry.value);
    }
  }
  for (Pool& pool : shared.handles) pool.take_all();
  shared.addresses.take_all();
}

std::vector<uint32_t> CApi::rescue(Shared& shared) {
  std::vector<uint32_t> ended;
  Pool& contexts = shared.handles[k_km_context];
  for (const Word word : contexts.all()) {
    km_context_reset(reinterpret_cast<km_context>(word));  // NOLINT: handles are numbers
    ended.push_back(contexts.group_of(word));
  }
  // Streams and events live on when the last handle of their context is gone.
  const auto reset_context_of = [&](size_t type, auto context_of) {
    Pool& pool = shared.handles[type];
    for (const Word word : pool.all()) {
      km_context context = nullptr;
      if (context_of(word, &context) != KM_SUCCESS) continue;
      km_context_reset(context);
      km_context_destroy(context);
      ended.push_back(pool.group_of(word));
    }
  };
  reset_context_of(k_km_stream, [](Word word, km_context* out) {
    return km_stream_context(reinterpret_cast<km_stream>(word), out);  // NOLINT: as above
  });
  reset_context_of(k_km_event, [](Word word, km_context* out) {
    return km_event_context(reinterpret_cast<km_event>(word), out);  // NOLINT: as above
  });
  return ended;
}

}  // namespace

std::unique_ptr<Api> make_api() { return std::make_unique<CApi>(); }

}  // namespace km::fuzz
