// Walks over graphs that are made of numbers. mutants.h says what the marks mean.
#include "mutants.h"

// run: 1 128 zeros[500] zeros[500] 500
KERNEL breadth_first(int* levels, int* queue, int n) {
  __shared__ int begin, end, tail;
  for (int k = T; k < n; k += 128) levels[k] = -1;
  // Harmless: thread 0 writes what it has written itself, and the next barrier covers the rest.
  __syncthreads();  // harmless: barrier
  if (T == 0) {
    levels[0] = 0;
    queue[0] = 0;
    begin = 0;
    end = 1;
    tail = 1;  // mutant: initialisation
  }
  __syncthreads();  // mutant: barrier
  for (int level = 1; begin < end; ++level) {
    for (int k = begin + T; k < end; k += 128) {
      const int node = queue[k];
      for (int edge = 0; edge < 3; ++edge) {
        const int other = 2 * node + edge;
        if (other >= n) continue;  // mutant: bound
        if (atomicCAS(&levels[other], -1, level) != -1) continue;
        queue[atomicAdd(&tail, 1)] = other;
      }
    }
    __syncthreads();  // mutant: barrier
    if (T == 0) begin = end;
    if (T == 0) end = tail;
    __syncthreads();  // mutant: barrier
  }
}

// run: 4 128 zeros[512] zeros[512] 512
KERNEL levels_by_two_arrays(const int* now, int* next, int n) {
  __shared__ int found;
  if (T == 0) found = 0;  // mutant: initialisation
  __syncthreads();        // mutant: barrier
  int level = 1000;
  if (I + 1 < n) level = min(level, now[I + 1] + 1);  // mutant: bound
  if (I > 0) level = min(level, now[I - 1] + 1);      // mutant: bound
  if (level < 1000) atomicOr(&found, 1);
  __syncthreads();  // mutant: barrier
  next[I] = found ? level : now[I];
}

// run: 2 128 zeros[257] 256
KERNEL shortest_ways(int* distances, int n) {
  const int way = I % 7 + 1;
  const int mine = atomicAdd(&distances[I], 0);
  if (I + 1 < n + 1) atomicMin(&distances[I + 1], mine + way);
  if (I + way < n) atomicMin(&distances[I + way], mine + 1);  // mutant: bound
}

// run: 1 128 zeros[128] zeros[128]
KERNEL pointers_that_jump(int* parents, int* out) {
  __shared__ int s[2][128];
  s[0][T] = T / 2;
  int now = 0;
  for (int k = 0; k < 7; ++k) {
    __syncthreads();  // mutant: barrier
    s[1 - now][T] = s[now][s[now][T]];
    now = 1 - now;
  }
  __syncthreads();  // mutant: barrier
  out[T] = s[now][127 - T];
  parents[T] = s[now][T];
}

// run: 2 32 zeros[64]
struct Node {
  int value;
  Node* next;
};
KERNEL list_of_allocated_nodes(int* out) {
  Node* head = nullptr;
  for (int k = 0; k < 3; ++k) {
    Node* const node = static_cast<Node*>(malloc(sizeof(Node)));
    node->value = k;    // mutant: initialisation
    node->next = head;  // mutant: initialisation
    head = node;
  }
  int sum = 0;
  while (head != nullptr) {
    Node* const next = head->next;
    sum += head->value;
    free(head);
    head = next;
  }
  out[I] = sum;
}
