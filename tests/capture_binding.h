// CAPTURE for a structured binding: it makes a lambda, and clang before 16 lets none refer to one.
#pragma once

#include <doctest/doctest.h>

#define CAPTURE_BINDING(name)            \
  const auto& name##_of_the_case = name; \
  CAPTURE(name##_of_the_case)
