#include "app/core/receipt_text.h"

#include "app/core/text_columns.h"

namespace roofscape::app {

namespace {

std::string line_of(int line) { return line > 0 ? std::to_string(line) : std::string(); }

class ReceiptSections {
 public:
  explicit ReceiptSections(const widgets::TextTable& texts) : texts_(texts) {}

  void add(std::string_view title, const Columns& rows, bool any) {
    if (any) out_ += '\n' + std::string(texts_.text(title)) + '\n' + rows.text(2);
  }
  std::string take() { return std::move(out_); }
  std::string& text() { return out_; }

 private:
  const widgets::TextTable& texts_;
  std::string out_;
};

}  // namespace

std::string receipt_text(const io::Imported& imported, const std::string& file, const widgets::TextTable& texts) {
  ReceiptSections out(texts);
  out.text() = texts.format("import.receipt.head", {file, std::string(imported.format_name)}) + '\n';
  Columns read({true, false, false, false});
  for (const io::ReadValue& value : imported.read)
    read.add({line_of(value.line), value.key, value.value, value.field});
  out.add("import.receipt.read", read, !imported.read.empty());
  Columns assumed({false, false, false});
  for (const io::AssumedValue& value : imported.assumed)
    assumed.add({value.field, value.value, texts.write(value.why)});
  out.add("import.receipt.assumed", assumed, !imported.assumed.empty());
  Columns overridden({true, false, false, false});
  for (const io::OverriddenValue& value : imported.overridden)
    overridden.add({line_of(value.line), value.key, value.value, texts.format("import.receipt.by", {value.by})});
  out.add("import.receipt.overridden", overridden, !imported.overridden.empty());
  Columns ignored({true, false, false}), unknown({true, false});
  bool any_ignored = false, any_unknown = false;
  for (const io::IgnoredKey& key : imported.ignored) {
    if (key.understood)
      ignored.add({line_of(key.line), key.key, texts.write(key.why)});
    else
      unknown.add({line_of(key.line), key.key});
    (key.understood ? any_ignored : any_unknown) = true;
  }
  out.add("import.receipt.ignored", ignored, any_ignored);
  out.add("import.receipt.unknown", unknown, any_unknown);
  Columns warnings({true, false}), errors({true, false});
  bool any_warning = false, any_error = false;
  for (const io::ImportNotice& notice : imported.notices) {
    (notice.error ? errors : warnings).add({line_of(notice.line), texts.write(notice.text)});
    (notice.error ? any_error : any_warning) = true;
  }
  out.add("import.receipt.warnings", warnings, any_warning);
  out.add("import.receipt.errors", errors, any_error);
  Columns missing({false, false});
  for (const io::MissingValue& value : imported.missing)
    missing.add({value.field, texts.format("import.receipt.give", {value.option})});
  out.add("import.receipt.missing", missing, !imported.missing.empty());
  return out.take();
}

}  // namespace roofscape::app
