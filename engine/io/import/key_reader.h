// The keys of one configuration file or command line, read one by one into a LaunchPlan. What has been asked for is used
// up; what nobody asked for comes out as not understood. For the .cpp files of engine/io.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/import/document.h"
#include "engine/io/import/launch_plan.h"
#include "engine/io/import/shell_script.h"
#include "engine/io/json/result.h"

namespace roofscape::io {

inline constexpr int kMostRanks = 65536;         // of data and fsdp
inline constexpr double kMostTrainSteps = 1e12;  // of a run

class KeyReader {
 public:
  KeyReader(std::string_view file, LaunchPlan& plan) : file_(file), plan_(plan) {}

  // Every scalar and list of a document, by its dotted path; empty maps too.
  void add(const Node& document);
  // A key of a command line. `open`: what of its value only a shell could know.
  void add(std::string key, Node value, std::string open = {});

  // A word of it that is neither a key nor the value of one: that it may stand for such is told.
  void pass_over(const ShellWord& word);

  // Names are one or several of one thing, "parallelism.tensor_parallel_degree|training.tensor_parallel_degree"; two that
  // stand with different values are refused with both lines, and a value that is null counts as not there. A value of
  // another type or outside the bounds is an error.
  bool has(std::string_view names);
  bool has_any(std::initializer_list<std::string_view> keys);  // of different things
  // The first key that fits a pattern with '*', not used up; none: there is none.
  std::optional<Origin> like(std::string_view pattern) const;
  Maybe<int> whole(std::string_view names, int least, int most);
  // A degree of the plan: what is stated goes to that field, and else 1, as `usual` says.
  int degree(std::string_view names, std::string_view field, int most, const engine::Sentence& usual);
  Maybe<double> number(std::string_view names, double least, double most);
  Maybe<bool> flag(std::string_view names);
  Maybe<std::string> word(std::string_view names);  // any scalar, as it is written
  struct List {
    const Node* list = nullptr;  // null: it is not there
    Origin origin;
  };
  List list(std::string_view names);
  bool is_list(std::string_view names);
  // Whether the value is this word, whatever its type ("auto").
  bool is_word(std::string_view names, std::string_view word);

  // Keys that are known: names, or patterns with '*'. `why` is what the receipt says of each.
  void without_effect(std::initializer_list<std::string_view> patterns, const engine::Sentence& why);
  // Of what does nothing where it is off (false, 0, none): no effect there, and not modelled where it is on.
  void not_modelled_when_on(std::initializer_list<std::string_view> patterns);
  // The rest, as not understood. What was read and came to no field of its own goes to the receipt with the field that
  // the first pattern gives; of a value that only a shell could know ("$TP"), which counts as not there where it is asked
  // for, that field is missing.
  struct KeyField {
    std::string_view pattern, field;
  };
  void finish(std::initializer_list<KeyField> fields);

  void fail(const Origin& origin, engine::Sentence message, engine::Sentence remedy = {});
  // A word that is none of the choices, which are listed with blanks between them.
  void not_possible(const Origin& origin, std::string_view value, std::string_view choices);
  // Two values that cannot both be meant.
  void contradiction(const Origin& a, std::string_view a_value, const Origin& b, std::string_view b_value);
  bool failed() const { return failure_.has_value(); }
  const Failure& failure() const { return failure_; }

 private:
  struct Key {
    std::string name;
    Node value;
    std::string open;
    bool used = false;
  };
  Key* find(std::string_view names);
  template <class Why>  // what the receipt says of a key
  void leave_out(std::initializer_list<std::string_view> patterns, const Why& why);
  bool told(const Key& key) const;
  Origin origin(const Key& key) const { return {key.name, key.value.line}; }
  void add_members(const Node& map, const std::string& prefix);

  std::string_view file_;
  LaunchPlan& plan_;
  std::vector<Key> keys_;
  Failure failure_;
};

}  // namespace roofscape::io
