// Graphs as text for Graphviz.
#include <cinttypes>

#include "base/printable.h"
#include "base/text.h"
#include "core/graph/graph_operation.h"

namespace km {
namespace {

/// Escapes the text for a quoted string of Graphviz, which writes a line break as
/// .
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : printable(text)) {
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

std::string range_text(uint64_t size_bytes, uint64_t source, uint64_t destination) {
  return " of " + counted(size_bytes, "byte") + "\n" + hex(source) + " to " + hex(destination);
}

std::string fill_text(uint64_t size_bytes, uint32_t value, uint64_t destination) {
  return " of " + counted(size_bytes, "byte") + " with " + hex(value) + "\n" + hex(destination);
}

/// The parameters of an operation that its node's label shows.
std::string parameters_text(const GraphOperation& operation) {
  return match(
      operation,
      [](const KernelOperation& kernel) {
        return " " + source_name(kernel.function->info().name) + "\n" +
               shape_text(kernel.shape.grid) + " blocks of " + shape_text(kernel.shape.block);
      },
      [](const OneOf<CopyOperation, PeerCopyOperation> auto& copy) {
        return range_text(copy.size_bytes, copy.source, copy.destination);
      },
      [](const RowsCopyOperation& copy) {
        return range_text(copy.size_bytes, copy.rows.source, copy.rows.destination);
      },
      [](const FillOperation& fill) {
        return fill_text(fill.size_bytes, fill.value, fill.destination);
      },
      [](const RowsFillOperation& fill) {
        return fill_text(fill.size_bytes, fill.rows.value, fill.rows.destination);
      },
      [](const BlasOperation& blas) {
        return " " + std::string(blas_routine_name(blas.call->routine, blas.call->type));
      },
      [](const LibraryOperation& library) { return std::string(" ") + library.call->name; },
      [](const TaskOperation& task) { return std::string(" ") + task.task->name; },
      [](const OneOf<EmptyOperation, HostOperation, ChildOperation, MemoryOpsOperation,
                     EventRecordOperation, EventWaitOperation, ConditionalOperation> auto&) {
        return std::string();
      });
}

std::string label_of(const GraphNode& node) {
  return std::to_string(node.id) + ": " + graph_node_kind_name(node.work->kind()) +
         parameters_text(node.work->operation);
}

/// `prefix` makes the names of a child graph's nodes unique.
void append(const Graph& graph, const std::string& prefix, const std::string& indent,
            std::string* out) {
  const auto name = [&prefix](uint64_t id) { return prefix + std::to_string(id); };
  const std::vector<GraphNode> nodes = graph.nodes();
  for (const GraphNode& node : nodes) {
    *out += indent + name(node.id) + " [label=\"" + escaped(label_of(node)) + "\"";
    *out += node.work->as<KernelOperation>() != nullptr ? ", shape=box];\n" : "];\n";
    const Graph* const child = node.work->child();
    if (child == nullptr) continue;
    const std::string inner = name(node.id) + "_";
    *out += indent + "subgraph cluster_" + inner + " {\n" + indent + "  label=\"child graph of " +
            std::to_string(node.id) + "\";\n";
    append(*child, inner, indent + "  ", out);
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
