# How the core is compiled, wherever that happens: here for the Python modules, elsewhere by `find_package(elbowroom)`.

# `variant`: v2, v3 or v4 (levels of x86-64), or anything else for the compiler's own choice. More flags may follow.
function(elbowroom_options target variant)
  # Contraction to fused operations is allowed, reassociation is not: error bounds of proofs and verdicts rest on that.
  set(flags -O3 -ffp-contract=fast -fno-math-errno -fno-trapping-math ${ARGN} -Wno-psabi)
  if(variant MATCHES "^v[234]$")
    list(APPEND flags -march=x86-64-${variant})
  endif()
  if(CMAKE_CXX_COMPILER_FRONTEND_VARIANT STREQUAL "MSVC")  # clang-cl takes such flags with a prefix
    list(TRANSFORM flags PREPEND "/clang:")
    list(APPEND flags /EHsc)
  endif()
  target_compile_options(${target} PUBLIC ${flags})
  target_compile_features(${target} PUBLIC cxx_std_20)
endfunction()
