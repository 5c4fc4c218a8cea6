// The cuda backend's graphs, through its table: what the C ABI has no calls for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "backends/cuda/table/cuda.h"

namespace km {
namespace {

using ::testing::HasSubstr;

class CudaNodes : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    kmb_error error{};
    ASSERT_EQ(cuda_backend().initialize(nullptr, &error), KM_SUCCESS) << error.message;
  }
  void SetUp() override {
    ASSERT_EQ(api.device_open(0, &device_, &error_), KM_SUCCESS) << error_.message;
    ASSERT_EQ(api.context_create(device_, &context_, &error_), KM_SUCCESS) << error_.message;
  }
  void TearDown() override {
    if (graph_ != nullptr) api.graph_destroy(graph_);
    if (memory_ != nullptr) api.memory_destroy(memory_, nullptr, 0);
    api.context_destroy(context_);
  }
  km_status create(const std::vector<kmb_graph_node>& nodes) {
    error_.message[0] = '\0';
    return api.graph_create(context_, nodes.data(), nodes.size(), &graph_, &error_);
  }
  static kmb_graph_node node_of(km_graph_node_kind kind) {
    kmb_graph_node node{};
    node.kind = kind;
    return node;
  }
  kmb_graph_node copy_node() {
    kmb_memory_info info{};
    EXPECT_EQ(api.memory_create(context_, nullptr, 512, 0, &memory_, &info, &error_), KM_SUCCESS);
    kmb_graph_node node = node_of(KM_GRAPH_NODE_COPY);
    node.copy = {info.address, info.address + 256, 256};
    return node;
  }

  const kmb_backend& api = cuda_backend();
  kmb_error error_{};
  kmb_device* device_ = nullptr;
  kmb_context* context_ = nullptr;
  kmb_graph* graph_ = nullptr;
  kmb_memory* memory_ = nullptr;
};

TEST_F(CudaNodes, KindsThatAreNotKnownAreErrors) {
  const struct {
    km_graph_node_kind kind;
    const char* name;
  } unknown[] = {{KMB_GRAPH_NODE_EVENT_RECORD, "kind 65 (record of an event)"},
                 {KMB_GRAPH_NODE_EVENT_WAIT, "kind 66 (wait for an event)"},
                 {KMB_GRAPH_NODE_BRANCH, "kind 67 (conditional)"},
                 {KMB_GRAPH_NODE_TASK, "kind 68 (task of the host)"},
                 {KM_GRAPH_NODE_INVALID, "kind 0 (unknown)"},
                 {KM_GRAPH_NODE_CHILD, "kind 8 (unknown)"},
                 {KM_GRAPH_NODE_LIBRARY + 1, "kind 16 (unknown)"},
                 {99, "kind 99 (unknown)"}};
  for (const auto& each : unknown) {
    EXPECT_EQ(create({node_of(KM_GRAPH_NODE_EMPTY), node_of(each.kind)}), KM_ERROR_NOT_SUPPORTED);
    EXPECT_THAT(error_.message, HasSubstr(each.name));
    EXPECT_THAT(error_.message, HasSubstr("node 1"));
    EXPECT_EQ(graph_, nullptr);
  }
}

TEST_F(CudaNodes, NodesWithoutEffectAreFine) {
  EXPECT_EQ(create({node_of(KM_GRAPH_NODE_EMPTY)}), KM_SUCCESS) << error_.message;
}

TEST_F(CudaNodes, NodesKeepTheirKind) {
  ASSERT_EQ(create({copy_node()}), KM_SUCCESS) << error_.message;
  const uint32_t index = 0;
  const kmb_graph_node empty = node_of(KM_GRAPH_NODE_EMPTY);
  EXPECT_EQ(api.graph_update(graph_, &index, &empty, 1, &error_), KM_ERROR_GRAPH_MISMATCH);
  EXPECT_THAT(error_.message, HasSubstr("node 0"));
}

}  // namespace
}  // namespace km
