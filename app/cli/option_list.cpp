#include "app/cli/option_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "engine/base/read_number.h"

namespace roofscape::app::cli {
namespace {

// Reads "30 ms" or "10%" before CLI11 reads the number.
CLI::Validator number_of(const engine::Unit& unit, const engine::Words& words) {
  return CLI::Validator(
      [unit, &words](std::string& text) {
        const engine::NumberReading read = engine::read_number(text, unit);
        if (!read) return words.write(engine::say("error.both", read.problem, read.remedy));
        text = fmt::format("{}", *read);
        return std::string();
      },
      std::string());
}

}  // namespace

void OptionList::required(const char* name, std::string& into, std::string_view about) {
  command_.add_option(name, into, text(about))->required();
}
void OptionList::optional(const char* name, std::string& into, std::string_view about) {
  command_.add_option(name, into, text(about));
}
void OptionList::optional(const char* name, std::vector<std::string>& into, std::string_view about) {
  command_.add_option(name, into, text(about));
}

void OptionList::flag(const char* name, bool& into, std::string_view about) {
  command_.add_flag(name, into, text(about));
}
void OptionList::option(const char* name, std::string& into, std::string_view about) {
  command_.add_option(name, into, text(about));
}
void OptionList::required_option(const char* name, std::string& into, std::string_view about) {
  command_.add_option(name, into, text(about))->required();
}
void OptionList::option(const char* name, std::string& into, std::string_view about,
                        const std::vector<std::string>& words) {
  command_.add_option(name, into, texts_.format(about, {fmt::format("{}", fmt::join(words, ", "))}));
}
void OptionList::repeated(const char* name, std::vector<std::string>& into, std::string_view about) {
  command_.add_option(name, into, text(about))->type_size(1)->allow_extra_args(false)->take_all();
}
void OptionList::whole_number(const char* name, int& into, std::string_view about, int least, int most) {
  command_.add_option(name, into, text(about))->check(CLI::Range(least, most));
}
void OptionList::number(const char* name, double& into, std::string_view about, const engine::Unit& unit,
                        double least, double most) {
  command_.add_option(name, into, text(about))->transform(number_of(unit, texts_))->check(CLI::Range(least, most));
}
void OptionList::positive_number(const char* name, double& into, std::string_view about, const engine::Unit& unit) {
  command_.add_option(name, into, text(about))->transform(number_of(unit, texts_))->check(CLI::PositiveNumber);
}

void OptionList::scenario(std::string& into) { required("scenario", into, "cli.scenario"); }
void OptionList::set(std::vector<std::string>& into) { repeated("--set", into, "cli.set"); }
void OptionList::json(bool& into) { flag("--json", into, "cli.json"); }

}  // namespace roofscape::app::cli
