// The options of one command, as it declares them: each is bound to a member of the command's struct, which parsing
// fills. What an option is for is a key of a text. The only header of the commands that stands between them and CLI11.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/unit.h"
#include "widgets/plot/text_table.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace roofscape::app::cli {

class OptionList {
 public:
  OptionList(CLI::App& command, const widgets::TextTable& texts) : command_(command), texts_(texts) {}

  // Arguments without a name, in the order of their declaration.
  void required(const char* name, std::string& into, std::string_view about);
  void optional(const char* name, std::string& into, std::string_view about);
  void optional(const char* name, std::vector<std::string>& into, std::string_view about);  // any number

  void flag(const char* name, bool& into, std::string_view about);
  void option(const char* name, std::string& into, std::string_view about);
  void required_option(const char* name, std::string& into, std::string_view about);
  // `about` has a place for the words that may be given.
  void option(const char* name, std::string& into, std::string_view about, const std::vector<std::string>& words);
  // May be given several times, with one value each.
  void repeated(const char* name, std::vector<std::string>& into, std::string_view about);
  void whole_number(const char* name, int& into, std::string_view about, int least, int most);
  // Typed with its unit or without: "30 ms", "10%".
  void number(const char* name, double& into, std::string_view about, const engine::Unit& unit, double least,
              double most);
  void positive_number(const char* name, double& into, std::string_view about, const engine::Unit& unit);

  // What several commands have, under one name.
  void scenario(std::string& into);          // a preset or a file, required
  void set(std::vector<std::string>& into);  // --set path=value
  void json(bool& into);                     // --json

 private:
  std::string text(std::string_view key) const { return std::string(texts_.text(key)); }

  CLI::App& command_;
  const widgets::TextTable& texts_;
};

}  // namespace roofscape::app::cli
