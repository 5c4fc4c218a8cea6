// The objects of the fake backend.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/interface.h"
#include "support/core/fake_backend.h"

struct kmb_device {
  uint32_t ordinal;
};

struct kmb_memory {
  kmb_context* context;
  kmb_memory_info info;
  std::unique_ptr<char[]> owned;
  km_release_callback release;
  void* user_data;
};

struct kmb_context {
  std::mutex mutex;
  km_status sticky = KM_SUCCESS;
  std::string sticky_text;
  km_output_callback output = nullptr;
  void* output_data = nullptr;
  uint64_t used_bytes = 0;
  struct Freed {  // memory that still has uses
    kmb_memory* memory;
    std::vector<kmb_use> uses;
  };
  std::vector<Freed> freed;
  int references = 1;
};

struct kmb_stream {
  explicit kmb_stream(kmb_context* of) : context(of) {}
  ~kmb_stream();
  std::shared_ptr<kmb_stream> self;  // until it is destroyed; events may keep it longer
  kmb_context* context;
  std::recursive_mutex running;
  std::mutex mutex;
  std::deque<std::function<void(km_status)>> queue;
  uint64_t enqueued = 0;
  uint64_t completed = 0;
};

struct kmb_event {
  std::shared_ptr<kmb_event> self;  // until it is destroyed; queued records keep it longer
  std::mutex mutex;
  uint64_t recorded = 0;  // counts records asked for and done
  uint64_t done = 0;
  int64_t time_ns = 0;
  std::shared_ptr<kmb_stream> stream;
};

struct kmb_function {
  std::string name;
  std::vector<kmb_param> params;
  uint64_t param_bytes = 0;
  int64_t max_dynamic_shared_bytes = 0;
};

struct kmb_module {
  kmb_context* context;
  std::deque<kmb_function> functions;
  struct Global {
    std::string name;
    uint32_t element_size_bytes;
    std::vector<char> data;
  };
  std::deque<Global> globals;
};

namespace km::test {

/// Counts the call and says whether it is the one that is to fail.
km_status begin_call(kmb_error* error);
bool is_deferred();
km_status fail(km_status status, const char* text, kmb_error* error);
/// The context's sticky error, as entries that enqueue or wait return it.
km_status check_sticky(kmb_context* context, kmb_error* error);

/// Adds work to a stream and runs it at once unless that is deferred.
km_status enqueue(kmb_stream* stream, std::function<void(km_status)> work, uint64_t* out_ticket,
                  kmb_error* error);
/// Runs what is queued, up to a ticket.
void drain(kmb_stream* stream, uint64_t until = UINT64_MAX);
/// Frees what has no uses left; those of `gone` count as over.
void free_unused(kmb_context* context, const kmb_stream* gone);
void release_context(kmb_context* context);

/// Runs a kernel by its name.
km_status run_kernel(const kmb_function& function, const std::vector<char>& arguments);
/// Reads entries and globals out of PTX.
bool parse_module(const std::string& ptx, kmb_module& module, std::string* out_reason);

/// A table with only the entries of modules and functions.
const kmb_backend& module_entries();
/// Adds those of graphs.
void add_graph_entries(kmb_backend* table);
/// Adds those of BLAS.
void add_blas_entries(kmb_backend* table);

}  // namespace km::test
