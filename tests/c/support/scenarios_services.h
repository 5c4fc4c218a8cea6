// Further scenarios, after those of scenarios.h: captures, graphs, profiles, errors, questions.
#pragma once

bool plain_graph(Scenario& o) {
  return o.slice() && o.make(km_graph_destroy, &o.g, km_graph_create, o.c);
}

/// Ends what begin_capture began, whatever became of it; the graph goes unless `good`.
bool end_capture(Scenario& o, bool good) {
  if (good) return o.make(km_graph_destroy, &o.g, km_stream_end_capture, o.s);
  end_failures();
  km_graph ended = nullptr;
  if (km_stream_end_capture(o.s, &ended) == KM_SUCCESS) OK(km_graph_destroy(ended));
  return false;
}

bool profile_work(Scenario& o) {
  return o.slice() && o.check(km_profiler_start(o.c)) &&
         o.check(km_profiler_range_push(o.c, "a range with a name that is not short")) &&
         o.check(km_slice_fill_u8(o.s, o.a, 0, 1, 64)) &&
         o.check(km_slice_copy(o.s, o.b, 0, o.a, 0, 64)) &&
         o.check(km_stream_add_callback(o.s, count_call, &g_calls)) &&
         o.check(km_slice_fill_u8(o.s, o.b, 0, 1, 64)) && o.check(km_stream_synchronize(o.s)) &&
         o.check(km_profiler_range_pop(o.c)) && o.check(km_profiler_stop(o.c));
}

bool write_profile(Scenario& o, const char* ending) {
  char path[100];
  std::snprintf(path, sizeof path, "%s-profile%s", file_path(), ending);
  const bool written = profile_work(o) && o.check(km_profiler_write(o.c, path));
  end_failures();
  unlink(path);
  return written;
}

/// Uses of the same memory on several streams of a context that orders them.
bool ordered_uses(Scenario& o) {
  km_stream others[3];
  km_slice counters = nullptr;
  bool good = o.make(km_context_destroy, &o.c, km_context_create_with_flags, o.f->device,
                     static_cast<km_context_flags>(KM_CONTEXT_ORDERED)) &&
              o.make(km_stream_destroy, &o.s, km_stream_create, o.c, 0u, 0) &&
              o.slice_of(&o.a, 64) && o.slice_of(&o.b, 64) && o.load() &&
              o.make(km_function_destroy, &o.k, km_module_function, o.m, "fill_index") &&
              o.check(km_slice_fill_u8(o.s, o.a, 0, 1, 64)) && run_kernel(o) &&
              o.make(km_slice_destroy, &counters, km_module_global, o.m, "counters");
  for (km_stream& other : others) {
    const km_stream first = o.s;
    good = good && o.make(km_stream_destroy, &other, km_stream_create, o.c, 0u, 0) &&
           o.check(km_slice_copy(other, o.b, 0, o.a, 0, 64)) &&
           o.check(km_slice_download(other, o.a, 0, o.bytes, 64)) &&
           o.check(km_slice_fill_u8(first, o.b, 0, 3, 32)) &&
           o.check(km_slice_fill_u8(other, counters, 0, 4, 8));
    if (good) o.s = other;
    good = good && run_kernel(o);
    o.s = first;
  }
  return good && o.check(km_context_synchronize(o.c));
}

bool capture_of_ordered_uses(Scenario& o) {
  km_stream other;
  if (!o.make(km_context_destroy, &o.c, km_context_create_with_flags, o.f->device,
              static_cast<km_context_flags>(KM_CONTEXT_ORDERED)) ||
      !o.make(km_stream_destroy, &o.s, km_stream_create, o.c, 0u, 0) || !o.slice_of(&o.a, 64) ||
      !o.make(km_event_destroy, &o.e, km_event_create, o.c, 0u) ||
      !o.make(km_stream_destroy, &other, km_stream_create, o.c, 0u, 0) ||
      !o.check(km_stream_begin_capture(o.s))) {
    return false;
  }
  const bool good = o.check(km_event_record(o.e, o.s)) &&
                    o.check(km_stream_wait_event(other, o.e)) &&
                    o.check(km_slice_fill_u8(o.s, o.a, 0, 1, 64)) &&
                    o.check(km_slice_fill_u8(other, o.a, 0, 2, 64)) &&
                    o.check(km_event_record(o.e, other)) && o.check(km_stream_wait_event(o.s, o.e));
  return end_capture(o, good) && instantiate(o, o.g);
}

const NamedScenario kServiceScenarios[] = {
    {"uses that are ordered", ordered_uses},
    {"a capture of uses that are ordered", capture_of_ordered_uses},
    {"a graph with a node of each kind but kernels",
     [](Scenario& o) {
       uint64_t fill = 0, copy = 0, upload = 0, host = 0, empty = 0, download = 0, child = 0;
       km_graph inner;
       if (!plain_graph(o) || !o.make(km_graph_destroy, &inner, km_graph_create, o.c)) return false;
       return o.check(km_graph_add_fill(inner, nullptr, 0, o.a, 0, 7, 4, 16, &fill)) &&
              o.check(km_graph_add_upload(o.g, nullptr, 0, o.a, 0, o.bytes, 64, &upload)) &&
              o.check(km_graph_add_copy(o.g, &upload, 1, o.b, 0, o.a, 0, 64, &copy)) &&
              o.check(km_graph_add_host(o.g, &copy, 1, count_call, &g_calls, &host)) &&
              o.check(km_graph_add_empty(o.g, &host, 1, &empty)) &&
              o.check(km_graph_add_child(o.g, &empty, 1, inner, &child)) &&
              o.check(km_graph_add_download(o.g, &child, 1, o.b, 0, o.bytes, 64, &download)) &&
              instantiate(o, o.g);
     }},
    {"rows and other contexts in a graph",
     [](Scenario& o) {
       uint64_t node = 0, next = 0;
       km_context other;
       km_slice there;
       return plain_graph(o) &&
              o.make(km_context_destroy, &other, km_context_create, o.f->device) &&
              o.make(km_slice_destroy, &there, km_slice_create, other, uint64_t{64}, uint64_t{1},
                     0u) &&
              o.check(km_graph_add_upload_3d(o.g, nullptr, 0, o.a, o.bytes, &kRows, &node)) &&
              o.check(km_graph_add_copy_3d(o.g, &node, 1, o.b, o.a, &kRows, &next)) &&
              o.check(km_graph_add_fill_2d(o.g, &next, 1, o.b, 0, 16, 1, 4, 2, 3, &node)) &&
              o.check(km_graph_add_copy_peer(o.g, &node, 1, there, 0, o.b, 0, 64, &next)) &&
              o.check(km_graph_add_download_3d(o.g, &next, 1, o.b, o.bytes, &kRows, &node)) &&
              instantiate(o, o.g);
     }},
    {"a graph is changed and updated",
     [](Scenario& o) {
       uint64_t fill = 0, found = 0;
       km_graph_exec exec;
       km_graph_difference difference = 0;
       return plain_graph(o) &&
              o.check(km_graph_add_fill(o.g, nullptr, 0, o.a, 0, 7, 4, 16, &fill)) &&
              o.make(km_graph_exec_destroy, &exec, km_graph_exec_create, o.g) &&
              o.check(km_graph_exec_launch(exec, o.s)) &&
              o.check(km_graph_set_fill(o.g, fill, o.b, 0, 8, 4, 16)) &&
              o.check(km_graph_exec_update_node(exec, o.g, fill)) &&
              o.check(km_graph_exec_launch(exec, o.s)) &&
              o.check(km_graph_exec_compare(exec, o.g, &difference, &found)) &&
              o.check(km_graph_exec_update(exec, o.g)) &&
              o.check(km_graph_exec_launch(exec, o.s)) && o.check(km_stream_synchronize(o.s));
     }},
    {"nodes are listed and dependencies changed",
     [](Scenario& o) {
       uint64_t nodes[8], first = 0, second = 0, count = 0;
       return plain_graph(o) && o.check(km_graph_add_empty(o.g, nullptr, 0, &first)) &&
              o.check(km_graph_add_empty(o.g, nullptr, 0, &second)) &&
              o.check(km_graph_add_dependency(o.g, first, second)) &&
              o.check(km_graph_nodes(o.g, nodes, 8, &count)) &&
              o.check(km_graph_node_dependents(o.g, first, nodes, 8, &count)) &&
              o.check(km_graph_node_dependencies(o.g, second, nodes, 8, &count)) &&
              o.check(km_graph_remove_dependency(o.g, first, second)) &&
              o.fails(KM_ERROR_INVALID_ARGUMENT, km_graph_add_dependency(o.g, first, first)) &&
              o.check(km_graph_remove_node(o.g, first));
     }},
    {"branches of a graph",
     [](Scenario& o) {
       uint64_t start = 0, branches[3] = {}, end = 0;
       if (!plain_graph(o) || !o.check(km_graph_add_empty(o.g, nullptr, 0, &start))) return false;
       for (uint64_t& branch : branches) {
         if (!o.check(km_graph_add_host(o.g, &start, 1, count_call, &g_calls, &branch))) {
           return false;
         }
       }
       return o.check(km_graph_add_fill(o.g, branches, 3, o.a, 0, 7, 4, 16, &end)) &&
              instantiate(o, o.g);
     }},
    {"streams join a capture",
     [](Scenario& o) {
       km_stream other;
       km_event fork, join;
       if (!o.slice() || !o.make(km_stream_destroy, &other, km_stream_create, o.c, 0u, 0) ||
           !o.make(km_event_destroy, &fork, km_event_create, o.c, 0u) ||
           !o.make(km_event_destroy, &join, km_event_create, o.c, 0u) ||
           !o.check(km_stream_begin_capture(o.s))) {
         return false;
       }
       const bool good =
           o.check(km_event_record(fork, o.s)) && o.check(km_stream_wait_event(other, fork)) &&
           o.check(km_slice_fill_u32(other, o.b, 0, 7, 16)) &&
           o.check(km_slice_fill_u32(o.s, o.a, 0, 7, 16)) &&
           o.check(km_event_record(join, other)) && o.check(km_stream_wait_event(o.s, join));
       return end_capture(o, good) && instantiate(o, o.g);
     }},
    {"rows, callbacks and graphs are captured",
     [](Scenario& o) {
       uint64_t fill = 0;
       km_graph inner;
       km_graph_exec exec;
       if (!o.slice() || !o.make(km_graph_destroy, &inner, km_graph_create, o.c) ||
           !o.check(km_graph_add_fill(inner, nullptr, 0, o.a, 0, 7, 4, 16, &fill)) ||
           !o.make(km_graph_exec_destroy, &exec, km_graph_exec_create, inner) ||
           !o.check(km_stream_begin_capture(o.s))) {
         return false;
       }
       const bool good = o.check(km_slice_copy_3d(o.s, o.b, o.a, &kRows)) &&
                         o.check(km_slice_fill_2d(o.s, o.b, 0, 16, 1, 4, 2, 3)) &&
                         o.check(km_slice_upload_3d(o.s, o.a, o.bytes, &kRows)) &&
                         o.check(km_stream_add_callback(o.s, count_call, &g_calls)) &&
                         o.check(km_graph_exec_launch(exec, o.s));
       return end_capture(o, good) && instantiate(o, o.g);
     }},
    {"a capture is refused and ended",
     [](Scenario& o) {
       km_graph none = nullptr;
       if (!o.slice() || !o.check(km_stream_begin_capture(o.s))) return false;
       const bool good = o.fails(KM_ERROR_CAPTURE_UNSUPPORTED, km_stream_query(o.s)) &&
                         o.fails(KM_ERROR_CAPTURE_INVALIDATED, km_stream_end_capture(o.s, &none));
       if (!good) end_capture(o, false);
       assert_true(none == nullptr);
       return good;
     }},
    {"work is profiled", [](Scenario& o) { return profile_work(o); }},
    {"a profile is read",
     [](Scenario& o) {
       uint32_t count = 0;
       uint64_t size = 0;
       km_profile_row row{};
       row.struct_size = sizeof row;
       if (!o.context() || !o.check(km_profiler_set_counters(o.c, 0))) return false;
       return profile_work(o) && o.check(km_profiler_row_count(o.c, &count)) &&
              o.check(km_profiler_row_get(o.c, 0, &row)) &&
              o.check(km_profiler_counter_count(o.c, 0, &count)) &&
              o.check(km_profiler_summary(o.c, nullptr, 0, &size)) &&
              o.check(km_profiler_clear(o.c));
     }},
    {"a trace is written", [](Scenario& o) { return write_profile(o, ".json"); }},
    {"a report is written", [](Scenario& o) { return write_profile(o, ".html"); }},
    {"ranges with numbers",
     [](Scenario& o) {
       uint64_t first = 0, second = 0;
       return o.context() && o.check(km_profiler_start(o.c)) &&
              o.check(km_profiler_range_start(o.c, "the first of two long ranges", &first)) &&
              o.check(km_profiler_range_start(o.c, "the second of two long ranges", &second)) &&
              o.check(km_profiler_range_end(o.c, first)) &&
              o.check(km_profiler_range_end(o.c, second)) && o.check(km_profiler_stop(o.c));
     }},
    {"failures are kept and read",
     [](Scenario& o) {
       km_error_record records[4];
       km_error_count counts[4];
       uint64_t count = 0;
       records[0].struct_size = sizeof records[0];
       return o.slice() && o.fails(KM_ERROR_OUT_OF_BOUNDS, km_slice_fill_u8(o.s, o.a, 60, 1, 8)) &&
              o.check(km_context_error_history(o.c, 4, records, &count)) &&
              o.check(km_context_error_counts(o.c, 4, counts, &count));
     }},
    {"attributes, limits and what auto chooses",
     [](Scenario& o) {
       int64_t value = 0;
       uint64_t limit = 0;
       uint32_t count = 0;
       km_auto_candidate candidate{};
       candidate.struct_size = sizeof candidate;
       return o.context() &&
              o.check(
                  km_device_attribute_get(o.f->device, KM_DEVICE_ATTRIBUTE_CUDA + 16, &value)) &&
              o.check(km_context_limit_get(o.c, KM_CONTEXT_LIMIT_HEAP_BYTES, &limit)) &&
              o.check(km_context_limit_set(o.c, KM_CONTEXT_LIMIT_HEAP_BYTES, limit)) &&
              o.check(km_auto_candidate_count(&count)) &&
              o.check(km_auto_candidate_get(count - 1, &candidate));
     }},
    {"occupancy",
     [](Scenario& o) {
       km_occupancy found{};
       uint32_t threads = 0, blocks = 0;
       found.struct_size = sizeof found;
       return o.function() && o.check(km_function_occupancy(o.k, 256, 0, &found)) &&
              o.check(km_function_best_block(o.k, 0, nullptr, nullptr, 0, &threads, &blocks));
     }},
};
