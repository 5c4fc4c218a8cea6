// One step of heat in a plate: `rows` rows of `columns` numbers, with a row of a neighbour above
// and below. The first and the last column stay as they are.
extern "C" __global__ void heat(const float* now, float* next, int rows, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * columns) return;
  const int column = i % columns, at = i + columns;
  const bool is_edge = column == 0 || column == columns - 1;
  const float around = (now[at - columns] + now[at + columns]) + (now[at - 1] + now[at + 1]);
  next[at] = is_edge ? now[at] : now[at] + 0.2f * (around - 4.0f * now[at]);
}
