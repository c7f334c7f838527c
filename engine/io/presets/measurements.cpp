#include "engine/io/presets/measurements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "engine/io/json/files.h"
#include "engine/io/presets/parts_json.h"

namespace roofscape::io {

using engine::say;
using engine::Sentence;

namespace {

// Members of one object of the file, read one by one; the first that is wrong is kept as the error.
class Members {
 public:
  Members(const Json& object, std::string path, std::string_view file)
      : object_(object), path_(std::move(path)), file_(file) {}

  std::string at(std::string_view member) const {
    return path_.empty() ? std::string(member) : path_ + "." + std::string(member);
  }
  // Null where the member is missing or null.
  const Json* find(std::string_view member) const {
    const auto found = object_.find(member);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  const Json* object(std::string_view member) {
    const Json* json = find(member);
    if (json == nullptr || json->is_object()) return json;
    fail(member, is_kind(*json), say("error.expected.object"));
    return nullptr;
  }
  std::string text(std::string_view member) {
    const Json* json = find(member);
    if (json == nullptr) return {};
    if (json->is_string()) return json->get<std::string>();
    fail(member, is_kind(*json), say("error.expected.text"));
    return {};
  }
  std::string needed_text(std::string_view member) {
    std::string value = text(member);
    if (value.empty() && !error_) fail(member, say("error.missing"), say("error.measurement.member.remedy"));
    return value;
  }
  std::optional<double> number(std::string_view member, double least, double most) {
    const Json* json = find(member);
    if (json == nullptr) return std::nullopt;
    if (!json->is_number()) {
      fail(member, is_kind(*json), say("error.expected.number"));
      return std::nullopt;
    }
    const double value = json->get<double>();
    if (std::isfinite(value) && value >= least && value <= most) return value;
    fail(member, say("error.out_of_range", json->dump()));
    return std::nullopt;
  }
  std::optional<int> count(std::string_view member, int least, int most) {
    const auto value = number(member, least, most);
    if (!value) return std::nullopt;
    if (*value == std::floor(*value)) return static_cast<int>(*value);
    fail(member, say("error.not_whole", find(member)->dump()));
    return std::nullopt;
  }
  bool flag(std::string_view member) {
    const Json* json = find(member);
    if (json == nullptr) return false;
    if (json->is_boolean()) return json->get<bool>();
    fail(member, is_kind(*json), say("error.expected.boolean"));
    return false;
  }
  void fail(std::string_view member, Sentence message, Sentence remedy = {}) {
    if (!error_) error_ = InputError{std::string(file_), at(member), std::move(message), std::move(remedy)};
  }
  const Failure& error() const { return error_; }
  const Json& json() const { return object_; }
  std::string_view file() const { return file_; }

 private:
  const Json& object_;
  std::string path_;
  std::string_view file_;
  Failure error_;
};

constexpr double kMuch = 1e18;
constexpr int kManyChips = 1 << 20;

// A model by the members of the field table. Anything else in the object (its class of attention, a pattern in words)
// is for people; a value of another type than the field's (biases that are "fused") is not what the field asks.
Failure read_model_members(Members& members, MeasuredModel& out) {
  engine::Scenario scenario;
  engine::TransformerShape& shape = scenario.model;
  shape.name = members.text("name");
  shape.source = "measurement";
  const auto fits = [](const engine::Field& field, const Json& json) {
    return field.kind == engine::FieldKind::boolean ? json.is_boolean() : json.is_number();
  };
  constexpr std::string_view kPrefix = "model.";
  constexpr std::string_view kSizes[] = {"n_layers",   "d_model", "d_ff",      "n_heads",
                                         "n_kv_heads", "d_head",  "vocab_size"};
  for (const engine::Field& field : engine::scenario_fields()) {
    if (!field.path.starts_with(kPrefix)) continue;
    const std::string_view path = field.path.substr(kPrefix.size());
    const std::size_t dot = path.find('.');
    const Json* object = dot == std::string_view::npos ? &members.json() : members.object(path.substr(0, dot));
    const std::string_view name = dot == std::string_view::npos ? path : path.substr(dot + 1);
    const auto found = object == nullptr ? Json::const_iterator() : object->find(name);
    if (object == nullptr || found == object->end() || found->is_null()) {
      if (std::find(std::begin(kSizes), std::end(kSizes), path) != std::end(kSizes)) out.missing.emplace_back(path);
      continue;
    }
    if (!fits(field, *found)) continue;
    if (auto failure = read_field(field, *found, members.at(path), members.file(), scenario)) return failure;
  }
  // Some configurations state how often a layer has experts, not how many have none.
  if (const Json* moe = members.object("moe"); moe != nullptr && moe->find("n_dense_layers") == moe->end()) {
    Members experts(*moe, members.at("moe"), members.file());
    if (const auto every = experts.count("moe_every", 1, std::max(1, shape.n_layers)); every && *every > 1) {
      shape.moe.n_dense_layers = shape.n_layers - shape.n_layers / *every;
      shape.moe.dense_layers_spread = true;
    }
    if (experts.error()) return experts.error();
  }
  out.params = members.number("params", 1, kMuch).value_or(0);
  out.shape = std::move(shape);
  return members.error();
}

Failure read_hardware(Members members, MeasuredHardware& out) {
  out.chip_id = members.text("chip_id");
  out.chip = members.text("chip");
  out.cluster = members.text("cluster");
  out.count = members.count("count", 1, kManyChips);
  out.node_size = members.count("node_size", 1, 1024);
  out.slices = members.count("slices", 1, 1024);
  out.chips_per_slice = members.count("chips_per_slice", 1, kManyChips);
  out.devices_per_chip = members.count("devices_per_chip", 1, 16).value_or(1);
  if (const auto rate = members.number("hbm_tb_s", 1e-3, 1e3)) out.hbm_bytes_per_s = *rate * 1e12;
  return members.error();
}

Failure read_plan(Members members, MeasuredPlan& out) {
  out.data = members.count("dp", 1, kManyChips);
  out.tensor = members.count("tp", 1, 1024);
  out.pipeline = members.count("pp", 1, 1024);
  out.virtual_stages = members.count("vpp", 1, 1024);
  out.context = members.count("cp", 1, 4096);
  out.expert = members.count("ep", 1, 4096);
  out.expert_tensor = members.count("etp", 1, 1024);
  out.zero_stage = members.count("zero", 0, 3);
  out.fsdp = members.count("fsdp", 0, kManyChips);
  out.zero_group = members.count("zero_group", 1, kManyChips);
  out.sequence_parallel = members.flag("sp");
  return members.error();
}

Failure read_batch(Members members, MeasuredBatch& out) {
  out.global = members.number("global", 1, 1 << 24);
  out.micro = members.number("micro", 1e-6, 1 << 16);
  out.sequence_length = members.number("seq", 1, 1 << 24);
  out.microbatches = members.number("microbatches", 1, 1 << 24);
  if (const Json* batch = members.find("batch"); batch != nullptr && batch->is_string())
    out.as_many_as_fit = true;
  else
    out.batch = members.number("batch", 1, 1 << 24);
  out.prompt_tokens = members.number("prompt_tokens", 0, 1 << 24);
  out.output_tokens = members.number("output_tokens", 0, 1 << 24);
  out.rounds = members.number("rounds", 1, 1 << 24);
  out.lengths_from = members.number("lengths_from", 0.01, 1);
  out.pass_tokens = members.number("pass_tokens", 1, 1 << 24);
  out.join_steps = members.number("join_steps", 1, 1 << 16);
  out.decode_steps = members.number("decode_steps", 0, 1 << 24);
  out.cold = members.flag("cold");
  return members.error();
}

Failure read_operation(Members members, MeasuredShape& out) {
  out.op = members.needed_text("op");
  out.algorithm = members.text("algorithm");
  out.m = members.number("m", 1, kMuch);
  out.n = members.number("n", 1, kMuch);
  out.k = members.number("k", 1, kMuch);
  out.batch = members.number("batch", 1, kMuch);
  out.groups = members.number("groups", 1, kMuch);
  out.m_per_group = members.number("m_per_group", 1, kMuch);
  out.elements = members.number("elements", 1, kMuch);
  out.bytes = members.number("bytes", 1, kMuch);
  out.tokens = members.number("tokens", 1, kMuch);
  out.heads = members.number("heads", 1, kMuch);
  out.d_head = members.number("d_head", 1, kMuch);
  out.causal = members.flag("causal");
  out.ranks = members.count("ranks", 1, kManyChips);
  return members.error();
}

// What nothing measures: times and rates of 0 or less, and shares above 1. Idle and cached shares may be 0, and so is
// "completed" of a run that ran out of memory.
std::optional<std::pair<Sentence, Sentence>> outside_of_measures(std::string_view quantity, double value) {
  const bool is_fraction = quantity.find("fraction") != std::string_view::npos;
  const bool is_share = is_fraction || quantity.starts_with("mfu") || quantity == "hfu" || quantity == "completed";
  if (value < 0 || (value == 0 && !is_fraction && quantity != "completed"))
    return std::pair{say("error.measurement.positive", fmt::format("{:g}", value)),
                     say("error.measurement.positive.remedy")};
  if (is_share && value > 1)
    return std::pair{say("error.measurement.share", fmt::format("{:g}", value)),
                     say("error.measurement.share.remedy")};
  return std::nullopt;
}

Failure read_kernels(const Members& members, std::vector<engine::FieldEdit>& out) {
  engine::Scenario scenario;
  constexpr std::string_view kPrefix = "kernels.";
  for (const engine::Field& field : engine::scenario_fields()) {
    if (!field.path.starts_with(kPrefix)) continue;
    const std::string_view name = field.path.substr(kPrefix.size());
    const Json* json = members.find(name);
    if (json == nullptr) continue;
    if (auto failure = read_field(field, *json, members.at(name), members.file(), scenario)) return failure;
    out.push_back({&field, field.get(scenario)});
  }
  return {};
}

Failure read_entry(Members members, Measurement& out) {
  out.id = members.needed_text("id");
  out.family = members.needed_text("family");
  out.task = members.needed_text("task");
  out.table = members.text("table");
  out.kind = members.text("kind");
  out.what = members.text("what");
  out.source = members.text("source");
  out.notes = members.text("notes");
  out.software = members.text("software");
  out.environment = members.text("environment");
  out.held_out = members.flag("held_out");
  out.short_run = members.flag("short_run");
  out.ran_otherwise = members.flag("ran_otherwise");
  out.completeness = members.text("config_completeness");
  out.precision = members.text("precision_id");
  out.checkpointing = members.text("checkpointing_id");
  out.schedule = members.text("schedule_id");
  out.scenario = members.text("scenario");
  if (const Json* assumed = members.find("assumed")) {
    if (!assumed->is_array())
      return InputError{std::string(members.file()), members.at("assumed"), say("error.is_no_list"),
                        say("error.list_of_texts.remedy")};
    for (const Json& text : *assumed)
      if (text.is_string()) out.assumed.push_back(text.get<std::string>());
  }
  if (const Json* json = members.object("kernels"))
    if (auto failure = read_kernels(Members(*json, members.at("kernels"), members.file()), out.kernels))
      return failure;
  if (const Json* json = members.object("model")) {
    Members model(*json, members.at("model"), members.file());
    if (auto failure = read_model_members(model, out.model.emplace())) return failure;
  }
  const auto part = [&](std::string_view name, auto& slot, auto read) -> Failure {
    const Json* json = members.object(name);
    if (json == nullptr) return members.error();
    return read(Members(*json, members.at(name), members.file()), slot.emplace());
  };
  if (auto failure = part("hardware", out.hardware, read_hardware)) return failure;
  if (auto failure = part("parallelism", out.plan, read_plan)) return failure;
  if (auto failure = part("batch", out.batch, read_batch)) return failure;
  if (auto failure = part("op", out.operation, read_operation)) return failure;

  const Json* measured = members.object("measured");
  if (members.error()) return members.error();
  if (measured == nullptr)
    return InputError{std::string(members.file()), members.at("measured"), say("error.missing"),
                      say("error.measurement.measured.remedy")};
  for (const auto& item : measured->items()) {
    if (item.key() == "flops_basis" || item.key() == "mfu_basis") {
      if (item.value().is_string())
        (item.key() == "flops_basis" ? out.flops_basis : out.mfu_basis) = item.value().get<std::string>();
      continue;
    }
    MeasuredValue value{item.key(), std::nullopt};
    if (item.value().is_number()) {
      value.value = item.value().get<double>();
      if (!std::isfinite(*value.value))
        return InputError{std::string(members.file()), members.at("measured." + item.key()), say("error.not_finite")};
      if (auto failure = outside_of_measures(item.key(), *value.value))
        return InputError{std::string(members.file()), members.at("measured." + item.key()), failure->first,
                          failure->second};
    }
    out.values.push_back(std::move(value));
  }
  return members.error();
}

// Where a column of a table stands in an entry: "hardware.chip_id". Null if something else stands on the way.
Json* member_at(Json& entry, std::string_view column) {
  Json* at = &entry;
  while (true) {
    const std::size_t dot = column.find('.');
    const std::string name(column.substr(0, dot));
    if (!at->is_object()) return nullptr;
    if (dot == std::string_view::npos) return &(*at)[name];
    Json& next = (*at)[name];
    if (next.is_null()) next = Json::object();
    at = &next;
    column.remove_prefix(dot + 1);
  }
}

// A row of a table as an entry of its own.
Failure fill_from_row(const Json& columns, const Json& row, const Json* models, std::string_view file,
                      const std::string& path, Json& entry) {
  const auto fail = [&](std::string at, Sentence message, Sentence remedy) {
    return InputError{std::string(file), std::move(at), std::move(message), std::move(remedy)};
  };
  if (!row.is_array() || row.size() != columns.size())
    return fail(path, say("error.measurement.row", row.is_array() ? row.size() : 0, columns.size()),
                say("error.measurement.row.remedy"));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (row[i].is_null()) continue;
    const auto& column = columns[i].get_ref<const std::string&>();
    Json* member = member_at(entry, column);
    if (member == nullptr)
      return fail(path, say("error.measurement.column", in_quotes(column)), say("error.measurement.table.remedy"));
    *member = row[i];
    if (column != "model" || !row[i].is_string()) continue;
    const auto found = models == nullptr ? Json::const_iterator() : models->find(row[i].get<std::string>());
    if (models == nullptr || found == models->end() || !found->is_object())
      return fail(path, say("error.measurement.model", in_quotes(row[i].get<std::string>())),
                  say("error.measurement.model.remedy"));
    *member = *found;
  }
  return std::nullopt;
}

}  // namespace

Result<MeasurementsFile> read_measurements_file(std::string_view text, std::string_view file) {
  const auto json = parse_json(text, file);
  if (!json) return json.error();
  const auto fail = [&](std::string path, Sentence message, Sentence remedy = {}) {
    return InputError{std::string(file), std::move(path), std::move(message), std::move(remedy)};
  };
  if (!json->is_object()) return fail({}, is_kind(json.value()), say("error.measurement.remedy"));
  if (auto failure = check_format(json.value(), "roofscape/evidence", file)) return *failure;
  const auto entries = json->find("entries"), tables = json->find("tables");
  if (entries == json->end() && tables == json->end())
    return fail("entries", say("error.missing"), say("error.measurement.entries.remedy"));
  if (entries != json->end() && !entries->is_array())
    return fail("entries", is_kind(*entries), say("error.measurement.entries.remedy"));
  if (tables != json->end() && !tables->is_array())
    return fail("tables", is_kind(*tables), say("error.measurement.table.remedy"));
  MeasurementsFile out;
  out.name = text_member(json.value(), "name");
  std::set<std::string> ids;
  const auto add = [&](const Json& entry, const std::string& path) -> Failure {
    if (!entry.is_object()) return fail(path, is_kind(entry), say("error.expected.object"));
    Measurement measurement;
    if (auto failure = read_entry(Members(entry, path, file), measurement)) return failure;
    if (!ids.insert(measurement.id).second)
      return fail(path + ".id", say("error.twice", in_quotes(measurement.id)), say("error.measurement.id.remedy"));
    out.entries.push_back(std::move(measurement));
    return std::nullopt;
  };
  for (std::size_t i = 0; entries != json->end() && i < entries->size(); ++i)
    if (auto failure = add((*entries)[i], "entries." + std::to_string(i))) return *failure;
  const auto found = json->find("models");
  const Json* models = found != json->end() && found->is_object() ? &*found : nullptr;
  for (std::size_t t = 0; tables != json->end() && t < tables->size(); ++t) {
    const std::string path = "tables." + std::to_string(t);
    const Json& table = (*tables)[t];
    const auto list = [&](const char* name) {
      const auto at = table.is_object() ? table.find(name) : table.end();
      return table.is_object() && at != table.end() && at->is_array() ? &*at : nullptr;
    };
    const Json *columns = list("columns"), *rows = list("rows");
    if (columns == nullptr || rows == nullptr ||
        !std::all_of(columns->begin(), columns->end(), [](const Json& name) { return name.is_string(); }))
      return fail(path, say("error.measurement.table"), say("error.measurement.table.remedy"));
    const auto shared = table.find("entry");
    for (std::size_t i = 0; i < rows->size(); ++i) {
      const std::string at = path + ".rows." + std::to_string(i);
      Json entry = shared != table.end() && shared->is_object() ? *shared : Json::object();
      if (auto failure = fill_from_row(*columns, (*rows)[i], models, file, at, entry)) return *failure;
      if (auto failure = add(entry, at)) return *failure;
    }
  }
  return out;
}

Result<std::vector<Measurement>> read_measurements(std::string_view text, std::string_view file) {
  auto read = read_measurements_file(text, file);
  if (!read) return read.error();
  return std::move(read.value().entries);
}

Result<std::vector<Measurement>> load_measurements(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  return read_measurements(text.value(), path);
}

}  // namespace roofscape::io
