#include "engine/io/import/contained_script.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/base/ascii.h"
#include "engine/base/text_pieces.h"
#include "engine/io/import/shell_expand.h"

namespace roofscape::io {

using engine::trimmed;

namespace {

// Writes a script whose characters have lines of another file.
class ScriptWriter {
 public:
  explicit ScriptWriter(ContainedScript& out) : out_(out) {}

  void put(std::string_view text, int line) {
    out_.source.text += text;
    out_.source.lines.insert(out_.source.lines.end(), text.size(), line);
  }
  // A text of several lines, the first of which is `line`.
  void put_rows(std::string_view text, int line) {
    for (const char c : text) {
      put({&c, 1}, line);
      line += c == '\n' ? 1 : 0;
    }
  }
  // One word, whatever stands in it. `put_in` finds what a text begins with that is put in, of so many characters, and
  // how a shell writes that.
  struct PutIn {
    std::size_t length = 0;
    std::string shell;
  };
  template <class FindPutIn>
  void word(std::string_view text, int line, FindPutIn&& put_in) {
    put("\"", line);
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (const PutIn found = put_in(text.substr(at)); found.length > 0) {
        put(found.shell, line);
        at += found.length - 1;
        continue;
      }
      const char c = text[at];
      if (c == '"' || c == '\\' || c == '`' || c == '$') put("\\", line);
      put({&c, 1}, line);
      line += c == '\n' ? 1 : 0;
    }
    put("\" ", line);
  }
  void word(std::string_view text, int line) {
    word(text, line, [](std::string_view) { return PutIn{}; });
  }
  void set(std::string_view name, std::string_view value, int line) {
    put("export " + std::string(name) + "=", line);
    word(value, line);
    end(line);
  }
  void end(int line) { put("\n", line); }
  void gap(ShellGap::Kind kind, std::string written, int line) {
    out_.gaps.push_back({kind, std::move(written), line});
  }

 private:
  ContainedScript& out_;
};

// The line that a scalar's text begins on: a block's is below its key.
int first_line(const Node& scalar) { return scalar.line + (scalar.text.find('\n') != std::string::npos ? 1 : 0); }

std::string_view text_at(const Node& map, std::string_view path) {
  const Node* found = map.at(path);
  return found != nullptr && found->is_scalar() ? std::string_view(found->text) : std::string_view();
}

constexpr std::string_view kDollar = "\\$";  // that stands for itself

// How long the ${...} or $(...) is that a text begins with; 0: it is none, or longer than names and their defaults are.
std::size_t bracketed(std::string_view text, std::string_view open, char close) {
  constexpr std::size_t kLongest = 1024;
  if (!text.starts_with(open)) return 0;
  text = text.substr(0, kLongest);
  const std::size_t end = shell_piece_end(text, 0);
  return text[end - 1] == close ? end : 0;
}

// $(NAME), which the cluster puts in; $$ is a dollar.
ScriptWriter::PutIn kubernetes_variable(std::string_view text) {
  if (text.starts_with("$$")) return {2, std::string(kDollar)};
  const std::size_t length = bracketed(text, "$(", ')');
  if (length == 0 || !is_shell_name(text.substr(2, length - 3))) return {};
  return {length, "${" + std::string(text.substr(2, length - 3)) + "}"};
}

// $NAME and ${NAME}, from where Compose is started; $$ is a dollar.
ScriptWriter::PutIn compose_variable(std::string_view text) {
  if (text.starts_with("$$")) return {2, std::string(kDollar)};
  std::size_t length = bracketed(text, "${", '}');
  if (length == 0 && text.starts_with('$')) {
    for (length = 1; length < text.size(); ++length)
      if (const char c = text[length]; !engine::is_letter(c) && !engine::is_digit(c) && c != '_') break;
    if (length == 1) return {};
  }
  return {length, std::string(text.substr(0, length))};
}

// Images that start a server of their own, and what its arguments follow.
std::string_view started_by_image(std::string_view image) {
  return image.find("vllm-openai") != std::string_view::npos ? "vllm serve " : "";
}

// A list of words, or of names and values.
template <class Visit>
void for_each_item(const Node* list, Visit&& visit) {
  if (list == nullptr || !list->is_list()) return;
  for (const Node& item : list->items) visit(item);
}

class DocumentScripts {
 public:
  explicit DocumentScripts(ContainedScript& out) : out_(out) {}

  // False: the document is none of these.
  bool read(const Node& document) {
    if (!document.is_map()) return false;
    if (document.find("apiVersion") != nullptr && document.find("kind") != nullptr) {
      const std::string_view kind = text_at(document, "kind");
      if (kind == "Deployment" || kind == "StatefulSet") tell_replicas(document.at("spec.replicas"));
      find_containers(document);
      return true;
    }
    if (const Node* services = document.find("services"); services != nullptr && services->is_map()) {
      bool any = false;
      for (const Node& service : services->items) any = (service.is_map() && read_service(service)) || any;
      return any;
    }
    return read_task(document);
  }

 private:
  // Whatever has an image, or stands in a list of containers, and says what starts.
  void find_containers(const Node& node, bool listed = false) {
    const bool starts = node.is_map() && (node.find("command") != nullptr || node.find("args") != nullptr);
    if (starts && (listed || node.find("image") != nullptr)) return read_container(node);
    for (std::size_t i = 0; i < node.items.size(); ++i)
      find_containers(node.items[i], node.is_map() ? node.keys[i] == "containers" : listed);
  }

  void read_container(const Node& container) {
    for_each_item(container.find("env"), [this](const Node& variable) {
      const Node* value = variable.is_map() ? variable.find("value") : nullptr;
      if (value != nullptr && value->is_scalar() && is_shell_name(text_at(variable, "name")))
        out_.set(text_at(variable, "name"), value->text, first_line(*value));
    });
    const Node* const command = container.find("command");
    int line = container.line;
    const auto put = [this, &line](const Node& word) {
      if (word.is_scalar()) out_.word(word.text, line = first_line(word), kubernetes_variable);
    };
    if (command == nullptr) put_started_by_image(container);
    for_each_item(command, put);
    for_each_item(container.find("args"), put);
    out_.end(line);
  }

  void put_started_by_image(const Node& container) {
    if (const Node* image = container.find("image"); image != nullptr && image->is_scalar())
      out_.put(started_by_image(image->text), image->line);
  }

  bool read_service(const Node& service) {
    const Node* const entry = service.find("entrypoint");
    const Node* const command = service.find("command");
    if (entry == nullptr && command == nullptr && service.find("image") == nullptr) return false;
    tell_replicas(service.at("deploy.replicas"));
    // What is put in comes from where Compose is started; the container's own variables are for a shell in it.
    if (has_own_dollars(entry) || has_own_dollars(command)) read_variables(service.find("environment"));
    tell_files(service.find("env_file"));
    int line = service.line;
    const auto put = [this, &line](const Node* words) {
      if (words == nullptr || words->is_null()) return;
      if (words->is_scalar()) {
        line = first_line(*words);
        put_line(words->text, line);
      }
      for_each_item(words, [this, &line](const Node& word) {
        if (word.is_scalar()) out_.word(word.text, line = first_line(word), compose_variable);
      });
    };
    if (entry == nullptr || entry->is_null()) put_started_by_image(service);
    put(entry);
    put(command);
    out_.end(line);
    return true;
  }

  static bool has_own_dollars(const Node* words) {
    if (words == nullptr) return false;
    if (words->is_scalar()) return words->text.find("$$") != std::string::npos;
    return std::any_of(words->items.begin(), words->items.end(),
                       [](const Node& word) { return has_own_dollars(&word); });
  }

  // Names with values, as a map or as a list of NAME=VALUE. One without a value is taken from where the file is used.
  void read_variables(const Node* variables) {
    if (variables == nullptr) return;
    for (std::size_t i = 0; i < variables->items.size(); ++i) {
      const Node& item = variables->items[i];
      if (!item.is_scalar()) continue;
      if (variables->is_map()) {
        if (is_shell_name(variables->keys[i]) && !item.is_null())
          out_.set(variables->keys[i], item.text, first_line(item));
        continue;
      }
      const std::size_t sign = item.text.find('=');
      if (sign != std::string::npos && is_shell_name(std::string_view(item.text).substr(0, sign)))
        out_.set(std::string_view(item.text).substr(0, sign), std::string_view(item.text).substr(sign + 1),
                 item.line);
    }
  }

  void tell_files(const Node* files) {
    if (files == nullptr) return;
    if (files->is_scalar() && !files->is_null()) out_.gap(ShellGap::Kind::other_file, files->text, files->line);
    for_each_item(files, [this](const Node& file) {
      const std::string_view path = file.is_map() ? text_at(file, "path") : std::string_view(file.text);
      if (!path.empty()) out_.gap(ShellGap::Kind::other_file, std::string(path), file.line);
    });
  }

  void tell_replicas(const Node* replicas) {
    if (replicas == nullptr || !replicas->is_scalar() || plain_number(replicas->text).value_or(1) <= 1) return;
    out_.gap(ShellGap::Kind::replicas, replicas->text, replicas->line);
  }

  // One command on as many rows as it likes, cut into words as a shell does; $$ is a dollar.
  void put_line(std::string_view text, int line) {
    char quote = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (const char c = text[at]; (c == '\'' || c == '"') && (quote == 0 || quote == c))
        quote = quote == 0 ? c : '\0';
      if (text.substr(at, 2) == "\\\n") continue;
      if (text[at] == '\n') {
        out_.put(" ", line++);
      } else if (text.substr(at, 2) == "$$") {
        out_.put(quote == '\'' ? "$" : kDollar, line);
        ++at;
      } else {
        out_.put(text.substr(at, 1), line);
      }
    }
    out_.put(" ", line);
  }

  // SkyPilot: a script, and what it runs on.
  bool read_task(const Node& task) {
    const Node* const run = task.find("run");
    if (run == nullptr || run->kind != Node::Kind::text) return false;
    const auto has = [&task](std::string_view key) { return task.find(key) != nullptr; };
    if (!has("resources") && !has("num_nodes") && !has("setup") && !has("envs")) return false;
    read_variables(task.find("envs"));
    const std::string_view nodes = text_at(task, "num_nodes");
    out_.set("SKYPILOT_NUM_NODES", nodes.empty() ? "1" : nodes,
             nodes.empty() ? task.line : task.find("num_nodes")->line);
    if (const Node* chips = task.at("resources.accelerators"); chips != nullptr) {
      std::string_view count;
      if (chips->is_scalar() && !chips->is_null()) {
        const std::size_t colon = chips->text.rfind(':');
        count = colon == std::string::npos ? "1" : std::string_view(chips->text).substr(colon + 1);
      } else if (chips->is_map() && chips->items.size() == 1) {
        count = chips->items[0].text;
      }
      if (plain_number(count)) out_.set("SKYPILOT_NUM_GPUS_PER_NODE", count, chips->line);
    }
    out_.put_rows(run->text, first_line(*run));
    out_.end(run->line);
    return true;
  }

  ScriptWriter out_;
};

// A row of a text, with those that it goes on in behind a backslash. A comment between such is blank, and goes on.
struct Row {
  std::string text;  // with the ends of its lines
  int line = 0;
};
// Takes it off the text; `line` is that of what is left.
Row take_row(std::string_view& text, int& line) {
  Row out{{}, line};
  for (bool goes_on = true; goes_on && !text.empty(); ++line) {
    const std::size_t stop = std::min(text.find('\n'), text.size());
    std::string_view row = text.substr(0, stop);
    text.remove_prefix(std::min(stop + 1, text.size()));
    const std::size_t first = row.find_first_not_of(" \t");
    if (line > out.line && first != std::string_view::npos && row[first] == '#') row = "\\";
    row = row.substr(0, row.find_last_not_of(" \t\r") + 1);  // none: nothing is left
    goes_on = row.ends_with('\\');
    out.text += row;
    out.text += '\n';
  }
  return out;
}

bool is_comment(std::string_view row) { return row.empty() || row[0] == '#' || row[0] == ';'; }

// The instruction of a row of a Dockerfile, in small letters.
std::string instruction_of(std::string_view row) {
  return engine::ascii_lower(row.substr(0, row.find_first_of(" \t\r\n")));
}

class DockerScript {
 public:
  explicit DockerScript(ContainedScript& out) : out_(out) {}

  void read(const std::vector<Row>& rows) {
    const Row* entry = nullptr;
    const Row* command = nullptr;
    std::string_view image;
    int line = 1;  // of the image, then of what is started
    for (const Row& row : rows) {
      const std::string_view text = trimmed(row.text);
      if (is_comment(text)) continue;
      const std::string instruction = instruction_of(text);
      if (instruction == "from") {
        image = trimmed(text.substr(4)), line = row.line;
        entry = command = nullptr;
      } else if (instruction == "env" || instruction == "arg") {
        read_variables(trimmed(text.substr(3)), row.line);
      } else if (instruction == "entrypoint") {
        entry = &row, command = nullptr;  // a new one forgets the arguments of the one before
      } else if (instruction == "cmd") {
        command = &row;
      }
    }
    if (entry == nullptr) out_.put(started_by_image(image), line);
    for (const Row* row : {entry, command})
      if (row != nullptr) put(trimmed(trimmed(row->text).substr(row == entry ? 10 : 3)), line = row->line);
    out_.end(line);
  }

 private:
  // NAME=VALUE ..., or NAME VALUE.
  void read_variables(std::string_view text, int line) {
    const std::size_t end = text.find_first_of("= \t");
    if (end == std::string_view::npos) return;
    if (text[end] == '=') {
      out_.put("export ", line);
      out_.put_rows(text, line);
      out_.end(line);
    } else if (is_shell_name(text.substr(0, end))) {
      out_.set(text.substr(0, end), trimmed(text.substr(end)), line);
    }
  }
  // A list of words, or a line for a shell.
  void put(std::string_view text, int line) {
    if (text.starts_with('[')) {
      std::string list(text);
      for (std::size_t at = 0; at + 1 < list.size(); ++at)
        if (list[at] == '\\' && list[at + 1] == '\n') list[at] = ' ';
      if (const auto words = read_json_document(list, {}); words.ok() && words->is_list()) {
        for (const Node& word : words->items)
          if (word.is_scalar()) out_.word(word.text, line + word.line - 1);
        return;
      }
    }
    out_.put_rows(text, line);
    out_.put(" ", line);
  }

  ScriptWriter out_;
};

void read_unit(const std::vector<Row>& rows, ContainedScript& script) {
  ScriptWriter out(script);
  for (const Row& row : rows) {
    const std::string_view text = trimmed(row.text);
    const std::size_t sign = text.find('=');
    if (is_comment(text) || sign == std::string_view::npos) continue;
    const std::string_view key = trimmed(text.substr(0, sign));
    std::string_view value = trimmed(text.substr(sign + 1));
    if (key == "Environment") {
      out.put("export ", row.line);
    } else if (key == "EnvironmentFile") {
      out.gap(ShellGap::Kind::other_file, std::string(value.substr(value.starts_with('-') ? 1 : 0)), row.line);
      continue;
    } else if (key == "ExecStart") {
      // How the program is started, and whether it may fail.
      value.remove_prefix(std::min(value.find_first_not_of("-@:+!"), value.size()));
    } else {
      continue;
    }
    out.put_rows(value, row.line);
    out.end(row.line);
  }
}

}  // namespace

std::optional<ContainedScript> script_of_documents(std::span<const Node> documents) {
  ContainedScript out;
  DocumentScripts scripts(out);
  bool any = false;
  for (const Node& document : documents) any = scripts.read(document) || any;
  if (!any) return std::nullopt;
  return out;
}

std::optional<ContainedScript> script_of_rows(std::string_view text) {
  std::vector<Row> rows;
  for (int line = 1; !text.empty();) {
    rows.push_back(take_row(text, line));
    const std::string_view first = trimmed(rows.back().text);
    const std::string instruction = instruction_of(first);
    if (is_comment(first) || instruction == "arg") continue;  // an argument of the image's name
    const bool image = instruction == "from";
    if (!image && first != "[Unit]" && first != "[Service]") return std::nullopt;
    while (!text.empty()) rows.push_back(take_row(text, line));
    ContainedScript out;
    if (image)
      DockerScript(out).read(rows);
    else
      read_unit(rows, out);
    return out;
  }
  return std::nullopt;
}

}  // namespace roofscape::io
