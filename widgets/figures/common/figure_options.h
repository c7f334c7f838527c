// The options of a figure, declared once: a key, the ids of its choices, and the enum they are read as. A figure writes
//   enum class Quantity : std::uint8_t { time, ratio };
//   constexpr std::array<std::string_view, 2> kQuantities{"time", "ratio"};
//   constexpr FigureOptions kOptions{OptionOf<Quantity>{"quantity", kQuantities}};
// gives `kOptions.rows` to its FigureRow, and reads `kOptions.chosen<Quantity>(view)`.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

#include "widgets/figures/common/figure.h"

namespace roofscape::widgets {

// One option: its choices are the values of E, in order; the first is the default.
template <class E>
struct OptionOf {
  std::string_view key;
  std::span<const std::string_view> ids;
};

// All options of a figure, each of a type of its own.
template <class... E>
struct FigureOptions {
  static_assert(sizeof...(E) <= kMostFigureOptions);
  std::array<FigureOption, sizeof...(E)> rows;

  constexpr explicit FigureOptions(const OptionOf<E>&... options) : rows{FigureOption{options.key, options.ids}...} {}

  template <class T>
  static constexpr T chosen(const FigureView& view) {
    return static_cast<T>(view.choices[place<T>()]);
  }
  // The id of what is chosen, of which keys of texts are made.
  template <class T>
  constexpr std::string_view chosen_id(const FigureView& view) const {
    return rows[place<T>()].choices[view.choices[place<T>()]];
  }

 private:
  template <class T>
  static constexpr std::size_t place() {
    static_assert((std::is_same_v<T, E> + ...) == 1, "one option of the figure has this type");
    constexpr std::array<bool, sizeof...(E)> is_it{std::is_same_v<T, E>...};
    std::size_t i = 0;
    while (!is_it[i]) ++i;
    return i;
  }
};

}  // namespace roofscape::widgets
