# cmake -P: writes OUTPUT (km_version.h) from VERSION, SEED, CODE_SEED and the files named in LIST.
file(STRINGS ${LIST} files)
set(text "")
foreach(path IN LISTS files)
  if(EXISTS ${SOURCE_DIR}/${path})
    file(SHA256 ${SOURCE_DIR}/${path} hash)
    string(APPEND text "${path} ${hash}\n")
  endif()
endforeach()
string(SHA256 id "${SEED}\n${text}")
string(SHA256 code_id "${CODE_SEED}\n${text}")
string(SUBSTRING "${id}" 0 32 id)
string(SUBSTRING "${code_id}" 0 32 code_id)
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[// Made by cmake/write_version.cmake.
#pragma once

#define KM_VERSION_STRING "@VERSION@"
#define KM_BUILD_ID "@id@"
#define KM_CODE_ID "@code_id@"
]])
