// A library of cuDNN without functions for programs, which frameworks load by its name.
