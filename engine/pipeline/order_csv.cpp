#include "engine/pipeline/order_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <vector>

#include "engine/base/text_pieces.h"
#include "engine/base/utf8.h"
#include "engine/pipeline/run_plan.h"

namespace roofscape::engine {
namespace {

constexpr std::array<char, 4> kLetters{'F', 'B', 'I', 'W'};  // by OpKind
constexpr std::string_view kPair = "OVERLAP_F_B";
constexpr std::array<std::string_view, 7> kMoves{"UNSHARD", "RESHARD", "REDUCE_GRAD", "SEND_F",
                                                 "RECV_F",  "SEND_B",  "RECV_B"};

std::string name_of(Op op) {
  return fmt::format("{}{}{}", op.stage(), kLetters[static_cast<std::size_t>(op.kind())], op.microbatch());
}

constexpr std::string_view kBlank = " \t\r\"";

struct Cell {
  std::size_t row = 0, column = 0;
};

// "2F0" or, of what moves data, "2UNSHARD"; nothing where it is neither.
struct Action {
  Op op;
  bool moves = false;
};
std::optional<Action> read_action(std::string_view text) {
  const auto number = [&text]() -> std::optional<std::uint32_t> {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
  };
  const auto stage = number();
  if (!stage || *stage >= static_cast<std::uint32_t>(kMaxVirtualStages)) return std::nullopt;
  for (const std::string_view move : kMoves)
    if (text.starts_with(move)) {
      text.remove_prefix(move.size());
      if (!text.empty() && (!number() || !text.empty())) return std::nullopt;
      return Action{{}, true};
    }
  const auto kind = std::find(kLetters.begin(), kLetters.end(), text.empty() ? '\0' : text.front());
  if (kind == kLetters.end()) return std::nullopt;
  text.remove_prefix(1);
  const auto microbatch = number();
  if (!microbatch || !text.empty() || *microbatch >= kMaxOps) return std::nullopt;
  return Action{Op(static_cast<OpKind>(kind - kLetters.begin()), *stage, *microbatch)};
}

class Reader {
 public:
  Reader(std::string_view text, std::uint32_t microbatches, OrderFromCsv& out)
      : text_(text), microbatches_(microbatches), out_(out), orders_(out.orders) {}

  std::optional<OrderFault> read() {
    out_.dropped = 0;
    orders_ = {};
    orders_.first.push_back(0);
    if (auto fault = read_rows()) return fault;
    if (orders_.ops.empty()) return at({1, 1}, say("error.order.empty"));
    if (auto fault = place_stages()) return fault;
    if (auto fault = count()) return fault;
    return run();
  }

 private:
  static OrderFault at(Cell cell, Sentence message) { return {cell.row, cell.column, std::move(message)}; }

  std::optional<OrderFault> read_rows() {
    std::string_view rest = text_;
    for (std::size_t row = 1; !rest.empty(); ++row) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (trimmed(line, kBlank).empty() && trimmed(rest, kBlank).empty()) break;  // the line after the last
      for (std::size_t column = 1;; ++column) {
        const std::size_t comma = std::min(line.find(','), line.size());
        if (auto fault = read_cell(trimmed(line.substr(0, comma), kBlank), {row, column})) return fault;
        if (comma == line.size()) break;
        line.remove_prefix(comma + 1);
      }
      orders_.first.push_back(static_cast<std::uint32_t>(orders_.ops.size()));
      if (orders_.devices() > static_cast<std::size_t>(kMostDevices))
        return at({row, 1}, say("error.order.rows", kMostDevices));
    }
    return std::nullopt;
  }

  std::optional<OrderFault> read_cell(std::string_view text, Cell cell) {
    if (text.empty()) return std::nullopt;
    if (orders_.ops.size() + 2 > static_cast<std::size_t>(kMaxOps)) return at(cell, say("error.order.many"));
    if (text.front() == '(') return read_pair(text, cell);
    const auto action = read_action(text);
    if (!action) return at(cell, say("error.order.no_operation", whole_characters(text, 40)));
    if (action->moves) {
      ++out_.dropped;
      return std::nullopt;
    }
    add(action->op, cell);
    return out_of_range(action->op, cell);
  }

  std::optional<OrderFault> read_pair(std::string_view text, Cell cell) {
    const std::size_t close = text.find(')'), middle = text.find(';');
    if (close != std::string_view::npos && middle < close && text.substr(close + 1) == kPair) {
      auto first = read_action(trimmed(text.substr(1, middle - 1), kBlank));
      auto second = read_action(trimmed(text.substr(middle + 1, close - middle - 1), kBlank));
      if (first && second && second->op.kind() == OpKind::forward) std::swap(first, second);
      if (first && second && !first->moves && !second->moves && first->op.kind() == OpKind::forward &&
          second->op.kind() == OpKind::backward) {
        add(Op(OpKind::forward, first->op.stage(), first->op.microbatch(), true), cell);
        add(second->op, cell);
        if (auto fault = out_of_range(first->op, cell)) return fault;
        return out_of_range(second->op, cell);
      }
    }
    return at(cell, say("error.order.no_pair", whole_characters(text, 40)));
  }

  void add(Op op, Cell cell) {
    orders_.ops.push_back(op);
    cells_.push_back(cell);
    stages_ = std::max(stages_, op.stage() + 1);
    named_ = std::max(named_, op.microbatch() + 1);
  }

  std::optional<OrderFault> out_of_range(Op op, Cell cell) const {
    if (microbatches_ == 0 || op.microbatch() < microbatches_) return std::nullopt;
    return at(cell, say("error.order.microbatch", name_of(op), op.microbatch(), microbatches_, microbatches_ - 1));
  }

  std::optional<OrderFault> place_stages() {
    constexpr std::uint16_t kNobody = std::numeric_limits<std::uint16_t>::max();
    orders_.device_of.assign(stages_, kNobody);
    std::vector<std::uint32_t> first_of(stages_, 0);
    for (std::size_t device = 0; device < orders_.devices(); ++device)
      for (std::uint32_t i = orders_.first[device]; i < orders_.first[device + 1]; ++i) {
        const std::uint32_t stage = orders_.ops[i].stage();
        std::uint16_t& holder = orders_.device_of[stage];
        if (holder == kNobody) holder = static_cast<std::uint16_t>(device), first_of[stage] = i;
        if (holder != device)
          return at(cells_[i], say("error.order.other_row", name_of(orders_.ops[i]), stage, holder + 1));
      }
    for (std::uint32_t stage = 0; stage < stages_; ++stage) {
      if (orders_.device_of[stage] != kNobody) continue;
      std::uint32_t next = stage;
      while (orders_.device_of[next] == kNobody) ++next;
      return at(cells_[first_of[next]], say("error.order.no_row", name_of(orders_.ops[first_of[next]]), next, stage));
    }
    orders_.microbatches = microbatches_ > 0 ? microbatches_ : named_;
    orders_.route_length = two_directions() ? stages_ / 2 : stages_;
    const auto devices = static_cast<std::uint32_t>(orders_.devices());
    orders_.passes_per_device = std::max(1u, orders_.route_length / devices);
    if (std::int64_t{stages_} * orders_.microbatches > kMaxOps) return at(cells_.back(), say("error.order.many"));
    return std::nullopt;
  }

  // No microbatch passes both halves of the stages, and both halves have some.
  bool two_directions() const {
    if (stages_ % 2 != 0) return false;
    std::vector<std::uint8_t> halves(orders_.microbatches, 0);
    unsigned all = 0;
    for (const Op op : orders_.ops) {
      const unsigned half = op.stage() < stages_ / 2 ? 1 : 2;
      std::uint8_t& passed = halves[op.microbatch()];
      if ((passed | half) == 3) return false;
      passed = static_cast<std::uint8_t>(half);
      all |= half;
    }
    return all == 3 && std::count(halves.begin(), halves.end(), 0) == 0;
  }

  // Every stage does each of its microbatches forward once, and backward once whole or once in its two parts.
  std::optional<OrderFault> count() {
    const std::size_t row = orders_.microbatches;
    constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::array<std::uint32_t, 4>> at_op(stages_ * row, {kNone, kNone, kNone, kNone});
    for (std::uint32_t i = 0; i < orders_.ops.size(); ++i) {
      const Op op = orders_.ops[i];
      auto& place = at_op[op.stage() * row + op.microbatch()];
      const auto kind = static_cast<std::size_t>(op.kind());
      if (place[kind] != kNone)
        return at(cells_[i], say("error.order.second", name_of(op), cells_[place[kind]].column));
      place[kind] = i;
      const std::uint32_t whole = place[1], part = place[2] != kNone ? place[2] : place[3];
      if (whole != kNone && part != kNone)
        return at(cells_[i], say("error.order.beside", name_of(op),
                                 name_of(orders_.ops[op.kind() == OpKind::backward ? part : whole])));
    }
    std::vector<std::uint8_t> direction(row, 0);
    for (const Op op : orders_.ops) direction[op.microbatch()] = op.stage() >= orders_.route_length;
    for (std::uint32_t stage = 0; stage < stages_; ++stage)
      for (std::uint32_t k = 0; k < row; ++k) {
        if (direction[k] != (stage >= orders_.route_length)) continue;
        const auto& place = at_op[stage * row + k];
        std::optional<OpKind> missing;
        if (place[0] == kNone)
          missing = OpKind::forward;
        else if (place[1] == kNone && place[2] == kNone)
          missing = place[3] == kNone ? OpKind::backward : OpKind::backward_input;
        else if (place[1] == kNone && place[3] == kNone)
          missing = OpKind::backward_weight;
        if (!missing) continue;
        // Beside the other half of a backward, else where the stage first meets the microbatch.
        const std::uint32_t half = missing == OpKind::backward_weight  ? place[2]
                                   : missing == OpKind::backward_input ? place[3]
                                                                       : kNone;
        const std::uint32_t there = half != kNone ? half : *std::min_element(place.begin(), place.end());
        const std::string name = name_of({*missing, stage, k});
        if (there == kNone) {  // the end of its row
          const std::size_t device = orders_.device_of[stage];
          return at({device + 1, cells_[orders_.first[device + 1] - 1].column + 1},
                    say("error.order.missing_in_row", name));
        }
        return at(cells_[there], say("error.order.missing", name_of(orders_.ops[there]), name));
      }
    return std::nullopt;
  }

  std::optional<OrderFault> run() const {
    RunPlanScratch scratch;
    RunPlan plan;
    const SimulationStatus status = make_run_plan(orders_, scratch, plan);
    if (status.finished()) return std::nullopt;
    const Op op = orders_.ops[status.op];
    if (status.outcome != SimulationOutcome::deadlock)
      return at(cells_[status.op], say("error.order.cannot_stand", name_of(op)));
    return at(cells_[status.op], say("error.order.deadlock", name_of(op), name_of(status.missing)));
  }

  std::string_view text_;
  std::uint32_t microbatches_;
  OrderFromCsv& out_;
  Orders& orders_;
  std::vector<Cell> cells_;  // by operation
  std::uint32_t stages_ = 0, named_ = 0;
};

}  // namespace

Sentence in_words(const OrderFault& fault) { return say("error.order.at", fault.row, fault.column, fault.message); }

std::optional<OrderFault> read_order_csv(std::string_view text, std::uint32_t microbatches, OrderFromCsv& out) {
  return Reader(text, microbatches, out).read();
}

std::string order_csv(const Orders& orders) {
  std::string out;
  for (std::size_t device = 0; device < orders.devices(); ++device) {
    for (std::uint32_t i = orders.first[device]; i < orders.first[device + 1]; ++i) {
      if (i > orders.first[device]) out += ',';
      const Op op = orders.ops[i];
      if (!op.joined_with_next()) {
        out += name_of(op);
        continue;
      }
      out += fmt::format("({};{}){}", name_of(op), name_of(orders.ops[i + 1]), kPair);
      ++i;
    }
    out += '\n';
  }
  return out;
}

}  // namespace roofscape::engine
