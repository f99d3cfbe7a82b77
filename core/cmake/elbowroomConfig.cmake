# find_package(elbowroom): the target elbowroom::core, a static library compiled from the sources beside this file with the
# compiler of the project that asks.
#
#   cmake -Delbowroom_ROOT=$(elbowroom --cmake-dir) ...
#   target_link_libraries(controller PRIVATE elbowroom::core)
#
# ELBOWROOM_VARIANT chooses the processors it runs on: v2, v3 or v4 of x86-64; "native" (the default) for this machine.
include("${CMAKE_CURRENT_LIST_DIR}/elbowroomOptions.cmake")

if(NOT TARGET elbowroom::core)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "MSVC")
    message(FATAL_ERROR "Elbowroom's core uses vector types of GCC and Clang: on Windows compile with clang-cl.")
  endif()
  set(ELBOWROOM_VARIANT "native" CACHE STRING "Processors that elbowroom::core runs on: native, v2, v3 or v4")
  file(GLOB elbowroom_SOURCES "${CMAKE_CURRENT_LIST_DIR}/../src/*.cpp")
  add_library(elbowroom_core STATIC ${elbowroom_SOURCES})
  add_library(elbowroom::core ALIAS elbowroom_core)
  target_include_directories(elbowroom_core PUBLIC "${CMAKE_CURRENT_LIST_DIR}/../include")
  elbowroom_options(elbowroom_core "${ELBOWROOM_VARIANT}")
  if(ELBOWROOM_VARIANT STREQUAL "native")
    target_compile_options(elbowroom_core PUBLIC -march=native)
  endif()
endif()
