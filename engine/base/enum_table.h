// The ids of an enumeration, for files, command lines, canvas tags and keys of texts: one way from a value to its id
// and back. How many values an enumeration has is read off the compiler's name for each, so that one id too few or
// too many does not compile. Enumerators are numbered from 0 without gaps.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace roofscape::engine {

namespace enum_detail {

// GCC and Clang write a value that has a name as "value = ns::E::name", another one as "value = (ns::E)7".
template <auto value>
constexpr bool has_name() {
  constexpr std::string_view written = __PRETTY_FUNCTION__;
  constexpr std::string_view before = "value = ";
  const char first = written[written.find(before) + before.size()];
  return first != '(' && first != '-' && (first < '0' || first > '9');
}

template <class E, std::size_t n = 0>
constexpr std::size_t count() {
  if constexpr (has_name<static_cast<E>(n)>())
    return count<E, n + 1>();
  else
    return n;
}

}  // namespace enum_detail

template <class E>
requires std::is_enum_v<E>
inline constexpr std::size_t kEnumCount = enum_detail::count<E>();

template <class E>
class EnumTable {
 public:
  static constexpr std::size_t kCount = kEnumCount<E>;

  // In the order of the enumeration.
  template <std::convertible_to<std::string_view>... Ids>
  consteval explicit(false) EnumTable(Ids... ids) : ids_{ids...} {
    static_assert(sizeof...(Ids) == kCount, "one id for each enumerator");
  }

  constexpr std::span<const std::string_view, kCount> ids() const { return ids_; }
  constexpr auto begin() const { return ids_.begin(); }
  constexpr auto end() const { return ids_.end(); }
  static constexpr std::size_t size() { return kCount; }
  // Empty for a value that has no name.
  constexpr std::string_view operator[](E value) const {
    const auto i = static_cast<std::size_t>(value);
    return i < kCount ? ids_[i] : std::string_view{};
  }
  constexpr std::optional<E> parse(std::string_view id) const {
    for (std::size_t i = 0; i < kCount; ++i)
      if (ids_[i] == id) return static_cast<E>(i);
    return std::nullopt;
  }

 private:
  std::array<std::string_view, kCount> ids_;
};

}  // namespace roofscape::engine
