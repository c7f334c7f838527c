// A short list that lives where it is declared, for rows of a report that are filled again and again: no allocation.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <initializer_list>

namespace roofscape::engine {

// At most N elements; more is a mistake of the caller.
template <class T, std::size_t N>
class FixedList {
 public:
  FixedList() = default;
  FixedList(std::initializer_list<T> items) {
    for (const T& item : items) push_back(item);
  }
  void push_back(const T& item) {
    assert(size_ < N);
    items_[size_++] = item;
  }
  void clear() { size_ = 0; }
  std::size_t size() const { return size_; }
  static constexpr std::size_t capacity() { return N; }
  bool empty() const { return size_ == 0; }
  const T& operator[](std::size_t i) const { return items_[i]; }
  const T& front() const { return items_[0]; }
  const T* begin() const { return items_.data(); }
  const T* end() const { return items_.data() + size_; }

 private:
  std::array<T, N> items_;
  std::size_t size_ = 0;
};

}  // namespace roofscape::engine
