// Graphs as text for Graphviz.
#include <cinttypes>

#include "base/text.h"
#include "core/graph/graph.h"

namespace km {
namespace {

/// The text as the inside of a quoted string of Graphviz, where a line break is written as one.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string shape_text(const std::array<uint32_t, 3>& shape) {
  return std::to_string(shape[0]) + "x" + std::to_string(shape[1]) + "x" + std::to_string(shape[2]);
}

std::string label_of(const GraphNode& node) {
  const GraphWork& work = *node.work;
  std::string label = std::to_string(node.id) + ": " + graph_node_kind_name(work.kind);
  switch (work.kind) {
    case KM_GRAPH_NODE_KERNEL:
      return label + " " + source_name(work.function->info().name) + "\n" +
             shape_text(work.shape.grid) + " blocks of " + shape_text(work.shape.block);
    case KM_GRAPH_NODE_COPY:
    case KM_GRAPH_NODE_UPLOAD:
    case KM_GRAPH_NODE_DOWNLOAD:
    case KM_GRAPH_NODE_COPY_3D:
    case KM_GRAPH_NODE_UPLOAD_3D:
    case KM_GRAPH_NODE_DOWNLOAD_3D:
    case KM_GRAPH_NODE_COPY_PEER:
      return label + " of " + counted(work.size_bytes, "byte") + "\n" + hex(work.source) + " to " +
             hex(work.destination);
    case KM_GRAPH_NODE_FILL:
    case KM_GRAPH_NODE_FILL_2D:
      return label + " of " + counted(work.size_bytes, "byte") + " with " + hex(work.value) + "\n" +
             hex(work.destination);
    case KM_GRAPH_NODE_BLAS:
      return label + " " + blas_routine_name(work.blas_call->routine, work.blas_call->type);
    default:
      return label;
  }
}

/// `prefix` makes the names of a child's nodes unique.
void append(const Graph& graph, const std::string& prefix, const std::string& indent,
            std::string* out) {
  const auto name = [&prefix](uint64_t id) { return prefix + std::to_string(id); };
  const std::vector<GraphNode> nodes = graph.nodes();
  for (const GraphNode& node : nodes) {
    *out += indent + name(node.id) + " [label=\"" + escaped(label_of(node)) + "\"";
    *out += node.work->kind == KM_GRAPH_NODE_KERNEL ? ", shape=box];\n" : "];\n";
    if (!node.work->child) continue;
    const std::string inner = name(node.id) + "_";
    *out += indent + "subgraph cluster_" + inner + " {\n" + indent + "  label=\"child graph of " +
            std::to_string(node.id) + "\";\n";
    append(*node.work->child, inner, indent + "  ", out);
    *out += indent + "}\n";
  }
  for (const GraphNode& node : nodes) {
    for (uint64_t before : node.dependencies) {
      *out += indent + name(before) + " -> " + name(node.id) + ";\n";
    }
  }
}

}  // namespace

std::string graph_to_dot(const Graph& graph) {
  std::string text = "digraph kernelmill {\n";
  append(graph, "n", "  ", &text);
  return text + "}\n";
}

}  // namespace km
