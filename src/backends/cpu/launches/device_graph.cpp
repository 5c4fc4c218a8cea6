#include "backends/cpu/launches/device_graph.h"

#include <utility>

#include "backend/graph_node.h"
#include "backends/cpu/command/node_transfer.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/launches/updatable_node.h"
#include "backends/cpu/module/module.h"
#include "base/assert.h"

namespace km::cpu {

/// Makes the work of a node by the type of its operation.
class DeviceGraph::WorkMaker {
 public:
  /// `updates` is the node's; null: kernels do not change it.
  WorkMaker(DeviceGraph* graph, km_graph_node_kind kind, const UpdatedLaunch* updates)
      : graph_(graph), kind_(kind), updates_(updates) {}

  Status operator()(const EmptyNode&) const { return {}; }
  Status operator()(const kmb_kernel_node& node) const {
    const auto* const bytes = static_cast<const uint8_t*>(node.launch.arguments);
    graph_->arguments_.emplace_back(bytes, bytes + node.launch.arguments_size_bytes);
    DeviceWork work;
    work.function = from(node.function);
    work.launch = node.launch;
    work.launch.arguments = graph_->arguments_.back().data();
    if (updates_ != nullptr) {
      work.node = updates_->node();
      work.base = updates_->base();
    }
    graph_->works_.push_back(std::move(work));
    return {};
  }
  Status operator()(const kmb_copy_node& node) const { return add(transfer_of(node, kind_)); }
  Status operator()(const kmb_copy_3d& rows) const { return add(rows_transfer(rows)); }
  Status operator()(const kmb_fill_node& node) const { return add(transfer_of(node)); }
  Status operator()(const kmb_fill_2d& rows) const { return add(rows_transfer(rows)); }
  template <class Other>
  Status operator()(const Other&) const {
    return make_error(KM_ERROR_NOT_SUPPORTED, "graphs that kernels launch have no nodes of kind %d",
                      static_cast<int>(kind_));
  }

 private:
  Status add(const Transfer& transfer) const {
    DeviceWork work;
    work.transfer = transfer;
    graph_->works_.push_back(std::move(work));
    return {};
  }

  DeviceGraph* const graph_;
  const km_graph_node_kind kind_;
  const UpdatedLaunch* const updates_;
};

Result<std::shared_ptr<const DeviceGraph>> DeviceGraph::make(uint64_t handle,
                                                             std::span<const kmb_graph_node> nodes,
                                                             const GraphProgram& program,
                                                             std::shared_ptr<DeviceGraphUse> use) {
  std::shared_ptr<DeviceGraph> graph(  // tidy: new: belongs to the shared_ptr around it
      new DeviceGraph(handle, std::move(use)));
  KM_ASSERT(nodes.size() <= program.nodes.size(), "a node is not in the graph's program");
  graph->works_.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NodeUpdates* const changed = program.nodes[i]->updates.get();
    const UpdatedLaunch* const updates =
        changed == nullptr ? nullptr : &UpdatedLaunch::of(*changed);
    KM_TRY(match_node(nodes[i], WorkMaker(graph.get(), nodes[i].kind, updates)));
  }
  return std::shared_ptr<const DeviceGraph>(std::move(graph));
}

std::shared_ptr<DeviceGraphLaunch> DeviceGraphLaunch::begin(
    std::shared_ptr<const DeviceGraph> graph, bool is_tail) {
  DeviceGraphUse& use = graph->use();
  std::atomic<bool>& claim = is_tail ? use.is_tail : use.is_running;
  std::shared_ptr<DeviceGraphLaunch> launch(  // tidy: new: belongs to the shared_ptr around it
      new DeviceGraphLaunch(std::move(graph), nullptr));
  if (claim.exchange(true)) return nullptr;
  launch->claim_ = &claim;
  return launch;
}

void DeviceGraphLaunch::start() {
  std::atomic<bool>& running = graph_->use().is_running;
  if (claim_ == &running) return;
  end();
  // A launch in another stream may hold the claim, and ends it then.
  if (!running.exchange(true)) claim_ = &running;
}

void DeviceGraphLaunch::end() {
  KM_ASSERT(claim_ == nullptr || claim_->load(), "a claim on a graph that was not made ends");
  if (claim_ != nullptr) std::exchange(claim_, nullptr)->store(false);
}

bool GraphEnvironment::count_launch() {
  const std::lock_guard lock(mutex_);
  KM_ASSERT(launches_ <= kMostLaunches && tails_.size() <= kMostTails,
            "a graph has more launches than it may have");
  if (launches_ == kMostLaunches) return false;
  ++launches_;
  return true;
}

bool GraphEnvironment::add_tail(DeviceWork tail) {
  const std::lock_guard lock(mutex_);
  KM_ASSERT(tail.graph != nullptr, "the tail launch of a graph is not a graph");
  if (tails_.size() == kMostTails) return false;
  tails_.push_back(std::move(tail));
  return true;
}

bool GraphEnvironment::has_tails() const {
  const std::lock_guard lock(mutex_);
  return !tails_.empty();
}

std::vector<DeviceWork> GraphEnvironment::take_tails() {
  const std::lock_guard lock(mutex_);
  launches_ = 0;
  return std::exchange(tails_, {});
}

}  // namespace km::cpu
