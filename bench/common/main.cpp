#include "common/benchmark.h"

int main(int argc, char** argv) { return km::bench::serve(argc, argv); }
