// The one translation unit that instantiates doctest (it takes seconds to compile).
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
