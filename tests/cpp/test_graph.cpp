// Graphs of nodes and of captures.
#include <algorithm>
#include <atomic>
#include <memory>

#include "support.h"

namespace {

using km_test::contains;
using km_test::status_of;
using Words = std::vector<std::uint32_t>;

struct Graph : km_test::Fixture {
  km::module module = km_test::load(context);
  km::function fill = module.function("fill_index");
  km::slice<std::uint32_t> out = km::slice<std::uint32_t>::zeroed(context, 4);

  Words after(const km::graph_exec& exec) {
    exec.launch(stream);
    return out.to_vector(stream);
  }
};

TEST_F(Graph, NodesRunInTheOrderOfTheirDependencies) {
  const km::graph graph(context);
  const km::host_memory<std::uint32_t> from = [&] {
    km::host_memory<std::uint32_t> memory(context, 4);
    std::fill(memory.begin(), memory.end(), 5u);
    return memory;
  }();
  km::host_memory<std::uint32_t> to(context, 4);
  const auto second = km::slice<std::uint32_t>::zeroed(context, 4);
  const km::node upload = graph.add_upload({}, out, from.data(), 4);
  const km::node copy = graph.add_copy(upload, second, out);
  const km::node kernel = graph.add_kernel(copy, fill, 1, 2, 0, second, 1u, 2u);
  const km::node join = graph.add_empty({kernel, copy});
  const km::node download = graph.add_download({join}, second, to.data(), 4);
  const km::graph_exec exec = graph.instantiate();
  exec.launch(stream);
  stream.synchronize();
  EXPECT_EQ(Words(to.begin(), to.end()), (Words{1, 2, 5, 5}));
  EXPECT_EQ(graph.nodes(), (std::vector<km::node>{upload, copy, kernel, join, download}));
  EXPECT_EQ(graph.dependencies_of(join), (std::vector<km::node>{kernel, copy}));
  EXPECT_EQ(graph.dependents_of(upload), std::vector<km::node>{copy});
  EXPECT_EQ(graph.info(kernel).kind, KM_GRAPH_NODE_KERNEL);
  EXPECT_EQ(graph.function(kernel).name(), "fill_index");
  EXPECT_EQ(graph.arguments(kernel).size(), 16u);
  EXPECT_TRUE(contains(graph.dot(), "digraph"));
}

TEST_F(Graph, NodesAreChangedAndTakenOver) {
  const km::graph graph(context);
  const km::node kernel = graph.add_kernel({}, fill, 1, 4, 0, out, 10u, 4u);
  km::graph_exec exec(graph);
  EXPECT_EQ(after(exec), (Words{10, 11, 12, 13}));
  graph.set_kernel(kernel, fill, 1, 4, 0, out, 20u, 4u);
  EXPECT_EQ(after(exec), (Words{10, 11, 12, 13}));
  exec.update(graph, kernel);
  EXPECT_EQ(after(exec), (Words{20, 21, 22, 23}));
  const km::graph clone = graph.clone();
  clone.set_kernel(kernel, fill, 1, 4, 0, out, 30u, 4u);
  EXPECT_EQ(exec.compare(clone).kind, KM_GRAPH_DIFFERENCE_NONE);
  exec.update(clone);
  EXPECT_EQ(after(exec), (Words{30, 31, 32, 33}));
  const km::node more = clone.add_empty({kernel});
  EXPECT_EQ(exec.compare(clone).kind, KM_GRAPH_DIFFERENCE_NODE_COUNT);
  EXPECT_EQ(status_of([&] { exec.update(clone); }), KM_ERROR_GRAPH_MISMATCH);
  clone.remove_dependency(kernel, more);
  clone.add_dependency(kernel, more);
  clone.remove_node(more);
  exec.update(clone);
}

TEST_F(Graph, EveryKindOfNodeCanBeSet) {
  const km::graph graph(context);
  const auto source = km::slice<std::uint32_t>::zeroed(context, 4);
  Words host{1, 2, 3, 4}, back(4);
  const km::extent whole{2, 2};
  const km::node fill_node = graph.add_fill({}, out, 1);
  graph.set_fill(fill_node, source, 8);
  const km::node copy = graph.add_copy(fill_node, source, out);
  graph.set_copy(copy, out, source);
  const km::node peer = graph.add_copy_peer(copy, out, source);
  graph.set_copy_peer(peer, out, source);
  const km::node download = graph.add_download(peer, source, back.data(), 4);
  graph.set_download(download, out, back.data(), 4);
  const km::node rows = graph.add_copy_rows(download, source, out, whole);
  graph.set_copy_rows(rows, source, out, {1, 1});
  EXPECT_EQ(graph.rows(rows).width_bytes, 4u);
  const km::node up = graph.add_upload_rows(rows, source, host.data(), whole);
  graph.set_upload_rows(up, out, host.data(), whole);
  const km::node down = graph.add_download_rows(up, source, host.data(), {1, 1});
  graph.set_download_rows(down, out, host.data(), {1, 1});
  const km::node fill_rows = graph.add_fill_rows(down, source, 2, {1, 1});
  graph.set_fill_rows(fill_rows, out, 6, {1, 1}, {3, 0, 0});
  const km::node upload = graph.add_upload(fill_rows, source, host.data(), 4);
  graph.set_upload(upload, source, host.data(), 1);
  EXPECT_EQ(after(graph.instantiate()), (Words{1, 2, 3, 6}));
  EXPECT_EQ(back, Words(4, 8));
}

TEST_F(Graph, ArgumentsAreCheckedAgainstTheKernel) {
  const km::graph graph(context);
  const km::error error = km_test::error_of([&] { graph.add_kernel({}, fill, 1, 4, 0, out, 10u); });
  EXPECT_EQ(error.status(), KM_ERROR_INVALID_LAUNCH);
  EXPECT_TRUE(contains(error.what(), "3 parameters")) << error.what();
  EXPECT_EQ(status_of([&] { graph.add_kernel({}, fill, 1, 4, 0, out, 10.0, 4u); }),
            KM_ERROR_INVALID_LAUNCH);
  EXPECT_EQ(status_of([&] { graph.add_kernel({km::node{99}}, fill, 1, 4, 0, out, 1u, 4u); }),
            KM_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { km::graph().nodes(); }), KM_ERROR_INVALID_HANDLE);
  EXPECT_EQ(status_of([&] { km::graph_exec().launch(stream); }), KM_ERROR_INVALID_HANDLE);
}

TEST_F(Graph, HostFunctionsLiveAsLongAsWhatRunsThem) {
  const auto calls = std::make_shared<std::atomic<int>>(0);
  {
    km::graph_exec exec;
    {
      const km::graph graph(context);
      const km::node host = graph.add_host({}, [calls](km_status) noexcept { *calls += 100; });
      graph.set_host(host, [calls](km_status) noexcept { ++*calls; });
      EXPECT_EQ(calls.use_count(), 2);
      const km::graph parent(context);
      parent.add_child({}, graph);
      exec = parent.instantiate();
    }
    exec.launch(stream);
    exec.launch(stream);
  }
  stream.synchronize();
  EXPECT_EQ(*calls, 2);
  EXPECT_EQ(calls.use_count(), 1);
}

TEST_F(Graph, ChildrenAreCopies) {
  const km::graph child(context);
  const km::node inner = child.add_fill({}, out, 1);
  const km::graph parent(context);
  const km::node node = parent.add_child({}, child);
  child.set_fill(inner, out, 2);
  EXPECT_EQ(after(parent.instantiate()), Words(4, 1));
  parent.set_child(node, child);
  EXPECT_EQ(after(parent.instantiate()), Words(4, 2));
  EXPECT_EQ(parent.child(node).nodes().size(), 1u);
}

TEST_F(Graph, StreamsAreCaptured) {
  km::capture capture(stream);
  EXPECT_EQ(capture.status(), KM_CAPTURE_STATUS_ACTIVE);
  stream.launch(fill).grid(1).block(4).args(out, 3u, 4u).submit();
  const auto calls = std::make_shared<std::atomic<int>>(0);
  capture.add_callback([calls](km_status) noexcept { ++*calls; });
  const km::graph graph = capture.end();
  EXPECT_EQ(out.to_vector(stream), Words(4, 0));
  EXPECT_EQ(graph.nodes().size(), 2u);
  {
    const km::graph_exec exec = graph.instantiate();
    after(exec);
    EXPECT_EQ(after(exec), (Words{3, 4, 5, 6}));
  }
  EXPECT_EQ(*calls, 2);
  stream.begin_capture();
  out.fill(stream, 9u);
  EXPECT_EQ(stream.end_capture().nodes().size(), 1u);
}

TEST_F(Graph, ACallbackOfOneUseIsRefusedInACapture) {
  auto capture = stream.capture();
  EXPECT_EQ(status_of([&] { stream.add_callback([](km_status) noexcept {}); }),
            KM_ERROR_CAPTURE_UNSUPPORTED);
  const km::graph graph = capture.end();
  EXPECT_TRUE(graph.nodes().empty());
  // And so is a graph that owns functions.
  const km::graph with_host(context);
  with_host.add_host({}, [](km_status) noexcept {});
  const km::graph_exec exec = with_host.instantiate();
  auto second = stream.capture();
  EXPECT_EQ(status_of([&] { exec.launch(stream); }), KM_ERROR_CAPTURE_UNSUPPORTED);
}

TEST_F(Graph, ACaptureThatIsDroppedIsOver) {
  {
    const auto capture = stream.capture();
    out.fill(stream, 1u);
    EXPECT_EQ(status_of([&] { stream.synchronize(); }), KM_ERROR_CAPTURE_UNSUPPORTED);
  }
  stream.synchronize();
  EXPECT_EQ(stream.capture_status(), KM_CAPTURE_STATUS_NONE);
  EXPECT_EQ(out.to_vector(stream), Words(4, 0));
}

}  // namespace
