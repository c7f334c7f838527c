#include "engine/io/import/shell_sbatch.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roofscape::io {

namespace {

std::string_view long_name(std::string_view option) {
  constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {"N", "nodes"}, {"n", "ntasks"}, {"G", "gpus"}, {"J", "job-name"}, {"p", "partition"}, {"t", "time"}};
  for (const auto& [brief, full] : kShort)
    if (option == brief) return full;
  return option;
}

}  // namespace

void read_sbatch(const ShellSource& source, ShellScript& out) {
  std::string_view text = source.text;
  while (!text.empty()) {
    const int line = source.line_at(source.text.size() - text.size());
    const std::size_t stop = std::min(text.find('\n'), text.size());
    std::string_view row = text.substr(0, stop);
    text.remove_prefix(std::min(stop + 1, text.size()));
    if (!row.starts_with("#SBATCH") || row.size() > 4096) continue;
    row.remove_prefix(7);
    row = row.substr(0, std::min(row.find(" #"), row.size()));
    std::vector<std::string_view> words;
    while (true) {
      const std::size_t begin = row.find_first_not_of(" \t\r");
      if (begin == std::string_view::npos) break;
      row.remove_prefix(begin);
      const std::size_t end = std::min(row.find_first_of(" \t\r"), row.size());
      words.push_back(row.substr(0, end));
      row.remove_prefix(end);
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::string_view word = words[i];
      if (!word.starts_with('-')) continue;
      SbatchOption option{{}, {}, line};
      if (word.starts_with("--")) {
        word.remove_prefix(2);
        const std::size_t equals = word.find('=');
        option.name = word.substr(0, equals);
        if (equals != std::string_view::npos) option.value = word.substr(equals + 1);
      } else {
        option.name = long_name(word.substr(1, 1));
        option.value = word.substr(std::min<std::size_t>(2, word.size()));
        if (option.value.starts_with('=')) option.value.erase(0, 1);
      }
      if (option.value.empty() && i + 1 < words.size() && !words[i + 1].starts_with('-')) option.value = words[++i];
      if (out.sbatch.size() < 200) out.sbatch.push_back(std::move(option));
    }
  }
}

}  // namespace roofscape::io
