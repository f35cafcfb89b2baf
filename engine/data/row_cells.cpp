// One cell of a row: a number stored, a file decoded and held against the plan, or the fault that it is.
#include <sys/stat.h>

#include <cstring>

#include "engine/base/hash.h"
#include "engine/data/cell_number.h"
#include "engine/data/near_name.h"
#include "engine/data/numbers.h"
#include "engine/data/row_place.h"
#include "engine/data/sound_rate.h"
#include "engine/data/text.h"

namespace loom {
namespace {

// A word that tables write where they have nothing: "N/A", say, is no path.
bool saysNothing(std::string_view cell) {
  double value;
  return cellNumber(cell, CsvFormat(), value) == NumberKind::empty;
}

std::string emptyText(std::string_view cell) {
  return cell.empty() ? std::string("the cell is empty")
                      : fmt::format("the cell is {}, which says that there is nothing", toldText(cell));
}

std::string normalised(std::string_view cell) {
  std::string path(cell);
  std::replace(path.begin(), path.end(), '\\', '/');
  return path;
}

// Answers the sample as those steps leave it.
void computeBeforePacking(const std::vector<std::shared_ptr<const PictureStep>>& steps, RowParser::Scratch& scratch) {
  Sample& sample = scratch.sample;
  if (steps.empty() || sample.kind != VariableKind::image) return;
  PictureView picture{sample.type, sample.shape[0], sample.shape[1], sample.shape[2], sample.bytes.data()};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i]->apply(picture, {}, scratch.pictures[i % 2]);
    picture = scratch.pictures[i % 2].view();
  }
  sample.shape = {picture.channels, picture.rows, picture.columns};
  sample.bytes.swap(scratch.pictures[(steps.size() - 1) % 2].bytes);
}

}  // namespace

bool RowParser::settleCell(std::size_t column, std::string_view cell, std::int64_t line, const FaultSink* fault) {
  const Place place{line, column, m_header};
  VariablePlan& plan = m_plan[static_cast<std::size_t>(place.it().variable)];
  float value = 0;
  const NumberKind number = parseNumber(cell, value);
  if (number == NumberKind::empty || (number == NumberKind::text && saysNothing(cell))) {
    if (fault)
      (*fault)(place.fault(FaultKind::emptyCell, emptyText(cell), "a number or a file is needed",
                           "fill the cell or remove the row"));
    return false;
  }
  if (number != NumberKind::text) {
    if (plan.file) return false;  // rows before named files
    plan.known = true;
    return true;
  }
  plan.file = true;
  // Reuses the way of all later rows: an unknown plan accepts any sample, which then becomes the plan.
  RowChunk chunk;
  chunk.columns.resize(m_plan.size());
  Scratch scratch;
  bool good = true;
  storeFile(place, cell, chunk, scratch, [&](Fault found) {
    good = false;
    if (fault) (*fault)(std::move(found));
  });
  if (!good || !decodeFiles) return false;
  plan.kind = scratch.sample.kind;
  plan.shape = scratch.sample.shape;
  plan.type = scratch.sample.type;
  plan.known = true;
  return true;
}

void RowParser::skipFile(const Place& place, RowChunk& chunk) const {
  const auto variable = static_cast<std::size_t>(place.it().variable);
  const VariablePlan& plan = m_plan[variable];
  RowChunk::Column& column = chunk.columns[variable];
  if (plan.loose()) {
    column.extents.push_back(0);
  } else if (plan.known) {
    room(column, column.used + plan.cellBytes());
    std::memset(column.bytes.data() + column.used, 0, plan.cellBytes());
    column.used += plan.cellBytes();
  }
}

void RowParser::storeFile(const Place& place, std::string_view cell, RowChunk& chunk, Scratch& scratch,
                          const FaultSink& fault) const {
  const auto variable = static_cast<std::size_t>(place.it().variable);
  const VariablePlan& plan = m_plan[variable];
  const auto fail = [&](Fault found) {
    skipFile(place, chunk);
    fault(std::move(found));
  };
  if (saysNothing(cell))
    return fail(place.fault(FaultKind::emptyCell, emptyText(cell), "a word or the path of a file is needed",
                            "fill the cell or remove the row"));
  float value;
  if (parseNumber(cell, value) != NumberKind::text)
    return fail(place.fault(FaultKind::mixedKinds, fmt::format("the cell is the number {}", quotedText(cell)),
                            "the rows before name files", "let all cells of a column be files, or all numbers"));
  if (cell.find('\0') != std::string_view::npos || cell.find('\n') != std::string_view::npos ||
      findNonUtf8(cell) != std::string_view::npos)
    return fail(place.fault(FaultKind::unreadable, fmt::format("the cell is {}", quotedText(cell)),
                            "a path in UTF-8 without line breaks is needed",
                            "save the CSV as UTF-8 and close every quote"));
  std::string text = normalised(cell);
  if (text.find("://") != std::string::npos)
    return fail(place.fault(FaultKind::missingFile, fmt::format("the cell is the address {}", quotedText(cell)),
                            "a file of this machine is needed", "download it and write its path"));
  const std::filesystem::path path = m_folder / text;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    const bool looksLikeText = text.find('.') == std::string::npos && text.find('/') == std::string::npos;
    if (const std::string near = looksLikeText ? std::string() : nearName(path); !near.empty())
      return fail(place.fault(FaultKind::missingFile, fmt::format("there is no file {}", quotedText(path.string())),
                              near, "write the file's name as the folder has it"));
    return fail(
        place.fault(FaultKind::missingFile,
                    looksLikeText ? fmt::format("{} is neither a number nor a file that is there", toldText(cell))
                                  : fmt::format("there is no file {}", quotedText(path.string())),
                    looksLikeText ? "a number or a file is needed" : "paths begin at the folder of the CSV",
                    looksLikeText ? "write classes as 0, 1, 2 ...; begin the column's name with '#' to leave it out"
                                  : "correct the path, put the file there, or remove the row"));
  }
  if (!decodeFiles) return skipFile(place, chunk);
  Sample& sample = scratch.sample;
  try {
    decodeFile(path, sample, scratch.file);
    computeBeforePacking(m_steps[variable], scratch);
    bringToRate(sample, m_rates[variable]);
  } catch (const DecodeError& error) {
    return fail(place.fault(FaultKind::brokenFile, fmt::format("{}: {}", quotedText(text), error.found()),
                            error.wanted(), error.remedy()));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::missingFile && error.code() != ErrorCode::inputOutput) throw;
    return fail(place.fault(FaultKind::missingFile, error.message(), "every file must be readable",
                            "give permission to read it, or remove the row"));
  }
  chunk.files.push_back(factsOf(std::move(text), status));
  chunk.files.back().hash = Hash64::of(scratch.file);
  if (!plan.known) return;
  if (sample.kind != plan.kind || sample.type != plan.type)
    return fail(place.fault(
        FaultKind::mixedKinds,
        fmt::format("{} holds {} of {}", quotedText(cell),
                    toString(sample.kind) == "image" ? "an image" : fmt::format("a {}", toString(sample.kind)),
                    toString(sample.type)),
        fmt::format("the first row has {} of {}",
                    toString(plan.kind) == "image" ? "an image" : fmt::format("a {}", toString(plan.kind)),
                    toString(plan.type)),
        "convert all files of a column to one format and depth"));
  const bool picture = plan.kind == VariableKind::image;
  if (picture && !plan.sizes && sample.shape != plan.shape) throw SizesDiffer{m_header.variables[variable].name};
  const bool same = picture       ? true
                    : plan.clip() ? sample.shape.rank() == plan.shape.rank() &&
                                        std::equal(sample.shape.begin() + 1, sample.shape.end(), plan.shape.begin() + 1)
                                  : sample.shape == plan.shape;
  if (!same)
    return fail(place.fault(
        FaultKind::mixedShapes, fmt::format("{} has the shape {}", quotedText(cell), sample.shape.toString()),
        plan.clip() ? fmt::format("the first row has {}, and only the first extent may differ", plan.shape.toString())
                    : fmt::format("the first row has {}", plan.shape.toString()),
        "bring all samples to one shape, or remove the row"));
  if (sample.rate > 0) {
    std::vector<int>& rates = chunk.rates[variable];
    rates.resize(static_cast<std::size_t>(chunk.rows) + 1);
    rates.back() = sample.rate;
  }
  RowChunk::Column& column = chunk.columns[variable];
  room(column, column.used + sample.bytes.size());
  std::memcpy(column.bytes.data() + column.used, sample.bytes.data(), sample.bytes.size());
  column.used += sample.bytes.size();
  if (plan.loose()) column.extents.push_back(plan.extentsOf(sample.shape));
}

void RowParser::storeNumber(const Place& place, std::string_view cell, RowChunk& chunk, const FaultSink& fault) const {
  const auto variable = static_cast<std::size_t>(place.it().variable);
  float value = 0;
  const NumberKind kind = parseNumber(cell, value);
  RowChunk::Column& column = chunk.columns[variable];
  const std::size_t at = static_cast<std::size_t>(chunk.rows) * m_plan[variable].cellBytes() +
                         static_cast<std::size_t>(place.it().element) * sizeof(float);
  if (kind != NumberKind::number) value = 0;
  std::memcpy(column.bytes.data() + at, &value, sizeof value);
  switch (kind) {
    case NumberKind::number:
      return;
    case NumberKind::empty:
      return fault(place.fault(FaultKind::emptyCell, "the cell is empty", "a number is needed",
                               "fill the cell or remove the row"));
    case NumberKind::notFinite:
      return fault(place.fault(FaultKind::notFinite, fmt::format("the cell is {}", toldText(cell)),
                               "training needs finite numbers", "correct the cell or remove the row"));
    case NumberKind::outOfRange:
      return fault(place.fault(FaultKind::notFinite, fmt::format("the cell is {}", toldText(cell)),
                               "float32 ends at 3.4e38", "use a smaller unit"));
    case NumberKind::text:
      break;
  }
  const bool decimalComma = !cell.empty() && cell.find_first_not_of("0123456789,-+") == std::string_view::npos;
  const bool isFile = m_header.variables[variable].indexed == false && cell.find('.') != std::string_view::npos &&
                      cell.find_first_of("/\\") != std::string_view::npos;
  fault(place.fault(isFile ? FaultKind::mixedKinds : FaultKind::notANumber,
                    fmt::format("the cell is {}", toldText(cell)), "a number is needed",
                    decimalComma ? "write decimals with a point, as in 1.5"
                    : isFile     ? "let all cells of a column be files, or all numbers"
                                 : "correct the cell; write classes as 0, 1, 2 ..."));
}

}  // namespace loom
