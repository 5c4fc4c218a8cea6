# How everything in Go is built here: with caches inside the build folder and without the network.
# Tests load the library as it was installed for the tests; programs that are built here do so too.
set(KM_GO_LIBRARY_DIR ${PROJECT_BINARY_DIR}/stage/${CMAKE_INSTALL_LIBDIR})
set(KM_GO_ENVIRONMENT
  KM_LIBRARY_DIR=${KM_GO_LIBRARY_DIR}
  CC=${CMAKE_C_COMPILER} CGO_ENABLED=1
  GOCACHE=${PROJECT_BINARY_DIR}/go/cache GOMODCACHE=${PROJECT_BINARY_DIR}/go/modules
  GOENV=off GOPROXY=off GOTOOLCHAIN=local GOFLAGS=-buildvcs=false)
set(KM_GO_FOLDER_VARIABLE github.com/kernelmill/kernelmill/bindings/go/internal/library.Folder)

# km_add_go_program(TARGET FOLDER OUTPUT [FLAG...]): a program, built anew whenever Go says so.
function(km_add_go_program target folder output)
  add_custom_target(${target}
    COMMAND ${CMAKE_COMMAND} -E env ${KM_GO_ENVIRONMENT} ${KM_GO} build -o ${output}
      -ldflags=-X=${KM_GO_FOLDER_VARIABLE}=${KM_GO_LIBRARY_DIR} ${ARGN} .
    WORKING_DIRECTORY ${folder} BYPRODUCTS ${output} VERBATIM
    COMMENT "Building ${target} with Go")
  add_dependencies(${target} km_stage)
endfunction()
