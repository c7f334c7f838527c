// Working memory that whoever calls often keeps between calls. It grows to what the largest call needed, and a program
// that runs for hours has met very large ones in each of its places.
#pragma once

#include <cstddef>
#include <vector>

namespace roofscape::engine {

inline constexpr std::size_t kKeptBytes = std::size_t{4} << 20;  // less than this is never given back

// Before a vector gets `needed` values: gives its memory back where that is far too much, and else leaves it as it is.
template <class T>
void give_back_unless_needed(std::vector<T>& values, std::size_t needed) {
  if (values.capacity() * sizeof(T) > kKeptBytes && values.capacity() / 8 > needed) std::vector<T>().swap(values);
}

// Room for so many values, what they are is left open.
template <class T>
T* room_for(std::vector<T>& values, std::size_t count) {
  give_back_unless_needed(values, count);
  values.resize(count);
  return values.data();
}

}  // namespace roofscape::engine
