# ckjit_room(NAME SOURCES... [LINK libs...]): one static library a room, warnings as errors.
set(CKJIT_WARNINGS -Wall -Wextra -Werror -Wno-unused-parameter -Wno-comment -Wno-restrict)
if(CKJIT_SANITIZE)
  # g++ 12 sees uninitialized values in the instrumented standard library.
  list(APPEND CKJIT_WARNINGS -Wno-maybe-uninitialized)
endif()
if(CKJIT_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "CKJIT_FUZZ needs clang (libFuzzer is a part of it); found ${CMAKE_CXX_COMPILER_ID}. "
                        "The preset `fuzz` chooses clang++-22.")
  endif()
  # The names of g++'s warnings above are unknown to clang.
  list(APPEND CKJIT_WARNINGS -Wno-unknown-warning-option)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(CKJIT_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined -fno-sanitize=vptr)
endif()

# What the linker made is told apart by its hash (lib/JIT/CompilerIdentity.cpp).
add_link_options(-Wl,--build-id=sha1)

# LLVM's allocators poison memory where our instrumented code inlines them, and Debian's libraries, which aren't
# instrumented, use it again without a word: such reports are about the mix, not about a fault.
set(CKJIT_TEST_ENVIRONMENT "ASAN_OPTIONS=allow_user_poisoning=0")

function(ckjit_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_compile_options(${name} PRIVATE ${CKJIT_WARNINGS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# Seconds. Under the sanitizers the compiler itself runs several times slower.
if(CKJIT_SANITIZE)
  set(CKJIT_TEST_TIMEOUT 1200)
else()
  set(CKJIT_TEST_TIMEOUT 300)
endif()

# ckjit_catch_test(NAME SOURCES... [LINK libs...] [LABELS labels...]): one Catch2 program, run by ctest.
function(ckjit_catch_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_compile_options(${name} PRIVATE ${CKJIT_WARNINGS})
  target_link_libraries(${name} PRIVATE ckjit_test_main ${ARG_LINK})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${CKJIT_TEST_TIMEOUT} ENVIRONMENT "${CKJIT_TEST_ENVIRONMENT}")
  if(ARG_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
  endif()
endfunction()
