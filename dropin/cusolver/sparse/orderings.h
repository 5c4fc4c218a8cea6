// Orderings of the rows and columns of sparse matrices.
#pragma once

#include "dropin/cusolver/sparse/csr.h"

namespace km::cusolver {

/// The graph of A + A^T without its diagonal.
Pattern symmetric_graph(const Pattern& a);

/// Orderings of the symmetric graph: row i of the permuted matrix is row p[i].
std::vector<int> reverse_cuthill_mckee(const Pattern& a);
std::vector<int> minimum_degree(const Pattern& a);
std::vector<int> nested_dissection(const Pattern& a);

/// The ordering for a solver's argument `reorder`: 0 none, 1 symrcm, 2 symamd (symmdq is alike), 3
/// metisnd.
std::vector<int> ordering_of(int reorder, const Pattern& a);

/// A permutation of rows after which as many as possible diagonal elements are not zero; `matched`
/// gets their number.
std::vector<int> zero_free_diagonal(const Pattern& a, int* matched);

}  // namespace km::cusolver
