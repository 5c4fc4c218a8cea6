# The toolchains of the bindings: KM_CARGO, KM_RUSTC, KM_GO, KM_GOFMT, KM_GO_OLDEST, KM_GO_NEWEST,
# KM_STATICCHECK, KM_ZIG (0.16) and KM_ZIG_017. Empty where scripts/toolchains.sh finds none that is
# new enough; -DKM_GO=... and so on choose.
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/toolchains.sh
  OUTPUT_VARIABLE km_toolchains COMMAND_ERROR_IS_FATAL ANY)

foreach(pair rustc:KM_RUSTC cargo:KM_CARGO go:KM_GO gofmt:KM_GOFMT go_oldest:KM_GO_OLDEST
    go_newest:KM_GO_NEWEST staticcheck:KM_STATICCHECK zig:KM_ZIG zig_next:KM_ZIG_017)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 name)
  list(GET pair 1 variable)
  if(NOT ${variable} AND km_toolchains MATCHES "(^|\n)${name}=([^\n]*)")
    set(${variable} ${CMAKE_MATCH_2})
  endif()
endforeach()

# km_skip_language(LABEL WHAT): in place of the tests of a language that this machine lacks, one
# that ctest lists as skipped.
function(km_skip_language label what)
  add_test(NAME ${label}.toolchain
    COMMAND sh -c "echo \"$1 is missing: run scripts/setup.sh\"; exit 77" sh ${what})
  set_tests_properties(${label}.toolchain PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77)
endfunction()
