#include "engine/io/scenario/figure_file.h"

#include <fmt/format.h>
#include <array>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>

#include "engine/io/json/json_text.h"
#include "engine/io/scenario/scenario_write.h"

namespace roofscape::io {
namespace {

constexpr std::string_view kPng{"\x89PNG\r\n\x1a\n", 8}, kPdf = "%PDF-";
constexpr std::string_view kRecordStart = R"({"format":"roofscape/figure")";

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

std::optional<std::string> text_of_png(std::string_view bytes) {
  constexpr std::size_t kFrame = 12;  // length, name and check sum of a chunk
  for (std::size_t at = kPng.size(); at + kFrame <= bytes.size();) {
    const std::size_t length = big_endian(bytes.substr(at));
    const std::string_view name = bytes.substr(at + 4, 4);
    if (length > bytes.size() - at - kFrame || name == "IEND") return std::nullopt;
    const std::string_view data = bytes.substr(at + 8, length);
    if (const std::size_t zero = data.find('\0'); name == "tEXt" && data.substr(0, zero) == kFigureKeyword)
      return std::string(data.substr(std::min(zero + 1, data.size())));
    at += kFrame + length;
  }
  return std::nullopt;
}

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return std::nullopt;
}

// The string of a PDF that begins as a record does. Cairo writes UTF-16 in hexadecimal digits, <FEFF007B...>; other
// programs that have copied the file may have made a literal of it, (...), with parentheses and backslashes escaped and
// a backslash at the end of a line that goes on.
std::optional<std::string> text_of_pdf(std::string_view bytes) {
  std::string digits = "<FEFF";
  for (const char c : kRecordStart) fmt::format_to(std::back_inserter(digits), "00{:02X}", static_cast<int>(c));
  std::string out;
  if (std::size_t at = bytes.find(digits); at != std::string_view::npos) {
    int unit = 0, count = 0;
    for (at += std::string_view("<FEFF").size(); at < bytes.size() && bytes[at] != '>'; ++at) {
      const auto digit = hex_digit(bytes[at]);
      if (!digit) continue;  // white space may stand between
      unit = (unit * 16 + *digit) & 0xFFFF;
      if (++count % 4 == 0) out += unit < 0x80 ? static_cast<char>(unit) : '?';
    }
    return out;
  }
  std::size_t at = bytes.find("(" + std::string(kRecordStart));
  if (at == std::string_view::npos) return std::nullopt;
  for (++at; at < bytes.size() && bytes[at] != ')'; ++at) {
    if (bytes[at] == '\\' && ++at < bytes.size() && (bytes[at] == '\n' || bytes[at] == '\r')) continue;
    if (at < bytes.size()) out += bytes[at];
  }
  return out;
}

std::string without_entities(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kEntities{
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}}};
  std::string out;
  while (!text.empty()) {
    bool entity = false;
    for (const auto& [name, c] : kEntities)
      if (text.starts_with(name)) {
        out += c;
        text.remove_prefix(name.size());
        entity = true;
        break;
      }
    if (entity) continue;
    out += text.front();
    text.remove_prefix(1);
  }
  return out;
}

// Between the tags of an element <NAME ... id="roofscape">.
std::optional<std::string_view> element(std::string_view bytes, std::string_view name) {
  const std::size_t id = bytes.find("id=\"" + std::string(kFigureKeyword) + "\">");
  if (id == std::string_view::npos) return std::nullopt;
  const std::size_t start = bytes.find('>', id) + 1, end = bytes.find("</" + std::string(name), start);
  if (end == std::string_view::npos) return std::nullopt;
  return bytes.substr(start, end - start);
}

bool is_svg(std::string_view bytes) { return bytes.starts_with("<svg") || bytes.starts_with("<?xml"); }
bool is_html(std::string_view bytes) {
  return bytes.starts_with("<!DOCTYPE html") || bytes.starts_with("<!doctype html");
}

std::optional<std::string> record_text(std::string_view bytes) {
  if (bytes.starts_with(kPng)) return text_of_png(bytes);
  if (bytes.starts_with(kPdf)) return text_of_pdf(bytes);
  const auto inside = element(bytes, is_svg(bytes) ? "metadata" : "script");
  if (!inside) return std::nullopt;
  return is_svg(bytes) ? without_entities(*inside) : std::string(*inside);
}

}  // namespace

std::string figure_record(const FigureRecord& record, const PresetLibrary& library) {
  OrderedJson json{{"format", kFigureFormat}, {"version", 1}, {"figure", record.figure}};
  OrderedJson with = OrderedJson::object();
  for (const auto& [option, choice] : record.choices) with[option] = choice;
  if (!with.empty()) json["with"] = std::move(with);
  json["scenario"] = scenario_json(record.scenario, library);
  if (record.baseline != nullptr) json["baseline"] = scenario_json(*record.baseline, library);
  return json.dump(-1, ' ', true, OrderedJson::error_handler_t::replace);
}

bool is_picture(std::string_view bytes) {
  return bytes.starts_with(kPng) || bytes.starts_with(kPdf) || is_svg(bytes) || is_html(bytes);
}

Result<std::string> scenario_in_picture(std::string_view bytes, std::string_view file) {
  const InputError none{
      std::string(file), {}, engine::say("error.picture.none"), engine::say("error.picture.none.remedy")};
  const auto text = record_text(bytes);
  if (!text) return none;
  const auto json = parse_json(*text, file);
  if (!json) return json.error();
  if (!json->is_object() || text_member(json.value(), "format") != kFigureFormat || !json->contains("scenario"))
    return none;
  return json->at("scenario").dump();
}

}  // namespace roofscape::io
