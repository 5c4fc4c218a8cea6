#include "dropin/cusolver/sparse/orderings.h"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>

namespace km::cusolver {

namespace {

/// The vertices at each distance from `start`, among those whose mark is `region`; they get `mark`.
std::vector<int> breadth_first(const Pattern& graph, int start, int region, int mark,
                               std::vector<int>& marks, std::vector<int>* level_starts) {
  std::vector<int> found{start};
  marks[start] = mark;
  level_starts->assign(1, 0);
  size_t level_end = 1;
  for (size_t next = 0; next < found.size(); ++next) {
    if (next == level_end) {
      level_starts->push_back(static_cast<int>(next));
      level_end = found.size();
    }
    std::vector<int> neighbours;
    for (int k = graph.starts[found[next]]; k < graph.starts[found[next] + 1]; ++k) {
      const int other = graph.indices[k];
      if (marks[other] != region) continue;
      marks[other] = mark;
      neighbours.push_back(other);
    }
    const auto degree = [&](int v) { return graph.starts[v + 1] - graph.starts[v]; };
    std::stable_sort(neighbours.begin(), neighbours.end(),
                     [&](int a, int b) { return degree(a) < degree(b); });
    found.insert(found.end(), neighbours.begin(), neighbours.end());
  }
  level_starts->push_back(static_cast<int>(found.size()));
  return found;
}

/// breadth_first() from a vertex that is far from others.
std::vector<int> from_far_vertex(const Pattern& graph, int start, int region, int mark,
                                 std::vector<int>& marks, std::vector<int>* level_starts) {
  std::vector<int> found = breadth_first(graph, start, region, mark, marks, level_starts);
  constexpr int kMostTries = 8;
  for (int tries = 0; tries < kMostTries; ++tries) {
    const size_t depth = level_starts->size();
    const int last = found.back();
    for (const int each : found) marks[each] = region;
    found = breadth_first(graph, last, region, mark, marks, level_starts);
    if (level_starts->size() <= depth) break;
  }
  return found;
}

/// Appends an order of the component of `start`, whose marks are 0: both halves, then the vertices
/// between them. Parts are kept in a list, so that no recursion runs out of stack.
void dissect(const Pattern& graph, std::vector<std::vector<int>> parts, std::vector<int>& marks,
             int* last_mark, std::vector<int>* order) {
  constexpr size_t kLeast = 32;
  std::vector<int> reversed;  // separators come last, so that the order is built from its end
  while (!parts.empty()) {
    const std::vector<int> part = std::move(parts.back());
    parts.pop_back();
    const int region = ++*last_mark, visited = ++*last_mark;
    for (const int each : part) marks[each] = region;
    std::vector<int> levels;
    const std::vector<int> found =
        from_far_vertex(graph, part.front(), region, visited, marks, &levels);
    if (found.size() < part.size()) {  // not connected
      std::vector<int> rest;
      for (const int each : part) {
        if (marks[each] == region) rest.push_back(each);
      }
      parts.push_back(rest);
      parts.push_back(found);
      continue;
    }
    if (found.size() <= kLeast || levels.size() < 4) {
      reversed.insert(reversed.end(), found.begin(), found.end());
      continue;
    }
    const size_t middle = levels.size() / 2 - 1;
    const auto begin = found.begin() + levels[middle], end = found.begin() + levels[middle + 1];
    reversed.insert(reversed.end(), begin, end);
    parts.emplace_back(found.begin(), begin);
    if (end != found.end()) parts.emplace_back(end, found.end());
  }
  order->insert(order->end(), reversed.rbegin(), reversed.rend());
}

}  // namespace

Pattern symmetric_graph(const Pattern& a) {
  const Pattern t = transpose(a);
  Pattern graph;
  graph.rows = graph.columns = a.rows;
  graph.starts.push_back(0);
  for (int i = 0; i < a.rows; ++i) {
    std::vector<int> row(a.indices.begin() + a.starts[i], a.indices.begin() + a.starts[i + 1]);
    row.insert(row.end(), t.indices.begin() + t.starts[i], t.indices.begin() + t.starts[i + 1]);
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    row.erase(std::remove(row.begin(), row.end(), i), row.end());
    graph.indices.insert(graph.indices.end(), row.begin(), row.end());
    graph.starts.push_back(static_cast<int>(graph.indices.size()));
  }
  return graph;
}

std::vector<int> reverse_cuthill_mckee(const Pattern& a) {
  const Pattern graph = symmetric_graph(a);
  std::vector<int> marks(static_cast<size_t>(a.rows)), order, levels;
  for (int i = 0; i < a.rows; ++i) {
    if (marks[i] != 0) continue;
    const std::vector<int> found = from_far_vertex(graph, i, 0, 1, marks, &levels);
    order.insert(order.end(), found.begin(), found.end());
  }
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<int> minimum_degree(const Pattern& a) {
  const Pattern graph = symmetric_graph(a);
  using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;
  const std::vector<double> ones(graph.indices.size(), 1.0);
  if (a.rows == 0) return {};
  const Matrix matrix =
      Eigen::Map<const Matrix>(graph.rows, graph.columns, graph.count(), graph.starts.data(),
                               graph.indices.data(), ones.data());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> permutation;
  Eigen::AMDOrdering<int>()(matrix, permutation);
  const auto& indices = permutation.indices();
  return std::vector<int>(indices.data(), indices.data() + indices.size());
}

std::vector<int> nested_dissection(const Pattern& a) {
  const Pattern graph = symmetric_graph(a);
  std::vector<int> marks(static_cast<size_t>(a.rows)), order;
  int last_mark = 0;
  if (a.rows != 0) dissect(graph, {identity_of(a.rows)}, marks, &last_mark, &order);
  return order;
}

std::vector<int> ordering_of(int reorder, const Pattern& a) {
  switch (reorder) {
    case 1:
      return reverse_cuthill_mckee(a);
    case 2:
      return minimum_degree(a);
    case 3:
      return nested_dissection(a);
    default:
      return identity_of(a.rows);
  }
}

std::vector<int> zero_free_diagonal(const Pattern& a, int* matched) {
  // Augmenting paths from each column to a free row, without recursion.
  const int n = a.rows;
  const Pattern columns = transpose(a);
  std::vector<int> row_of(static_cast<size_t>(n), -1), column_of(static_cast<size_t>(n), -1);
  std::vector<int> seen(static_cast<size_t>(n), -1), next(static_cast<size_t>(n));
  *matched = 0;
  for (int root = 0; root < n; ++root) {
    std::vector<int> path{root};  // columns
    next.assign(columns.starts.begin(), columns.starts.end() - 1);
    std::vector<int> rows;  // the row by which each further column of the path was reached
    while (!path.empty()) {
      const int column = path.back();
      if (next[column] == columns.starts[column + 1]) {
        path.pop_back();
        if (!rows.empty()) rows.pop_back();
        continue;
      }
      const int row = columns.indices[next[column]++];
      if (seen[row] == root) continue;
      seen[row] = root;
      rows.push_back(row);
      if (column_of[row] >= 0) {
        path.push_back(column_of[row]);
        continue;
      }
      for (size_t i = 0; i < path.size(); ++i) {
        row_of[path[i]] = rows[i];
        column_of[rows[i]] = path[i];
      }
      ++*matched;
      break;
    }
  }
  int free_row = 0;
  for (int& row : row_of) {
    if (row >= 0) continue;
    while (column_of[free_row] >= 0) ++free_row;
    row = free_row++;
  }
  return row_of;
}

}  // namespace km::cusolver
