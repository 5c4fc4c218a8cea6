// Types of cuSPARSE that functions of cuSOLVER have. Their values are read by functions of
// libcusparse (sparse/description.h).
#pragma once

extern "C" {

typedef struct cusparseContext* cusparseHandle_t;
typedef struct cusparseMatDescr* cusparseMatDescr_t;

}  // extern "C"
