#include "engine/network/dataset_rows.h"

#include "engine/base/error.h"
#include "engine/data/parts.h"

namespace loom {

std::string originOf(const DatasetSpec& spec) {
  return Values(datasetEntry(), spec.extra).text("origin");
}

void needCsv(const DatasetSpec& spec, const std::filesystem::path& csv) {
  std::error_code none;
  if (std::filesystem::exists(csv, none)) return;
  const std::string origin = originOf(spec);
  throwError(ErrorCode::missingFile, "dataset '{}': there is no file {}{}", spec.name, csv.string(),
             origin.empty() ? "; set its \"csv\"" : ". " + origin);
}

std::shared_ptr<const Dataset> rowsOf(const DatasetSpec& spec, std::shared_ptr<const Dataset> whole) {
  const Values values(datasetEntry(), spec.extra);
  const std::int64_t first = values.integer("first_row");
  const std::int64_t rows = values.has("rows") ? values.integer("rows") : -1;
  if (first != 0 || rows >= 0) whole = selectRows(std::move(whole), first, rows);
  if (!values.has("hold_out")) return whole;
  return selectPart(std::move(whole), {.share = values.real("hold_out"),
                                       .held = values.text("part") == "held",
                                       .shuffled = values.boolean("hold_shuffled"),
                                       .by = values.text("hold_by"),
                                       .seed = static_cast<std::uint64_t>(values.integer("hold_seed"))});
}

}  // namespace loom
