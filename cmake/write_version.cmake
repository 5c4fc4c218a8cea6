# cmake -P: writes OUTPUT (km_version.h) from VERSION, SEED and the files named in LIST.
file(STRINGS ${LIST} files)
set(text "${SEED}\n")
foreach(path IN LISTS files)
  if(EXISTS ${SOURCE_DIR}/${path})
    file(SHA256 ${SOURCE_DIR}/${path} hash)
    string(APPEND text "${path} ${hash}\n")
  endif()
endforeach()
string(SHA256 id "${text}")
string(SUBSTRING "${id}" 0 32 id)
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[// Made by cmake/write_version.cmake.
#pragma once

#define KM_VERSION_STRING "@VERSION@"
#define KM_BUILD_ID "@id@"
]])
