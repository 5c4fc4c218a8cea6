#include "core/graph/graph_exec.h"

#include "api/guard.h"
#include "api/output.h"

using namespace km;

km_status km_graph_exec_create(km_graph graph, km_graph_exec* out_exec) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, graph);
    KM_REQUIRE(out_exec);
    KM_ASSIGN(Ref<GraphExec> created, GraphExec::create(*target));
    return give_handle(std::move(created), out_exec);
  });
}

km_status km_graph_exec_destroy(km_graph_exec exec) noexcept {
  return guard(__func__, [&](Call&) { return destroy_handle(exec, "exec"); });
}

km_status km_graph_exec_launch(km_graph_exec exec, km_stream stream) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, exec);
    KM_GET(queue, call, stream);
    return target->launch(*queue);
  });
}

km_status km_graph_exec_update_node(km_graph_exec exec, km_graph graph, uint64_t node) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, exec);
    KM_GET(source, call, graph);
    return target->update_node(*source, node);
  });
}

km_status km_graph_exec_update(km_graph_exec exec, km_graph graph) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, exec);
    KM_GET(source, call, graph);
    return target->update(*source);
  });
}

km_status km_graph_exec_compare(km_graph_exec exec, km_graph graph,
                                km_graph_difference* out_difference, uint64_t* out_node) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, exec);
    KM_GET(source, call, graph);
    KM_REQUIRE(out_difference);
    KM_REQUIRE(out_node);
    const GraphDifference found = target->compare(*source);
    *out_difference = found.kind;
    *out_node = found.node;
    return {};
  });
}
