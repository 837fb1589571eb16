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
  set_property(GLOBAL APPEND PROPERTY CKJIT_ROOMS ${name})
endfunction()

# ckjit_link_rooms(TARGET): links all rooms, and of MLIR the archives in place of the shared library. That one shows
# thousands of LLVM's inline functions under unversioned names, for which the loader takes those of any other LLVM in
# the process; from the archives they become the target's own. libLLVM's symbols are versioned: it stays shared.
# It also starts faster: the loader has tens of thousands of libMLIR.so's symbols to look up, 10 ms and more.
function(ckjit_link_rooms target)
  get_property(rooms GLOBAL PROPERTY CKJIT_ROOMS)
  file(GLOB mlir ${LLVM_LIBRARY_DIR}/libMLIR[A-Z]*.a)
  set(archives ${mlir})
  set(others)
  foreach(room ${rooms})
    list(APPEND archives $<TARGET_FILE:${room}>)
    get_target_property(links ${room} LINK_LIBRARIES)
    list(APPEND others ${links})
  endforeach()
  list(REMOVE_ITEM others ${rooms} MLIR)
  list(REMOVE_DUPLICATES others)
  # Files in place of targets: what finds the installed library need not find these.
  set(files)
  foreach(other ${others})
    set(type)
    if(TARGET ${other})
      get_target_property(type ${other} TYPE)
    endif()
    if(type MATCHES "SHARED|STATIC|UNKNOWN")
      list(APPEND files $<TARGET_LINKER_FILE:${other}>)
    else()
      list(APPEND files ${other})
    endif()
  endforeach()
  add_dependencies(${target} ${rooms})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${archives})
  target_link_libraries(${target} PRIVATE -Wl,--start-group ${archives} -Wl,--end-group ${files})
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
