#include "engine/io/import/launcher.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "engine/io/import/document.h"

namespace roofscape::io {

using engine::say;

namespace {

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool launches(std::string_view module) {
  return module.starts_with("torch.distributed") || module.starts_with("accelerate") ||
         module.starts_with("deepspeed.launcher");
}

}  // namespace

LaunchLine launch_line(const ShellCommand& command) {
  LaunchLine out;
  const std::vector<ShellWord>& words = command.words;
  std::size_t program = words.size();
  if (!words.empty() && words[0].text.starts_with("--")) {
    out.arguments = words;
    return out;
  }
  for (std::size_t i = 0; i < words.size() && program == words.size(); ++i) {
    const std::string& word = words[i].text;
    if (word.ends_with(".py")) program = i;
    // `python -m module`; torchrun takes -m as well.
    if (word == "-m" && i + 1 < words.size() && !launches(words[i + 1].text)) program = i + 1;
    if ((base_name(word) == "vllm" || base_name(word) == "sglang") && i + 1 < words.size()) program = i;
  }
  if (program == words.size()) {
    // A program of another kind: arguments begin at the first option it has.
    program = 0;
    if (words.empty()) return out;
  }
  out.launcher.assign(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(program));
  out.program = words[program];
  out.arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(program) + 1, words.end());
  return out;
}

ShellCommand joined_arguments(const ShellScript& script) {
  ShellCommand out;
  for (const ShellCommand& command : script.commands)
    if (!command.words.empty() && command.words[0].text.starts_with("--")) {
      if (out.words.empty()) out.line = command.line;
      out.words.insert(out.words.end(), command.words.begin(), command.words.end());
    }
  return out;
}

std::string Argument::value_text() const {
  std::string out;
  for (const ShellWord& value : values) out += (out.empty() ? "" : " ") + value.text;
  return out;
}

std::string Argument::switch_text() const {
  return values.empty() || !values.front().open.empty() ? "true" : value_text();
}

Arguments arguments_of(const std::vector<ShellWord>& words) {
  Arguments out;
  for (const ShellWord& word : words) {
    const bool negative = word.text.size() > 1 && word.text[0] == '-' && plain_number(word.text).has_value();
    if (word.text.size() < 2 || word.text[0] != '-' || negative || word.text == "--") {
      if (out.options.empty())
        out.others.push_back(word);
      else if (!is_own_arguments(word))
        out.options.back().values.push_back(word);
      continue;
    }
    Argument argument;
    argument.line = word.line;
    const std::size_t equals = word.text.find('=');
    argument.written = word.text.substr(0, equals);
    argument.flag = argument.written;
    std::replace(argument.flag.begin(), argument.flag.end(), '_', '-');
    if (equals != std::string::npos) {
      ShellWord value = word;
      value.text = word.text.substr(equals + 1);
      argument.values.push_back(std::move(value));
    }
    out.options.push_back(std::move(argument));
  }
  return out;
}

namespace {

struct Size {
  int value = 0;
  Origin origin;
};
using MaybeSize = std::optional<Size>;

class Launcher {
 public:
  Launcher(const ShellScript& script, const LaunchLine& line, std::string_view file, LaunchPlan& plan)
      : script_(script), line_(line), file_(file), plan_(plan) {}

  Failure run() {
    const std::vector<ShellWord>& words = line_.launcher;
    bool torch = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string_view name = base_name(words[i].text);
      if (name == "srun") take(slice(i + 1), kSrun, slurm_);
      if (name == "mpirun" || name == "mpiexec" || name == "horovodrun") take(slice(i + 1), kMpi, mpi_);
      if (name == "torchrun" || launches(words[i].text) || name == "deepspeed" || name == "accelerate") {
        take(slice(i + 1), kTorch, torch_);
        torch = true;
      }
    }
    for (const SbatchOption& option : script_.sbatch) take_sbatch(option);
    if (torch && torch_.per_node && !torch_.nodes && !open_nodes_ && !torch_.total) {
      // The launcher's default is one node, unless Slurm starts it on each.
      if (slurm_.nodes)
        torch_.nodes = slurm_.nodes;
      else if (header_.nodes)
        torch_.nodes = header_.nodes;
      else
        torch_.nodes = Size{1, {torch_.per_node->origin.key, torch_.per_node->origin.line}};
    }
    const MaybeSize& slurm_nodes = slurm_.nodes ? slurm_.nodes : header_.nodes;
    if (torch_.nodes && slurm_nodes && torch_.nodes->value != slurm_nodes->value)
      return line_error(file_, torch_.nodes->origin.line,
                        say("error.import.two_sources", std::string("cluster.nodes"), shown(*slurm_nodes),
                            slurm_nodes->origin.line, shown(*torch_.nodes), torch_.nodes->origin.line),
                        say("error.import.two_sources.remedy", std::string("--cluster CHIP:N")));
    if (torch) {
      if (torch_.total)
        set(*torch_.total, std::nullopt, torch_.per_node);
      else if (torch_.per_node && torch_.nodes)
        set(*torch_.per_node, torch_.nodes, torch_.per_node);
      return std::nullopt;
    }
    if (mpi_.total) {
      set(*mpi_.total, std::nullopt, mpi_.per_node);
      return std::nullopt;
    }
    // Slurm starts one process a chip.
    const MaybeSize per_node = slurm_.per_node    ? slurm_.per_node
                               : header_.per_node ? header_.per_node
                               : slurm_.gpus      ? slurm_.gpus
                                                  : header_.gpus;
    const MaybeSize total = slurm_.total ? slurm_.total : header_.total;
    if (per_node && slurm_nodes)
      set(*per_node, slurm_nodes, per_node);
    else if (total)
      set(*total, std::nullopt, std::nullopt);
    return std::nullopt;
  }

 private:
  struct Sizes {
    MaybeSize nodes, per_node, total, gpus;
  };
  enum class What { nodes, per_node, total, gpus };
  struct Name {
    std::string_view flag;
    What what;
  };
  static constexpr std::array kTorch{Name{"--nproc-per-node", What::per_node}, Name{"--nnodes", What::nodes},
                                     Name{"--num-gpus", What::per_node},       Name{"--num-nodes", What::nodes},
                                     Name{"--num-processes", What::total},     Name{"--num-machines", What::nodes}};
  static constexpr std::array kSrun{
      Name{"--nodes", What::nodes},  Name{"-N", What::nodes}, Name{"--ntasks-per-node", What::per_node},
      Name{"--ntasks", What::total}, Name{"-n", What::total}, Name{"--gpus-per-node", What::gpus}};
  static constexpr std::array kMpi{Name{"-np", What::total}, Name{"-n", What::total}, Name{"--np", What::total},
                                   Name{"-npernode", What::per_node}, Name{"-ppn", What::per_node}};

  std::vector<ShellWord> slice(std::size_t from) const {
    return {line_.launcher.begin() + static_cast<std::ptrdiff_t>(std::min(from, line_.launcher.size())),
            line_.launcher.end()};
  }

  static std::string shown(const Size& size) { return size.origin.key + " " + std::to_string(size.value); }

  template <class Names>
  void take(const std::vector<ShellWord>& words, const Names& names, Sizes& sizes) {
    for (const Argument& argument : arguments_of(words).options)
      for (const Name& name : names) {
        if (argument.flag != name.flag || argument.values.empty()) continue;
        const ShellWord& value = argument.values.front();
        if (!value.open.empty()) {
          if (name.what == What::nodes) open_nodes_ = true;
          plan_.warn(say("import.open_size", argument.written, value.text), argument.line);
          continue;
        }
        put(sizes, name.what, value.text, argument.origin());
      }
  }

  void put(Sizes& sizes, What what, std::string_view text, const Origin& origin) {
    const auto number = plain_number(text);
    if (!number || *number < 1 || *number > (1 << 20) || *number != std::floor(*number)) {
      if (what == What::nodes) open_nodes_ = true;
      plan_.warn(say("import.open_size", origin.key, text), origin.line);
      return;
    }
    const Size size{static_cast<int>(*number), origin};
    switch (what) {
      case What::nodes:
        sizes.nodes = size;
        break;
      case What::per_node:
        sizes.per_node = size;
        break;
      case What::total:
        sizes.total = size;
        break;
      case What::gpus:
        sizes.gpus = size;
        break;
    }
  }

  void take_sbatch(const SbatchOption& option) {
    const Origin origin{"#SBATCH --" + option.name, option.line};
    if (option.name == "nodes") put(header_, What::nodes, option.value, origin);
    if (option.name == "ntasks-per-node") put(header_, What::per_node, option.value, origin);
    if (option.name == "ntasks" || option.name == "gpus") put(header_, What::total, option.value, origin);
    if (option.name == "gpus-per-node" || option.name == "gres") {
      // "8", "gpu:8", "gpu:a100:8"
      const std::string_view value = option.value;
      if (option.name == "gres" && !value.starts_with("gpu")) return;
      const std::string_view number = value.substr(value.rfind(':') + 1);
      if (plain_number(number)) put(header_, What::gpus, number, origin);
    }
  }

  void set(const Size& per_node, const MaybeSize& nodes, const MaybeSize& on_node) {
    const std::int64_t chips = std::int64_t{per_node.value} * (nodes ? nodes->value : 1);
    if (chips > (1 << 20)) return;
    Origin origin = per_node.origin;
    if (nodes && nodes->origin.key != per_node.origin.key)
      origin.key = nodes->origin.key + " x " + per_node.origin.key;
    plan_.chips = {static_cast<int>(chips), origin};
    if (on_node) plan_.chips_per_node = {on_node->value, on_node->origin};
  }

  const ShellScript& script_;
  const LaunchLine& line_;
  std::string_view file_;
  LaunchPlan& plan_;
  Sizes torch_, slurm_, mpi_, header_;
  bool open_nodes_ = false;
};

}  // namespace

Failure read_launcher(const ShellScript& script, const LaunchLine& line, std::string_view file, LaunchPlan& plan) {
  return Launcher(script, line, file, plan).run();
}

void tell_gaps(const ShellScript& script, LaunchPlan& plan) {
  for (const ShellGap& gap : script.gaps) switch (gap.kind) {
      case ShellGap::Kind::condition:
        plan.warn(say("import.gap.condition", gap.written), gap.line);
        break;
      case ShellGap::Kind::loop:
        plan.warn(say("import.gap.loop", gap.written), gap.line);
        break;
      case ShellGap::Kind::case_list:
        plan.warn(say("import.gap.case", gap.written), gap.line);
        break;
      case ShellGap::Kind::other_file:
        plan.warn(say("import.gap.file", gap.written), gap.line);
        break;
      case ShellGap::Kind::replicas:
        plan.warn(say("import.gap.replicas", gap.written), gap.line);
        break;
    }
}

}  // namespace roofscape::io
